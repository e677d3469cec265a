/** Every public package as it would be published: judged by publint, by attw, by npm, and by what a user opens in it. */

import { readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, expect, test } from 'vitest'
import { tarballName } from '../../scripts/release/pack.ts'
import { publicPackages } from '../../scripts/release/public-packages.ts'
import { type PackedPackage, packedPackages, ROOT, typeProblems } from './packed-packages.ts'

const NAMES = publicPackages(ROOT).map(({ name }) => name)
const manifestOf = (path: string) => JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))

let packed: Map<string, PackedPackage>

beforeAll(async () => {
  packed = new Map((await packedPackages()).map((one) => [one.name, one]))
})

test('the private testkit is not among them, and nothing that is needs it', () => {
  expect(NAMES).toContain('webloom')
  expect(NAMES).not.toContain('@webloom/testkit')
  for (const { name, paths, textOf } of packed.values()) {
    const asking = [...paths].filter(
      (path) => /\.(js|ts)$/.test(path) && textOf(path).includes('@webloom/testkit'),
    )
    expect(asking, name).toEqual([])
  }
})

test('the script that publishes knows what npm has called each tarball', () => {
  for (const one of packed.values()) expect(basename(one.path)).toBe(tarballName(one))
})

test.each(NAMES)('%s has nothing for publint to say', async (name) => {
  const { tarball } = packed.get(name)!
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg!, { color: false }))).toEqual([])
})

// Two of those that all are built like: all in tests/releases/packed-types.soak.test.ts.
test.each(['webloom', '@webloom/selectors'])(
  '%s has types that say what each import gets, by the profile esm-only of attw',
  async (name) => expect(await typeProblems(packed.get(name)!)).toEqual([]),
)

/** It writes a project on an older Node, too, and then brings a newer one along: npm is not to warn of it. */
const RUNS_ON_OLDER = { name: 'create-webloom', engines: { node: '>=20' } }

test.each(NAMES)('%s has a package.json with all that the registry shows', (name) => {
  const { folder } = packed.get(name)!
  const { repository, engines } = manifestOf('.')
  const page = repository.url.replace(/^git\+|\.git$/g, '')
  const keywords = expect.arrayContaining(['crawler'])
  expect(manifestOf(folder)).toMatchObject({
    description: expect.stringMatching(/^[A-Z].{10,}/),
    license: 'MIT',
    type: 'module',
    keywords,
    homepage: expect.stringContaining(page),
    bugs: { url: `${page}/issues` },
    repository: { ...repository, directory: folder },
    engines: name === RUNS_ON_OLDER.name ? RUNS_ON_OLDER.engines : engines,
    publishConfig: { access: 'public' },
  })
})

test.each(NAMES)('%s ships README, licence and what runs, and nothing that only tests need', (name) => {
  const { paths, textOf } = packed.get(name)!
  expect(textOf('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
  expect(textOf('README.md')).toMatch(new RegExp(`^# ${name}\n`))
  const unwanted =
    /\.(test|bench)\.|\.tsbuildinfo$|^(testdata|testing|node_modules)\/|\/testdata\/|tsconfig\.json$/
  // What a template brings is the user's own, tests and tsconfig included.
  const ours = [...paths].filter((path) => !/^(templates|shared)\//.test(path))
  expect(ours.filter((path) => unwanted.test(path))).toEqual([])
})

test.each(NAMES)('%s has each file that its exports and commands name', (name) => {
  const { folder, paths } = packed.get(name)!
  const { exports = {}, bin = {} } = manifestOf(folder)
  const targets = [...leaves(exports), ...leaves(bin)].map((path) => posix.normalize(path))
  expect(targets.length).toBeGreaterThan(0)
  expect(targets.filter((path) => !paths.has(path))).toEqual([])
})

test.each(NAMES)('%s has maps that lead to sources in the package', (name) => {
  const { paths, textOf } = packed.get(name)!
  const lost = [...paths]
    .filter((path) => path.endsWith('.map'))
    .flatMap((path) => {
      const { sources, sourceRoot = '' } = JSON.parse(textOf(path)) as {
        sources: string[]
        sourceRoot?: string
      }
      return sources
        .map((source) => posix.join(posix.dirname(path), sourceRoot, source))
        .filter((source) => !paths.has(source))
        .map((source) => `${path} leads to ${source}`)
    })
  expect(lost).toEqual([])
  const withoutMap = [...paths].filter(
    (path) => /^dist\/.*\.(js|d\.ts)$/.test(path) && !paths.has(`${path}.map`),
  )
  // What only imports and exports others' names has no line of a source, nor has what the compiler brings for `using`.
  const hasLines = (path: string) =>
    !/^(?:(?:import|export) [^;]*;\s*)*$/.test(textOf(path)) && !textOf(path).startsWith('// \\0@oxc-project')
  expect(withoutMap.filter(hasLines)).toEqual([])
})

test.each(NAMES)('%s has no `using`, which Node 22.19 does not know', (name) => {
  const { paths, textOf } = packed.get(name)!
  const compiled = [...paths].filter((path) => /^(?:dist|bin)\/.*\.js$/.test(path))
  expect(compiled.filter((path) => /^\s*(?:await )?using \w/m.test(textOf(path)))).toEqual([])
})

test.each(NAMES)('%s has no letter of two bytes: one makes V8 keep a whole file so', (name) => {
  const { paths, textOf } = packed.get(name)!
  const built = [...paths].filter((path) => /^dist\/.*\.js$/.test(path))
  expect(built.filter((path) => /[^\0-\xff]/.test(textOf(path)))).toEqual([])
})

test('all have one version, and ask for one another at exactly that', () => {
  const packages = publicPackages(ROOT)
  const version = packages[0]!.version
  for (const one of packages) {
    expect(one.version, one.name).toBe(version)
    for (const other of NAMES) expect(one.manifest.dependencies?.[other] ?? version, one.name).toBe(version)
  }
})

/** Every string in it. */
function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return Object.values(value as object).flatMap(leaves)
}
