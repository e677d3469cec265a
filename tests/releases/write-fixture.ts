/**
 * Writes what this release leaves of a crawl in its middle: keys of Redis in both modes and in shards, and a JOBDIR. Later releases
 * read them (releases.test.ts). `npm run release:fixture`, once for each release, by the version in packages/webloom/package.json.
 */

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess, startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { writeKeys } from './redis-keys-file.ts'
import { BROKEN, ReleaseSite } from './release-site.ts'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')
const FIXTURES = join(import.meta.dirname, 'fixtures')
const SPIDER = join(import.meta.dirname, 'released-spider.ts')
const PAGES_BEFORE = 25

/** The crawls on Redis, by the file they are in. */
const ON_REDIS = {
  turns: { QUEUE_MODE: 'turns', DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_CAPACITY: 1000 },
  job: { QUEUE_MODE: 'job', DUPEFILTER_CLASS: 'redis-set' },
  shards: {
    QUEUE_SHARDS: 3,
    DUPEFILTER_SHARDS: 4,
    DUPEFILTER_CLASS: 'redis-bloom',
    BLOOMFILTER_CAPACITY: 200,
  },
}
/** A page that fails waits for its second try when the crawl is left. */
const ALWAYS = {
  CONCURRENT_REQUESTS: 4,
  RETRY_TIMES: 1,
  RETRY_BACKOFF: 30,
  ROBOTSTXT_OBEY: false,
  PRIVATE_ADDRESSES_ALLOWED: '*',
}

const start = (command: string, settings: object, cwd: string) =>
  startProcess(
    process.execPath,
    [
      join(PACKAGE, 'bin/webloom.js'),
      command,
      SPIDER,
      ...Object.entries({ ...ALWAYS, ...settings }).flatMap(([name, value]) => ['-s', `${name}=${value}`]),
    ],
    { cwd, timeoutMs: 120_000 },
  )

/** A worker is killed in the middle, with pages in work. */
async function leaveOnRedis(settings: object, path: string): Promise<readonly number[]> {
  await using site = await ReleaseSite.open({ latencyMs: 100, isSpread: 'QUEUE_SHARDS' in settings })
  await using redis = await startRedis()
  await using folder = await tempDir()
  const worker = start('worker', { ...settings, REDIS_URL: redis.url }, folder.path)
  const ended = worker.exited.then(({ stderr }) =>
    Promise.reject(new Error(`the worker has ended:\n${stderr}`)),
  )
  do await Promise.race([ended, site.waitForAsked(Math.max(PAGES_BEFORE, site.asked.length + 1))])
  while (!site.asked.includes(BROKEN))
  ended.catch(() => undefined)
  worker.kill('SIGKILL')
  await worker.exited
  const client = new Redis(redis.url)
  await writeKeys(client, path)
  client.disconnect()
  return site.asked
}

/** A crawl that ends in order before it is done. */
async function leaveInFolder(path: string): Promise<readonly number[]> {
  await using site = await ReleaseSite.open({ latencyMs: 20 })
  await using folder = await tempDir()
  const crawl = start('crawl', { JOBDIR: path, CLOSESPIDER_PAGECOUNT: PAGES_BEFORE }, folder.path)
  const { code, stderr } = await crawl.exited
  if (code !== 0) throw new Error(stderr)
  return site.asked
}

const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
const folder = join(FIXTURES, version)
if (existsSync(folder) && !process.argv.includes('--force'))
  throw new Error(`There is ${folder} already. It is what users of ${version} have; --force writes it anew`)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const asked: Record<string, readonly number[]> = {}
for (const [name, settings] of Object.entries(ON_REDIS))
  asked[name] = await leaveOnRedis(settings, join(folder, `${name}.json`))
await using job = await tempDir()
asked.jobdir = await leaveInFolder(job.join('job'))
cpSync(job.join('job'), join(folder, 'jobdir'), { recursive: true })
writeFileSync(join(folder, 'asked.json'), `${JSON.stringify(asked)}\n`)
console.log(`wrote ${folder}`)
