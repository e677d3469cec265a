/** Runs one row of the broad benchmark with the built code of one checkout. */

import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  type RedisServer,
  type StartedProcess,
  startProcess,
  startRedis,
  type TempDir,
} from '@webloom/testkit'
import { redisUse } from '../curve/redis-use.ts'
import {
  cli,
  commandOf,
  crawlFolder,
  flagsOf,
  SERVERS_CORE,
  type Settings,
  settingsOf,
} from './crawl-of-row.ts'
import { costs, type Figures, gapsQuestion, memory, pace, speed } from './figures.ts'
import { answeredNames, pageUrl, type WebAddress } from './hosts.ts'
import { knownSettings, RowNotKnown } from './known-settings.ts'
import { startNameServer } from './names.ts'
import type { SpiderUse } from './pages-spider.ts'
import type { Row } from './rows.ts'
import { type BroadWeb, serveBroadWeb } from './web.ts'

const RUN_MS_MAX = 6 * 3600_000
const STOP_MS_MAX = 30_000
const LOOK_EVERY_MS = 2000
/** Of a Bloom filter, which may take a page for a seen one. */
const MISSED_MAX = 0.001

/** Throws `RowNotKnown` when the checkout is too old for the row. */
export async function measureRow(row: Row, checkout: string): Promise<Figures> {
  await using queueRedis = await startRedis()
  await using filterRedis = await startRedis()
  await using names = row.isNamed ? await startNameServer() : null
  const { isTls = false, isNamed = false } = row
  // A site that waits for a core sees one request late and the next in time, and the gap looks too short. Real servers have cores of their own.
  const goesFirst = row.delaySeconds !== undefined
  await using web = await serveBroadWeb({ ...row, isTls, isNamed }, { goesFirst })
  const address: WebAddress = { port: web.port, isTls, isNamed }
  await using folder = await crawlFolder(row, checkout, address)
  const all = settingsOf(row, { queueRedis, filterRedis, nameServer: names?.address })
  const settings = await knownSettings(all, checkout)
  await writeFile(folder.join('settings.json'), JSON.stringify(settings))
  if (row.onlyQueued) return await weigh(row, checkout, { folder, queueRedis, settings, address })
  if (row.by === 'cli') await startedBefore(checkout, folder)
  if (row.pinned) await pin([web.pid, queueRedis.pid, filterRedis.pid])
  const began = performance.now()
  await crawled(row, web, folder, commandOf(row, checkout, settings))
  const wholeSeconds = (performance.now() - began) / 1000
  const visits = await web.visits(gapsQuestion(row))
  const expected = pagesOf(row)
  if (visits.different < expected * (1 - MISSED_MAX))
    throw new Error(`${row.key}: ${visits.different} of ${expected} pages were asked for`)
  const uses = await usesOf(folder)
  if (uses.length !== row.workers)
    throw new Error(`${row.key}: ${uses.length} of ${row.workers} workers told what they used`)
  return {
    ...speed(visits, uses),
    ...(row.filter && (await costs(visits.pages, queueRedis, filterRedis))),
    ...memory(uses),
    ...(row.robots && { 'robots.txt a host': visits.robots / row.hosts }),
    ...(names && { 'DNS questions a host': names.asked.length / row.hosts }),
    // Names without an answer keep a crawl waiting after its last page.
    ...(row.fromStart && { 'seconds of the whole process': wholeSeconds }),
    ...pace(row, visits, uses),
  }
}

/** The first process that loads a spider in TypeScript keeps the type stripper in its memory; the crawl is a later one. */
async function startedBefore(checkout: string, folder: TempDir): Promise<void> {
  const [program, ...args] = [...cli(checkout), 'check', 'pages-spider.ts']
  await ended([startProcess(program!, args, { cwd: folder.path, timeoutMs: RUN_MS_MAX })])
  for (const name of await usesIn(folder)) await rm(folder.join(name))
}

/** How many pages can be fetched, without those of a hot host. */
function pagesOf({ hosts, pagesPerHost, isNamed }: Row): number {
  return (isNamed ? answeredNames(hosts) : hosts) * pagesPerHost
}

async function pin(pids: readonly number[]): Promise<void> {
  for (const pid of pids)
    await promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', SERVERS_CORE!, String(pid)])
}

async function crawled(row: Row, web: BroadWeb, folder: TempDir, command: readonly string[]): Promise<void> {
  const workers = Array.from({ length: row.workers }, () =>
    startProcess(command[0]!, command.slice(1), { cwd: folder.path, timeoutMs: RUN_MS_MAX }),
  )
  if (row.hotPages === undefined) await ended(workers)
  else await stoppedAfter(workers, row, web)
}

async function ended(processes: readonly StartedProcess[]): Promise<void> {
  for (const { code, stderr } of await Promise.all(processes.map(({ exited }) => exited)))
    if (code !== 0) throw new Error(`a process ended with ${code}: ${stderr}`)
}

/** The hot host would take hours: as soon as all others have been crawled, the workers are told to stop. */
async function stoppedAfter(workers: readonly StartedProcess[], row: Row, web: BroadWeb): Promise<void> {
  const ending = Promise.race(workers.map(({ exited }) => exited)).then(({ stderr }) => {
    throw new Error(`a worker ended before all hosts had: ${stderr}`)
  })
  while ((await web.visits()).different < pagesOf(row)) await Promise.race([sleep(LOOK_EVERY_MS), ending])
  ending.catch(() => {}) // From now on they end because they are told to.
  for (const worker of workers) worker.kill('SIGTERM')
  const killing = setTimeout(() => {
    for (const worker of workers) worker.kill('SIGKILL')
  }, STOP_MS_MAX)
  await Promise.all(workers.map(({ exited }) => exited))
  clearTimeout(killing)
}

async function usesOf(folder: TempDir): Promise<SpiderUse[]> {
  return Promise.all(
    (await usesIn(folder)).map(
      async (name) => JSON.parse(await readFile(folder.join(name), 'utf8')) as SpiderUse,
    ),
  )
}

async function usesIn(folder: TempDir): Promise<string[]> {
  return (await readdir(folder.path)).filter((name) => name.startsWith('use-'))
}

interface Weighing {
  readonly folder: TempDir
  readonly queueRedis: RedisServer
  readonly settings: Settings
  readonly address: WebAddress
}

/** What a request weighs that only waits: they are imported, and no worker runs. */
async function weigh(
  { hosts }: Row,
  checkout: string,
  { folder, queueRedis, settings, address }: Weighing,
): Promise<Figures> {
  const lines = Array.from(
    { length: hosts },
    (_, host) => `${JSON.stringify({ v: 1, url: pageUrl(address, host, 0) })}\n`,
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
  const importing = startProcess(program!, args, { cwd: folder.path, input: '', timeoutMs: RUN_MS_MAX })
  if ((await importing.exited).stderr.includes("unknown command 'import'"))
    throw new RowNotKnown(`${checkout} has no command import`)
  await ended([importing])
  return { 'bytes a request': ((await redisUse(queueRedis)).bytes - bytes) / hosts }
}
