/**
 * `create webloom` by each package manager that the registry has, with what it installs; workers of the redis template; the browser
 * template; and the templates that create-webloom.test.ts leaves out.
 */

import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import {
  ensureChromium,
  type ProcessResult,
  type RedisServer,
  runProcess,
  startRedis,
  type TempDir,
  tempDir,
} from '@webloom/testkit'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { type PackedRegistry, startPackedRegistry } from '../packages/packed-registry.ts'
import './create-webloom.test.ts'

interface Manager {
  readonly name: string
  /** Its package in the registry. */
  readonly from: string
  /** Yarn 1 takes no versions: it would look for a program with that name. */
  readonly create: string
}

const MANAGERS: readonly Manager[] = [
  { name: 'npm', from: 'npm@11', create: 'webloom@latest' },
  { name: 'pnpm', from: 'pnpm', create: 'webloom@latest' },
  { name: 'yarn', from: '@yarnpkg/cli-dist', create: 'webloom@latest' },
  { name: 'yarn', from: 'yarn@1', create: 'webloom' },
]

/** A mirror may lack what other systems need. npm and pnpm do not ask for it, Yarn does. */
const LACKING =
  /No candidates found|Couldn't find any versions for "(?:@[\w-]+\/)?[\w-]*(?:darwin|win32|linux)/

/** An install with an empty cache waits for a network, and for whatever else the machine does. */
const COMMAND_MS_MAX = 900_000

let registry: PackedRegistry
let folder: TempDir

beforeAll(async () => {
  registry = await startPackedRegistry()
  folder = await tempDir()
}, 180_000)

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]()
  await folder?.remove()
})

/** Nothing of it reaches what this machine keeps for its user. */
function surroundings(home: string): Record<string, string | undefined> {
  return {
    WEBLOOM_ROBOTSTXT_OBEY: undefined,
    WEBLOOM_PRIVATE_ADDRESSES_ALLOWED: undefined,
    npm_config_user_agent: undefined,
    npm_config_registry: registry.url,
    npm_config_cache: `${home}/npm`,
    pnpm_config_registry: registry.url,
    YARN_REGISTRY: registry.url,
    YARN_NPM_REGISTRY_SERVER: registry.url,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    // The registry does not tell when a version came, so Yarn takes it for too new to be trusted.
    YARN_NPM_MINIMAL_AGE_GATE: '0',
    YARN_GLOBAL_FOLDER: `${home}/yarn`,
    PREFIX: home,
    XDG_DATA_HOME: home,
    XDG_CACHE_HOME: home,
    XDG_CONFIG_HOME: home,
    CI: undefined,
  }
}

async function installedProgram({ name, from }: Manager, context: TestContext): Promise<string> {
  const home = folder.join(from.replaceAll('/', '-'))
  const { code, stderr } = await runProcess(
    'npm',
    ['install', '--prefix', home, '--no-audit', '--no-fund', '--prefer-offline', from],
    { timeoutMs: 170_000 },
  )
  context.skip(code !== 0, `${from} cannot be installed: ${stderr}`)
  return `${home}/node_modules/.bin/${name}`
}

test.for(MANAGERS)('$from creates a project, installs it, crawls and tests', async (manager, context) => {
  const program = await installedProgram(manager, context)
  await using empty = await tempDir()
  const project = empty.join('my-crawler')
  const run = (cwd: string, ...args: readonly string[]): Promise<ProcessResult> =>
    runProcess(program, args, {
      cwd,
      env: surroundings(empty.join('home')),
      timeoutMs: COMMAND_MS_MAX,
    })
  const created = await run(empty.path, 'create', manager.create, 'my-crawler', '--yes')
  expect(created.code, created.stdout + created.stderr).toBe(0)
  expect(created.stdout).toContain(`\n  cd my-crawler\n  ${manager.name} install\n  ${manager.name} start `)
  const installed = await run(project, 'install')
  const said = installed.stdout + installed.stderr
  context.skip(LACKING.test(said), `the registry lacks packages of other systems: ${said.slice(-500)}`)
  expect(installed.code, said).toBe(0)
  const crawled = await run(project, 'start')
  expect(crawled.code, crawled.stdout + crawled.stderr).toBe(0)
  expect(readFileSync(`${project}/items.jsonl`, 'utf8').trim().split('\n')).toHaveLength(6)
  const tested = await run(project, 'test')
  expect(tested.code, tested.stdout).toBe(0)
  const checked = await run(project, 'run', 'check')
  expect(checked.code, checked.stdout).toBe(0)
  expect(existsSync(`${project}/node_modules/webloom/bin/webloom.js`), 'what launch.json starts').toBe(true)
})

/** A project of the template, not installed yet, and what runs its commands. */
async function projectOf(template: string, empty: TempDir, own: Record<string, string>) {
  const env = { ...surroundings(empty.join('home')), ...own }
  const run = (command: string, cwd: string, ...args: readonly string[]) =>
    runProcess(command, args, {
      cwd,
      env,
      timeoutMs: COMMAND_MS_MAX,
    })
  // Without the -- that npm wants before options of others: it keeps them, and says so in the environment.
  const words = ['create', 'webloom@latest', 'my-crawler', '--yes', `--template=${template}`]
  const created = await run('npm', empty.path, ...words)
  expect(created.code, created.stderr).toBe(0)
  expect(created.stdout).toContain(`of the template ${template}`)
  return { project: empty.join('my-crawler'), run }
}

function redisProject(empty: TempDir, redis: RedisServer) {
  return projectOf('redis', empty, { REDIS_URL: redis.url, WEBLOOM_SCHEDULER_PERSIST: 'true' })
}

async function itemsOn(redis: RedisServer): Promise<ReadonlySet<string>> {
  return new Set((await redis.command('LRANGE', 'quotes:items', '0', '-1')) as string[])
}

test('workers of the redis template share a crawl, with a Bloom filter on Redis', async () => {
  await using redis = await startRedis()
  await using empty = await tempDir()
  const { project, run } = await redisProject(empty, redis)
  const installed = await run('npm', project, 'install')
  expect(installed.code, installed.stderr).toBe(0)
  const worked = await run('npm', project, 'run', 'worker')
  expect(worked.code, worked.stderr).toBe(0)
  expect(worked.stderr).toMatch(/filter: redis-bloom/)
  expect((await itemsOn(redis)).size).toBe(126)
  const status = await run('npm', project, 'run', 'status', '--', '--json')
  expect(status.code, status.stderr).toBe(0)
})

test('what docker-compose.yml puts into the image is enough for a worker', async () => {
  await using redis = await startRedis()
  await using empty = await tempDir()
  const { project, run } = await redisProject(empty, redis)
  const compose = readFileSync(`${project}/docker-compose.yml`, 'utf8')
  const image = empty.join('image')
  mkdirSync(image)
  for (const [, files] of compose.matchAll(/^ +COPY (\S+) \.\/$/gm))
    for (const file of globSync(files!, { cwd: project }))
      copyFileSync(`${project}/${file}`, `${image}/${file}`)
  const [, install] = /^ +RUN (.*)$/m.exec(compose)!
  const [npm, ...args] = install!.split(' ')
  const installed = await run(npm!, image, ...args)
  expect(installed.code, installed.stderr).toBe(0)
  const [program, ...words] = JSON.parse(/^ +CMD (\[.*\])$/m.exec(compose)![1]!) as string[]
  const workers = await Promise.all([1, 2].map(() => run(`${image}/${program}`, image, ...words)))
  for (const { code, stderr } of workers) expect(code, stderr).toBe(0)
  expect((await itemsOn(redis)).size).toBe(126)
})

test('the browser template crawls what scripts draw', async () => {
  await using empty = await tempDir()
  const { project, run } = await projectOf('browser', empty, {
    WEBLOOM_BROWSER_EXECUTABLE: await ensureChromium(),
    WEBLOOM_BROWSER_SANDBOX: String(process.getuid?.() !== 0),
  })
  const installed = await run('npm', project, 'install')
  expect(installed.code, installed.stderr).toBe(0)
  const crawled = await run('npm', project, 'start')
  expect(crawled.code, crawled.stderr).toBe(0)
  expect(readFileSync(`${project}/items.jsonl`, 'utf8').trim().split('\n')).toHaveLength(12)
  const looked = await run('npx', project, 'webloom', 'doctor', 'spider.ts')
  expect(looked.stdout).toMatch(/^ok +browser +\S/m)
})
