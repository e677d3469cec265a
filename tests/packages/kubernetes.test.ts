/** deploy/kubernetes and deploy/systemd, as far as they can be judged without a cluster. */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSettingName } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { commandLine } from '../../packages/webloom/src/cli.ts'

const FOLDER = join(import.meta.dirname, '../../deploy/kubernetes')
const SYSTEMD = join(import.meta.dirname, '../../deploy/systemd')
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const files = readdirSync(FOLDER).filter((name) => name !== 'kustomization.yaml')

interface Named {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> }
}
interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string }[]
  readonly envFrom: readonly Record<string, { readonly name: string }>[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly securityContext: object
  readonly [probe: string]: unknown
}
interface PodSpec {
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext: object
  readonly containers: readonly Container[]
}
interface Resource extends Named {
  readonly data?: Record<string, string>
  readonly stringData?: Record<string, string>
  readonly spec?: { readonly template?: Pick<Named, 'metadata'> & { readonly spec: PodSpec } }
}

const resources = files.flatMap((name) =>
  parseAllDocuments(read(name)).map((document) => document.toJS() as Resource),
)
const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind)
const pods = resources.flatMap(({ metadata, spec }) =>
  spec?.template ? [{ name: metadata.name, ...spec.template }] : [],
)
const [settings] = ofKind('ConfigMap')

test('all files are in the kustomization, or named there as what comes instead', () => {
  const text = read('kustomization.yaml')
  const applied = (parse(text) as { readonly resources: readonly string[] }).resources
  expect(files.filter((name) => !text.includes(name))).toEqual([])
  expect(applied.filter((name) => !files.includes(name))).toEqual([])
})

test('each variable is a setting that there is', () => {
  const own = pods.flatMap(({ spec }) => spec.containers.flatMap(({ env = [] }) => env))
  const names = [...Object.keys(settings!.data!), ...own.map(({ name }) => name)]
  for (const name of names) expect(isSettingName(name.replace(/^WEBLOOM_/, '')), name).toBe(true)
})

describe.each(pods)('pods of $name', ({ name, metadata, spec }) => {
  const [container] = spec.containers

  test('ask for no rights, and write nothing but /tmp', () => {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
    })
    expect(container!.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container).toHaveProperty('volumeMounts', [{ name: 'tmp', mountPath: '/tmp' }])
  })

  test('are asked for their health at a port that they have', () => {
    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].flatMap((probe) => {
      const { httpGet } = (container![probe] ?? {}) as { httpGet?: { path: string; port: string } }
      return httpGet ? [httpGet] : []
    })
    expect(probes.length).toBeGreaterThan(0)
    for (const { path, port } of probes) {
      expect(['/healthz', '/readyz']).toContain(path)
      expect(container!.ports.map((one) => one.name)).toContain(port)
    }
  })

  test('have what they name, and are named by the policies', () => {
    const named = container!.envFrom.flatMap((from) => Object.entries(from))
    for (const [kind, { name: wanted }] of named) {
      const all = ofKind(kind === 'secretRef' ? 'Secret' : 'ConfigMap')
      expect(all.map((one) => one.metadata.name)).toContain(wanted)
    }
    const role = metadata.labels!['webloom/role']
    expect(JSON.stringify(ofKind('NetworkPolicy'))).toContain(`{"matchLabels":{"webloom/role":"${role}"}}`)
  })

  test.runIf(container!.args[0] === 'worker')('have time to finish what is in flight', () => {
    const grace = Number(settings!.data!.WEBLOOM_SHUTDOWN_GRACE)
    // What a Redis that hangs may cost.
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(grace + 20)
    expect(name).toMatch(/^quotes-/)
    expect(String(container!.ports[0]!.containerPort)).toBe(settings!.data!.WEBLOOM_METRICS_PORT)
  })
})

test('the autoscalers want one worker for each that would help', () => {
  expect(read('keda.yaml')).toContain('/api/crawls/quotes/scale\n')
  expect(read('keda.yaml')).toMatch(/valueLocation: desired\n[\s\S]*targetValue: '1'\n/)
  expect(read('hpa.yaml')).toMatch(/name: webloom_workers_wanted\n[\s\S]*averageValue: '1'\n/)
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasSystemd).each(readdirSync(SYSTEMD))('%s is a unit to systemd', async (name) => {
  await using dir = await tempDir()
  // Of a template systemd reads a copy with a name of its own.
  const copy = dir.join(name.replace('@', '@quotes'))
  const unit = readFileSync(join(SYSTEMD, name), 'utf8')
  writeFileSync(copy, unit.replaceAll('/srv/crawler/node_modules/.bin/webloom', '/bin/true'))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' })
  // Warnings, of options that systemd does not know, leave the status 0.
  expect(`${status} ${stderr}`).toBe('0 ')
})

test.each(readdirSync(SYSTEMD))('%s starts a command that there is, with options that it has', (name) => {
  const unit = readFileSync(join(SYSTEMD, name), 'utf8')
  const [, word, rest = ''] = /^ExecStart=\S+\/webloom (\S+)(.*)$/m.exec(unit) ?? []
  const command = commandLine(() => {}).commands.find((one) => one.name() === word)
  const options = command?.options.map(({ long }) => long)
  expect(options).toEqual(expect.arrayContaining(rest.match(/--[a-z-]+/g) ?? []))
})
