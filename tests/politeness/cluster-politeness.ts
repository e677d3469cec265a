/**
 * What workers do to hosts with a pace of their own, of which one answers 429 with Retry-After and one hangs: seen at
 * the servers.
 */

import { once } from 'node:events'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type FakeWeb, type RedisServer, type StartedProcess, startFakeWeb } from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { StoodStill } from './stood-still.ts'

/** Timers and the network may bring one request early and the next late. */
export const GAP_SLACK_MS = 25
const RETRY_AFTER_SECONDS = 2
/** Which of its requests the first host refuses: each twelfth. */
const REFUSED_EACH = 12
const [REFUSES, HANGS, FIRST_GOOD] = [0, 1, 2]

export interface PaceRoundOptions {
  readonly redis: RedisServer
  readonly hosts: number
  readonly withBadHosts: boolean
  /** All workers end once all hosts were asked, and others take their place. */
  readonly restarts: boolean
  /** How many at once; four when absent. */
  readonly workers?: number
  /** How long starts are counted. */
  readonly windowMs: number
}

export interface Pace {
  /** Of each good host, how many requests started within the window, as a share of what its delay allows. */
  readonly shares: readonly number[]
  /** For how much of the window, as a share, the machine had no time for what was due at its workers' priority. */
  readonly lag: number
}

export async function paceRound(options: PaceRoundOptions): Promise<Pace> {
  const { redis, hosts, withBadHosts, restarts, workers: count = 4, windowMs } = options
  const delayOf = (host: number) => 200 + Math.round((host * 800) / (hosts - 1))
  const pages = 100 + Math.ceil(windowMs / 100)
  const hangs = Array.from({ length: withBadHosts ? pages : 0 }, (_, page) => ({ host: HANGS, page }))
  await using web = await startFakeWeb({ hosts, pagesPerHost: pages, latencyMs: 20, hangs })
  const refusals = withBadHosts ? refuseSome(web, pages) : []
  const slots = web.origins.map((origin, host) => [hostNameOf(origin), { delay: delayOf(host) / 1000 }])
  const settings = {
    REDIS_URL: redis.url,
    CRAWL_ID: `pace-${new URL(web.origins[0]!).port}`,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    DOWNLOAD_SLOTS: Object.fromEntries(slots),
    START_LOW_WATER: 100_000,
    ROBOTSTXT_OBEY: false,
    LOG_FORMAT: 'json',
    SHUTDOWN_GRACE: 2,
  }
  await using folder = await ClusterFolder.of(web, settings, listingSpider(web, pages))
  // Before this thread goes before others.
  await using lagging = await lagOfOthers()
  using _ = firstServed()
  using still = new StoodStill()
  let workers = workersOf(folder, 'first', count)
  await askedTwice(web, hosts)
  if (restarts) {
    for (const worker of workers) worker.kill('SIGTERM')
    await Promise.all(workers.map(({ exited }) => exited))
    const before = web.hits.length
    workers = workersOf(folder, 'second', count)
    await web.waitForHits(before + 2 * hosts, 60_000)
  }
  await Promise.all(workers.map((worker) => worker.waitForOutput(/note: crawl/, 60_000)))
  const [from, lagBefore] = [performance.now(), await lagging.ms()]
  // Waits: the time that is measured.
  await sleep(windowMs)
  const lag = Math.min(1, ((await lagging.ms()) - lagBefore) / windowMs)
  for (const worker of workers) worker.kill('SIGTERM')
  await Promise.all(workers.map(({ exited }) => exited))

  for (let host = 0; host < hosts; host++)
    expect(smallestGapMs(web.starts(host), still), `host ${host}`).toBeGreaterThanOrEqual(
      delayOf(host) - GAP_SLACK_MS,
    )
  if (withBadHosts) expectPausesKept(web.starts(REFUSES), refusals)
  const shares = web.origins.slice(FIRST_GOOD).map((_, n) => {
    const host = n + FIRST_GOOD
    const starts = web.starts(host).filter((atMs) => atMs >= from && atMs < from + windowMs)
    return (starts.length * delayOf(host)) / windowMs
  })
  return { shares, lag }
}

interface Lagging extends AsyncDisposable {
  /** How late its timers have come in all. */
  ms(): Promise<number>
}

/** Measured by a thread, which keeps the priority that it was begun with. */
async function lagOfOthers(): Promise<Lagging> {
  const thread = new Worker(LAG_THREAD, { eval: true })
  const ms = async () => {
    thread.postMessage('ms')
    return (await once(thread, 'message'))[0] as number
  }
  await ms()
  return {
    ms,
    [Symbol.asyncDispose]: async () => {
      await thread.terminate()
    },
  }
}

// As MachineLag has it, which a thread without our sources cannot import; but every timer is a millisecond late, and that is no lag.
const LAG_THREAD = `
const { parentPort } = require('node:worker_threads')
let lateMs = 0
const look = () => {
  const dueMs = performance.now() + 20
  setTimeout(() => {
    const late = performance.now() - dueMs
    if (late > 2) lateMs += late
    look()
  }, 20)
}
look()
parentPort.on('message', () => parentPort.postMessage(lateMs))`

/** A request that came while the site stood still may have come at any moment of that. */
function smallestGapMs(starts: readonly number[], still: StoodStill): number {
  return Math.min(...starts.slice(1).map((atMs, n) => atMs - still.earliestOf(starts[n]!)))
}

/** Yields every page of every host, so that each always has more waiting than may go. */
function listingSpider(web: FakeWeb, pages: number): string {
  const paths = Array.from({ length: pages }, (_, n) => new URL(web.pageUrl(0, n)).pathname)
  return `import { Request, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  async *start() {
    for (const path of ${JSON.stringify(paths)})
      for (const origin of ${JSON.stringify(web.origins)}) yield new Request(origin + path)
  }
  parse() {}
}
`
}

/** The moments at which refusals were sent, as they happen. */
function refuseSome(web: FakeWeb, pages: number): number[] {
  const refusedAtMs: number[] = []
  let asked = 0
  for (let page = 0; page < pages; page++) {
    web.route(REFUSES, new URL(web.pageUrl(REFUSES, page)).pathname, (_, response) => {
      asked++
      if (asked % REFUSED_EACH !== 0) return response.writeHead(200).end('good')
      refusedAtMs.push(performance.now())
      return response.writeHead(429, { 'retry-after': String(RETRY_AFTER_SECONDS) }).end()
    })
  }
  return refusedAtMs
}

function expectPausesKept(starts: readonly number[], refusals: readonly number[]): void {
  expect(refusals.length).toBeGreaterThan(0)
  for (const refusedAtMs of refusals) {
    const untilMs = refusedAtMs + RETRY_AFTER_SECONDS * 1000 - GAP_SLACK_MS
    const during = starts.filter((atMs) => atMs > refusedAtMs && atMs < untilMs)
    expect(
      during.map((atMs) => atMs - refusedAtMs),
      'asked during Retry-After',
    ).toEqual([])
  }
}

function hostNameOf(origin: string): string {
  return new URL(origin).hostname
}

/**
 * Processes of their own, which take a while to start: of a 429 to a worker that has had no core in its SHUTDOWN_GRACE nobody knows,
 * and a successor that began at once would ask.
 */
export function workersOf(folder: ClusterFolder, name: string, count = 4): StartedProcess[] {
  const workers = Array.from({ length: count }, (_, n) => folder.workerProcess(`${name}-${n + 1}`))
  for (const { pid } of workers) setPriority(pid!, 0)
  return workers
}

/**
 * The site runs in this process, and a site that gets no core sees a request late and the next one in time: too close. Where
 * the system allows it, the site goes before the workers that start up beside it.
 */
function firstServed(): Disposable {
  try {
    setPriority(-10)
  } catch {
    // Only root may.
  }
  return { [Symbol.dispose]: () => setPriority(0) }
}

/** Resolves when every host was asked, and those that answer twice. */
async function askedTwice(web: FakeWeb, hosts: number): Promise<void> {
  for (let host = 0; host < hosts; host++) {
    const deadline = performance.now() + 60_000
    while (web.starts(host).length < (host === HANGS ? 1 : 2)) {
      if (performance.now() > deadline) throw new Error(`host ${host} was not asked within a minute`)
      // Waits: between two looks.
      await sleep(50)
    }
  }
}
