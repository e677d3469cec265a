/** Runs one row of the broad benchmark with the built code of one checkout. */

import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  type RedisServer,
  type StartedProcess,
  startProcess,
  startRedis,
  type TempDir,
  tempDir,
} from '@webloom/testkit'
import { redisUse } from '../curve/redis-use.ts'
import { gapsOf } from './gaps.ts'
import { pageUrl } from './hosts.ts'
import type { SpiderTask, SpiderUse } from './pages-spider.ts'
import type { Row } from './rows.ts'
import { type BroadWeb, serveBroadWeb } from './web.ts'
import type { Visits } from './web-child.ts'

/** Figures by name, in the order in which the table has them; what a row does not measure is absent. */
export type Figures = Readonly<Record<string, number>>

const CONCURRENCY = 64
const RUN_MS_MAX = 6 * 3600_000
/** A host that answers nothing is given up after this, three times. */
const SILENT_TIMEOUT_SECONDS = 20
const STOP_MS_MAX = 30_000
const LOOK_EVERY_MS = 2000
/** Under the delay by so much, milliseconds: by the moments that requests leave, and by the server's log. */
const [LEFT_EARLY_MS, ARRIVED_EARLY_MS, ARRIVED_FAR_TOO_EARLY_MS] = [5, 25, 150]
/** Links that are no page's do not exist, so that every request is asked of the filter once or more; this leaves room. */
const BLOOM_CAPACITY_MIN = 1_000_000
const [SERVERS_CORE, WORKERS_CORE] = ['0', '1']
const COPIED = ['hosts.ts', 'pages-spider.ts', 'by-crawl.ts']

export async function measureRow(row: Row, checkout: string): Promise<Figures> {
  await using queueRedis = await startRedis()
  await using filterRedis = await startRedis()
  await using web = await serveBroadWeb(row)
  await using folder = await crawlFolder(row, checkout, web.port)
  const settings = settingsOf(row, queueRedis, filterRedis)
  await writeFile(folder.join('settings.json'), JSON.stringify(settings))
  if (row.onlyQueued) return await weigh(row, checkout, { folder, queueRedis, settings, port: web.port })
  if (row.pinned) await pin([web.pid, queueRedis.pid, filterRedis.pid])
  const command = commandOf(row, checkout, settings)
  const workers = Array.from({ length: row.workers }, () =>
    startProcess(command[0]!, command.slice(1), { cwd: folder.path, timeoutMs: RUN_MS_MAX }),
  )
  if (row.hotPages === undefined) await ended(workers)
  else await stoppedAfter(workers, row, web)
  const visits = await web.visits(limitsOf(row))
  const { hosts, pagesPerHost } = row
  if (visits.different < hosts * pagesPerHost * 0.999)
    throw new Error(`${row.key}: ${visits.different} of ${hosts * pagesPerHost} pages were asked for`)
  const uses = await usesOf(folder)
  if (uses.length !== row.workers)
    throw new Error(`${row.key}: ${uses.length} of ${row.workers} workers told what they used`)
  return {
    ...speed(visits, uses),
    ...(row.filter && (await costs(visits.pages, queueRedis, filterRedis))),
    ...memory(uses),
    ...(row.robots && { 'robots.txt a host': visits.robots / hosts }),
    ...(row.delaySeconds !== undefined && paceOf(row.delaySeconds * 1000, visits, uses)),
  }
}

/** A folder where `webloom` is the checkout's, with the spider and its task. */
async function crawlFolder(row: Row, checkout: string, port: number): Promise<TempDir> {
  const folder = await tempDir('webloom-broad-')
  await mkdir(folder.join('node_modules'))
  await symlink(join(checkout, 'packages/webloom'), folder.join('node_modules/webloom'))
  for (const name of COPIED) await copyFile(join(import.meta.dirname, name), folder.join(name))
  const { hosts, pagesPerHost, delaySeconds, hotPages = 0, workers } = row
  const task: SpiderTask = {
    port,
    follow: delaySeconds === undefined,
    hosts,
    pagesPerHost,
    hotPages,
    leaves: delaySeconds !== undefined,
    halfAt: Math.round((hosts * pagesPerHost) / 2 / workers),
  }
  await writeFile(folder.join('task.json'), JSON.stringify(task))
  return folder
}

function settingsOf(
  { filter, delaySeconds, hotPages, robots = false, hosts, pagesPerHost }: Row,
  queueRedis: RedisServer,
  filterRedis: RedisServer,
): Record<string, unknown> {
  return {
    CONCURRENT_REQUESTS: CONCURRENCY,
    CONCURRENT_REQUESTS_PER_DOMAIN: CONCURRENCY,
    ROBOTSTXT_OBEY: robots,
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
    LOG_LEVEL: 'ERROR',
    LOGSTATS_INTERVAL: 0,
    STATS_DUMP: false,
    ...(filter && {
      DUPEFILTER_CLASS: filter,
      QUEUE_REDIS_URL: queueRedis.url,
      DUPEFILTER_REDIS_URL: filterRedis.url,
      BLOOMFILTER_CAPACITY: Math.max(BLOOM_CAPACITY_MIN, hosts * pagesPerHost),
    }),
    ...(delaySeconds !== undefined && { DOWNLOAD_DELAY: delaySeconds, RANDOMIZE_DOWNLOAD_DELAY: false }),
    ...(hotPages !== undefined && { DOWNLOAD_TIMEOUT: SILENT_TIMEOUT_SECONDS }),
  }
}

function commandOf({ by, pinned }: Row, checkout: string, settings: Record<string, unknown>): string[] {
  const command =
    by === 'cli'
      ? [...cli(checkout), 'runspider', 'pages-spider.ts', ...flagsOf(settings)]
      : [process.execPath, 'by-crawl.ts']
  return pinned ? ['taskset', '--cpu-list', WORKERS_CORE, ...command] : command
}

function cli(checkout: string): string[] {
  return [process.execPath, join(checkout, 'packages/webloom/bin/webloom.js')]
}

function flagsOf(settings: Record<string, unknown>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${String(value)}`])
}

async function pin(pids: readonly number[]): Promise<void> {
  for (const pid of pids)
    await promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', SERVERS_CORE, String(pid)])
}

async function ended(processes: readonly StartedProcess[]): Promise<void> {
  for (const { code, stderr } of await Promise.all(processes.map(({ exited }) => exited)))
    if (code !== 0) throw new Error(`a process ended with ${code}: ${stderr}`)
}

/** The hot host would take hours: as soon as all others have been crawled, the workers are told to stop. */
async function stoppedAfter(
  workers: readonly StartedProcess[],
  { hosts, pagesPerHost }: Row,
  web: BroadWeb,
): Promise<void> {
  const ending = Promise.race(workers.map(({ exited }) => exited)).then(({ stderr }) => {
    throw new Error(`a worker ended before all hosts had: ${stderr}`)
  })
  while ((await web.visits()).different < hosts * pagesPerHost)
    await Promise.race([sleep(LOOK_EVERY_MS), ending])
  ending.catch(() => {}) // From now on they end because they are told to.
  for (const worker of workers) worker.kill('SIGTERM')
  const killing = setTimeout(() => {
    for (const worker of workers) worker.kill('SIGKILL')
  }, STOP_MS_MAX)
  await Promise.all(workers.map(({ exited }) => exited))
  clearTimeout(killing)
}

async function usesOf(folder: TempDir): Promise<SpiderUse[]> {
  const names = (await readdir(folder.path)).filter((name) => name.startsWith('use-'))
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(folder.join(name), 'utf8')) as SpiderUse),
  )
}

function speed({ pages, seconds }: Visits, uses: readonly SpiderUse[]): Figures {
  const cpuSeconds = uses.reduce((sum, one) => sum + one.cpuSeconds, 0)
  return { seconds, 'pages/s': pages / seconds, 'CPU ms': (1000 * cpuSeconds) / pages }
}

async function costs(pages: number, queueRedis: RedisServer, filterRedis: RedisServer): Promise<Figures> {
  const [queue, filter] = [await redisUse(queueRedis), await redisUse(filterRedis)]
  return {
    'queue µs': queue.micros / pages,
    'queue scripts': queue.scripts / pages,
    XADD: queue.streamEntries / pages,
    'filter µs': filter.micros / pages,
    'filter scripts': filter.scripts / pages,
  }
}

function memory(uses: readonly SpiderUse[]): Figures {
  const most = (field: 'peakRssMb' | 'halfRssMb' | 'endRssMb') => Math.max(...uses.map((use) => use[field]))
  return { 'peak MB': most('peakRssMb'), 'MB at half': most('halfRssMb'), 'MB at end': most('endRssMb') }
}

function limitsOf({ delaySeconds }: Row) {
  if (delaySeconds === undefined) return {}
  const delayMs = delaySeconds * 1000
  return { delayMs, limitsMs: [delayMs - ARRIVED_EARLY_MS, delayMs - ARRIVED_FAR_TOO_EARLY_MS] }
}

function paceOf(delayMs: number, { gaps }: Visits, uses: readonly SpiderUse[]): Figures {
  const left = gapsOf(
    uses.flatMap(({ leaves }) => leaves),
    delayMs,
    [delayMs - LEFT_EARLY_MS],
  )
  const [early, farTooEarly] = gaps!.shorter
  return {
    '% of the pace allowed': 100 * gaps!.ofAllowed,
    'smallest gap left, ms': left.smallestMs,
    [`gaps left under delay − ${LEFT_EARLY_MS} ms`]: left.shorter[0]!.count,
    'smallest gap arrived, ms': gaps!.smallestMs,
    [`% of gaps arrived under delay − ${ARRIVED_EARLY_MS} ms`]: (100 * early!.count) / gaps!.count,
    [`gaps arrived under delay − ${ARRIVED_FAR_TOO_EARLY_MS} ms`]: farTooEarly!.count,
  }
}

interface Weighing {
  readonly folder: TempDir
  readonly queueRedis: RedisServer
  readonly settings: Record<string, unknown>
  readonly port: number
}

/** What a request weighs that only waits: they are imported, and no worker runs. */
async function weigh(
  { hosts }: Row,
  checkout: string,
  { folder, queueRedis, settings, port }: Weighing,
): Promise<Figures> {
  const lines = Array.from(
    { length: hosts },
    (_, host) => `${JSON.stringify({ v: 1, url: pageUrl(port, host, 0) })}\n`,
  )
  await writeFile(folder.join('queued.jsonl'), lines.join(''))
  const { bytes } = await redisUse(queueRedis)
  const [program, ...args] = [
    ...cli(checkout),
    'import',
    'queued.jsonl',
    'pages-spider.ts',
    ...flagsOf(settings),
  ]
  await ended([startProcess(program!, args, { cwd: folder.path, input: '', timeoutMs: RUN_MS_MAX })])
  return { 'bytes a request': ((await redisUse(queueRedis)).bytes - bytes) / hosts }
}
