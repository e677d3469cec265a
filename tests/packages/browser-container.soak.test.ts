/**
 * A worker with a browser in a container, as docker-compose.yml has it, without Docker: runc, a user that is not root, and the seccomp
 * profile of `@webloom/browser`. Needs root, and Debian's packages runc and chromium-headless-shell.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureChromium, runProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const WEBLOOM = join(ROOT, 'packages/webloom/bin/webloom.js')
const isPossible = process.getuid?.() === 0 && spawnSync('runc', ['--version']).status === 0

interface Rule {
  readonly names: readonly string[]
  readonly action: string
  readonly errnoRet?: number
  readonly args?: readonly object[]
}

interface Profile {
  readonly defaultAction: string
  readonly defaultErrnoRet: number
  readonly archMap: readonly { readonly architecture: string }[]
  readonly syscalls: readonly Rule[]
}

const ours = JSON.parse(readFileSync(join(ROOT, 'packages/browser/chromium-seccomp.json'), 'utf8')) as Profile

const OF_THE_SANDBOX = ['clone', 'clone3', 'unshare', 'setns', 'chroot']
const NEW_NAMESPACES = 0x7e020000

/** What Docker forbids without a profile, in its own way: `clone` makes processes, and no namespaces. */
const withoutNamespaces: Profile = {
  ...ours,
  defaultErrnoRet: 1,
  syscalls: [
    ...ours.syscalls.map((rule) => ({
      ...rule,
      names: rule.names.filter((name) => !OF_THE_SANDBOX.includes(name)),
    })),
    {
      names: ['clone'],
      action: 'SCMP_ACT_ALLOW',
      args: [{ index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
    },
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 },
  ],
}

const bound = (path: string) => ({
  destination: path,
  type: 'bind',
  source: path,
  options: ['rbind', 'ro'],
})

function bundle(profile: Profile, script: string, executable: string): object {
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: 1000, gid: 1000 },
      args: ['sh', '-c', script],
      env: ['PATH=/usr/bin:/bin', 'HOME=/home', 'TMPDIR=/home', `WEBLOOM_BROWSER_EXECUTABLE=${executable}`],
      cwd: '/home',
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
    },
    root: { path: 'rootfs' },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['mode=755'] },
      { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['mode=1777'] },
      { destination: '/home', type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] },
      { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['ro'] },
      ...['/usr', '/etc', ROOT].map(bound),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })),
      seccomp: {
        defaultAction: profile.defaultAction,
        defaultErrnoRet: profile.defaultErrnoRet,
        architectures: profile.archMap.map(({ architecture }) => architecture),
        syscalls: profile.syscalls.map(({ names, action, errnoRet, args }) => ({
          names,
          action,
          ...(errnoRet !== undefined && { errnoRet }),
          ...(args && { args }),
        })),
      },
    },
  }
}

async function inContainer(profile: Profile, script: string) {
  await using folder = await tempDir()
  mkdirSync(folder.join('rootfs'))
  for (const name of ['bin', 'lib', 'lib64', 'sbin'])
    symlinkSync(`usr/${name}`, folder.join(`rootfs/${name}`))
  const config = bundle(profile, script, await ensureChromium())
  writeFileSync(folder.join('config.json'), JSON.stringify(config))
  const name = `webloom-${process.pid}-${Math.random().toString(36).slice(2)}`
  return await runProcess('runc', ['run', name], { cwd: folder.path, timeoutMs: 120_000 })
}

const services = () => readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')

/** The crawl of the profile `browser`. */
const CRAWL = `cd ${ROOT}/examples/javascript && { ${process.execPath} site/serve.ts >&2 & sleep 1; ${process.execPath} ${WEBLOOM} runspider lamps.ts -o -:jsonl; }`

test.skipIf(!isPossible)(
  'with the profile Chromium has its sandbox, and the crawl of docker-compose.yml runs',
  async () => {
    const { code, stdout, stderr } = await inContainer(ours, CRAWL)
    expect(code, stderr).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(23)
    expect(services(), 'what is tried here').toContain("[runspider, lamps.ts, -o, '-:jsonl']")
  },
)

test.skipIf(!isPossible)(
  'without what it lets through there is no sandbox, and the worker says what to type',
  async () => {
    const { code, stderr } = await inContainer(withoutNamespaces, CRAWL)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/cannot have its sandbox here.*@webloom\/browser\/chromium-seccomp\.json/)
  },
)

test.skipIf(!isPossible)(
  'root of a user namespace mounts nothing, and the kernel is not steered',
  async () => {
    const { stdout, stderr } = await inContainer(
      ours,
      'unshare -Ur sh -c "id -u; mount -t tmpfs x /home || echo no mount; hostname other || echo no name"',
    )
    expect(stdout, stderr).toBe('0\nno mount\nno name\n')
  },
)
