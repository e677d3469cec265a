/**
 * What it costs a crawl to be looked at: one crawl by two workers, which for some seconds nobody looks at and for some seconds two
 * pages that are open and a scraper do, again and again (unseen, seen, seen, unseen), so that what slows it down with time counts
 * for both.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBrowser, startRedis } from '@webloom/testkit'
import { ClusterFolder } from '../../tests/cluster/cluster-crawl.ts'
import { startWatchers } from './watchers.ts'

export interface WatchedPlan {
  /** How often it is unseen and seen. */
  readonly rounds: number
  /** How many pages wait at any moment. */
  readonly waiting: number
  readonly workers: number
  readonly windowMs: number
  /** Pages are open in a browser on this machine; else only their streams are read. */
  readonly browsers: boolean
}

export interface Look {
  readonly isSeen: boolean
  readonly pagesPerSecond: number
  /** Milliseconds of processor for each second that passed. */
  readonly cpuMs: Readonly<
    Record<'dashboard' | 'redis' | 'workers' | 'site' | 'browsers' | 'readers', number>
  >
  readonly bytesPerSecond: number
}

const SEEN_PAGES = ['c/pages/overview', 'c/pages/hosts']
/** The programs are loaded, and the queue is filled. */
const WARM_UP_MS = 8000
/** Until a page is closed and nothing of it is done any more. */
const BETWEEN_MS = 500
const SETTINGS = {
  CONCURRENT_REQUESTS: 32,
  CONCURRENT_REQUESTS_PER_DOMAIN: 32,
  ROBOTSTXT_OBEY: false,
  LOG_LEVEL: 'WARNING',
}

export async function watchCrawl(plan: WatchedPlan): Promise<Look[]> {
  await using redis = await startRedis()
  await using site = await Site.of(plan.waiting)
  await using folder = await ClusterFolder.of(
    { seeds: [...site.seeds] },
    { ...SETTINGS, REDIS_URL: redis.url },
  )
  await using browser = plan.browsers ? await startBrowser() : undefined
  const dash = folder.start('dash', '--port', '0')
  const workers = Array.from({ length: plan.workers }, () => folder.start('worker', 'pages'))
  await sleep(WARM_UP_MS)
  const dashboard = /http:\S+/.exec(dash.stdout)![0]
  // Its code is compiled while it is first used: a dashboard runs for longer than a benchmark.
  const first = startWatchers(dashboard, SEEN_PAGES, browser)
  await sleep(WARM_UP_MS)
  await first[Symbol.asyncDispose]()
  const pids = {
    dashboard: [dash.pid!],
    redis: [redis.pid!],
    workers: workers.map(({ pid }) => pid!),
    site: [site.pid],
    readers: [process.pid],
  }
  const look = async (isSeen: boolean): Promise<Look> => {
    const watchers = isSeen ? startWatchers(dashboard, SEEN_PAGES, browser) : undefined
    await sleep(BETWEEN_MS)
    const [asked, before, beganAt] = [await site.asked(), cpuOf(pids), performance.now()]
    await sleep(plan.windowMs)
    const [askedThen, after, seconds] = [
      await site.asked(),
      cpuOf(pids),
      (performance.now() - beganAt) / 1000,
    ]
    const bytesPerSecond = (watchers?.bytes ?? 0) / seconds
    await watchers?.[Symbol.asyncDispose]()
    await sleep(BETWEEN_MS)
    const cpuMs = Object.fromEntries(
      Object.entries(after).map(([name, ms]) => [name, (ms - before[name as keyof typeof before]) / seconds]),
    ) as Look['cpuMs']
    return { isSeen, pagesPerSecond: (askedThen - asked) / seconds, cpuMs, bytesPerSecond }
  }
  const looks: Look[] = []
  for (let round = 0; round < plan.rounds; round++)
    for (const isSeen of [false, true, true, false]) looks.push(await look(isSeen))
  return looks
}

type Pids = Readonly<Record<'dashboard' | 'redis' | 'workers' | 'site' | 'readers', readonly number[]>>

/** Milliseconds that each has used so far. Browsers are processes that begin others: all of them that there are. */
function cpuOf(pids: Pids): Look['cpuMs'] {
  const sum = (of: readonly number[]) => of.reduce((all, pid) => all + cpuOfProcess(pid), 0)
  return {
    dashboard: sum(pids.dashboard),
    redis: sum(pids.redis),
    workers: sum(pids.workers),
    site: sum(pids.site),
    readers: sum(pids.readers),
    browsers: sum(browserPids()),
  }
}

const MS_PER_TICK = 10

function cpuOfProcess(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
  } catch {
    // A browser's process that has ended since.
    return 0
  }
}

function browserPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isBrowser(name))
    .map(Number)
}

function isBrowser(pid: string): boolean {
  try {
    return /chrom/i.test(readFileSync(join('/proc', pid, 'comm'), 'latin1'))
  } catch {
    return false
  }
}

/** The site that is crawled. */
export class Site implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly seeds: readonly string[]

  private constructor(child: ChildProcess, port: number, wide: number) {
    this.#child = child
    this.seeds = Array.from({ length: wide }, (_, page) => `http://127.0.0.1:${port}/${page}`)
  }

  static async of(wide: number): Promise<Site> {
    const child = fork(join(import.meta.dirname, 'site-child.ts'))
    child.send(wide)
    const [port] = await once(child, 'message')
    return new Site(child, port, wide)
  }

  get pid(): number {
    return this.#child.pid!
  }

  async asked(): Promise<number> {
    this.#child.send('asked')
    const [asked] = await once(this.#child, 'message')
    return asked
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }
}
