/** A new user's first minute: `npm create webloom@latest` in an empty folder, from packed files, then what it says to do next. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  type ProcessResult,
  runProcess,
  startFakeWeb,
  startProcess,
  type TempDir,
  tempDir,
} from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PackedRegistry, startPackedRegistry } from '../packages/packed-registry.ts'
import { inSoaks } from '../setup/soaks.ts'
import { stopAt } from './breakpoint.ts'
import { firstSpiderTests } from './first-spider.ts'

/** As a new user has it, and not as this run's tests do. */
const NEW_USER = { WEBLOOM_ROBOTSTXT_OBEY: undefined, WEBLOOM_PRIVATE_ADDRESSES_ALLOWED: undefined }
const OTHERS = ['api', 'browser', 'redis', 'site']
const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0

let registry: PackedRegistry
let folder: TempDir
let created: ProcessResult
let project: string

beforeAll(async () => {
  registry = await startPackedRegistry()
  folder = await tempDir()
  project = folder.join('my-crawler')
  // A cache of its own: npx would take a create-webloom of the same version from the last run.
  const cache = { npm_config_cache: folder.join('npm-cache') }
  created = await npm(folder.path, ['create', 'webloom@latest', 'my-crawler', '--yes'], cache)
  const installed = await npm(project, ['install', '--prefer-offline', '--no-audit', '--no-fund'])
  expect(installed.code, installed.stderr).toBe(0)
  // The other templates need the same packages, and find those of the folder above.
  for (const name of OTHERS) await create(project, name, '--template', name)
}, 180_000)

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]()
  await folder?.remove()
})

function npm(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<ProcessResult> {
  return runProcess('npm', args, {
    cwd,
    env: { ...NEW_USER, npm_config_registry: registry.url, ...env },
    timeoutMs: 170_000,
  })
}

/** A script of package.json, as `npm run` has it, by what Node brings for that: it starts in a tenth of the time. */
function script(cwd: string, name: string, ...args: readonly string[]): Promise<ProcessResult> {
  return runProcess(process.execPath, ['--run', name, '--', ...args], { cwd, env: NEW_USER })
}

/** Runs the command without npm before it. */
function create(cwd: string, ...args: readonly string[]): Promise<ProcessResult> {
  return runProcess(process.execPath, [bin, ...args], { cwd, env: { npm_config_user_agent: undefined } })
}

const bin = join(import.meta.dirname, '../../packages/create-webloom/bin/create-webloom.js')

const itemsOf = (path: string) =>
  readFileSync(join(path, 'items.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('npm create asks nothing with --yes, and says in three lines what to do next', () => {
  expect(created.code, created.stderr).toBe(0)
  expect(created.stdout).toMatch(
    /my-crawler is a project of the template quotes.*\n\n {2}cd my-crawler\n {2}npm install\n {2}npm start .*\n/,
  )
})

test('the project has eight files, those too that npm leaves out of packages or takes for its own', () => {
  const files = readdirSync(project, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => relative(project, join(parentPath, name)))
    .filter(
      (path) =>
        !['package-lock.json', 'items.jsonl'].includes(path) &&
        !OTHERS.some((other) => path.startsWith(`${other}/`)),
    )
  expect(files.toSorted()).toEqual([
    '.gitignore',
    '.vscode/launch.json',
    'package.json',
    'page.html',
    'site.ts',
    'spider.test.ts',
    'spider.ts',
    'tsconfig.json',
  ])
})

// The spiders of the others run in their own tests, below.
test.each([
  ['quotes', 6],
  ...inSoaks(['api', 5] as const, ['redis', 126] as const, ['site', 5] as const),
] as const)('%s: npm start crawls its own site without a network', async (name, items) => {
  const path = name === 'quotes' ? project : join(project, name)
  const crawled = await script(path, 'start', '-s', 'DOWNLOAD_DELAY=0')
  expect(crawled.code, crawled.stderr).toBe(0)
  expect(crawled.stderr).not.toMatch(/"level":"(?:WARNING|ERROR)"/)
  expect(itemsOf(path)).toHaveLength(items)
})

test('npm test passes: the tests of all templates, in one process; those of browser without a browser and its package', async () => {
  const files = ['.', ...OTHERS].map((folder) => join(folder, 'spider.test.ts'))
  const { code, stdout } = await script(project, 'test', '--test-isolation=none', ...files)
  expect(code, stdout).toBe(0)
  const counts = files.map((path) => readFileSync(join(project, path), 'utf8').split(/^test\(/m).length - 1)
  expect(Math.min(...counts)).toBeGreaterThan(1)
  expect(stdout).toContain(` pass ${counts.reduce((sum, count) => sum + count)}\n`)
})

test('tsc finds nothing in any of them', async () => {
  // The tsconfig of each is the same, and the first one's takes in those below it.
  const { code, stdout } = await script(project, 'check', '--listFiles')
  expect(code, stdout).toBe(0)
  for (const other of OTHERS) expect(stdout).toContain(`/my-crawler/${other}/spider.ts`)
})

test('with one line changed it crawls another site', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 8 })
  const spider = join(project, 'site/spider.ts')
  const text = readFileSync(spider, 'utf8')
  writeFileSync(spider, text.replace("['http://shop.test/']", `['${web.seeds[0]}']`))
  const { code, stderr } = await script(join(project, 'site'), 'start', '-s', 'DOWNLOAD_DELAY=0')
  writeFileSync(spider, text)
  expect(code, stderr).toBe(0)
  expect(new Set(itemsOf(join(project, 'site')).map(({ url }) => url))).toEqual(web.reachable())
})

test('a debugger stops at a breakpoint in the TypeScript, where the file says', async () => {
  const launch = readFileSync(join(project, '.vscode/launch.json'), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
  const [{ program, args }] = JSON.parse(launch).configurations
  const file = join(project, 'spider.ts')
  const line =
    readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('author: quote')) + 1
  const inFolder = program.replace(/^\$\{workspaceFolder\}/, project)
  const stop = await stopAt({ file, line, expression: 'response.url' }, [inFolder, ...args], project)
  expect(stop).toMatchObject({ line, value: 'http://quotes.test/' })
})

describe('in a folder of one’s own', () => firstSpiderTests(() => join(project, 'node_modules')))

describe('before anything is written', () => {
  const refused = async (...args: readonly string[]) => {
    await using empty = await tempDir()
    mkdirSync(empty.join('full'))
    writeFileSync(empty.join('full/notes.md'), '')
    const { code, stderr } = await create(empty.path, ...args)
    expect(readdirSync(empty.path, { recursive: true })).toEqual(['full', join('full', 'notes.md')])
    expect(code).toBe(2)
    return stderr
  }

  test('a folder with something in it, a bad name, an unknown template and option are refused', async () => {
    expect(await refused('full')).toBe(
      'create-webloom: the folder full is not empty: it has notes.md. Choose another name, or an empty folder\n',
    )
    expect(await refused('My Crawler')).toMatch(
      /"My Crawler" cannot be the project's name: .*Try my-crawler\n$/,
    )
    expect(await refused('mine', '--template', 'x')).toMatch(
      /no template "x"\. There are:\n\n {2}quotes [\s\S]*\n {2}api [\s\S]*\n {2}browser [\s\S]*\n {2}redis [\s\S]*\n {2}site /,
    )
    // As a script has it whose variable is not set.
    expect(await refused('mine', '--template', '')).toMatch(/no template ""\. There are:/)
    expect(await refused('mine', '--templte', 'x')).toMatch(/Unknown option '--templte'/)
  })

  test('a folder that was removed under the terminal is told in a sentence', async () => {
    await using empty = await tempDir()
    const { code, stderr } = await runProcess(
      'sh',
      ['-c', 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', 'sh', process.execPath, bin, 'mine'],
      { cwd: empty.path },
    )
    expect([code, stderr]).toEqual([
      2,
      'create-webloom: the folder of this terminal is gone. Go to one that is there:  cd\n',
    ])
  })

  test('--help and --version answer', async () => {
    await using empty = await tempDir()
    const [help, version] = [await create(empty.path, '--help'), await create(empty.path, '--version')]
    expect(help.stdout).toMatch(/Usage: npm create webloom@latest[\s\S]*--template[\s\S]* {2}quotes /)
    expect(version.stdout).toBe(
      `${JSON.parse(readFileSync(join(bin, '../../package.json'), 'utf8')).version}\n`,
    )
    expect(readdirSync(empty.path)).toEqual([])
  })

  test('an old Node is told what to type, in one message', async () => {
    const { code, stderr } = await runProcess(process.execPath, [
      '-e',
      `Object.defineProperty(process.versions, 'node', { value: '18.20.2' }); import('${bin}')`,
    ])
    expect(code).toBe(2)
    expect(stderr).toMatch(/needs Node 20 or later.*this is Node 18\.20\.2[\s\S]*npx -p node@24 /)
  })

  test.skipIf(!hasTerminal)('on a terminal it asks; Ctrl-C in a question leaves nothing behind', async () => {
    await using empty = await tempDir()
    const asked = async (...keys: readonly (readonly [question: RegExp, answer: string])[]) => {
      const line = `'${process.execPath}' '${bin}'; echo ended with $?`
      await using terminal = startProcess('script', ['-qec', line, '/dev/null'], { cwd: empty.path })
      for (const [question, answer] of keys) {
        await terminal.waitForOutput(question)
        terminal.write(answer)
      }
      return (await terminal.waitForOutput(/ended with (\d+)/))[1]
    }
    expect(await asked([/Name of the project/, 'mine\r'], [/Template, by/, '\u0003'])).toBe('130')
    expect(readdirSync(empty.path)).toEqual([])
    expect(await asked([/Name of the project/, '\r'], [/Template, by/, 'site\r'])).toBe('0')
    expect(readFileSync(empty.join('my-crawler/spider.ts'), 'utf8')).toContain('SiteSpider')
  })
})
