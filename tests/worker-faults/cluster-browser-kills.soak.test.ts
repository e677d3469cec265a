/**
 * `npm run soak`: two workers that render every page, on a Redis; a worker, or the Chromium of one, is killed with -9 at random moments.
 * Five crawls with ten kills each.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { ensureChromium, type FakeWebProcess, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { browserPidNow, browserSessions, pidsIn } from '../../packages/browser/testing/browser-processes.ts'
import {
  ClusterFolder,
  fetchCounts,
  freshCrawlId,
  randomOf,
  repeatsOfLinks,
  repeatsOfSimultaneous,
  STATS_EACH_SECOND,
} from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'

const CRAWLS = 5
const KILLS = 10
const HOSTS = 4
const PAGES_PER_HOST = 60
const BROWSER_PAGES = 3
/** Killed at the moment of a hit, at the most so long after it. */
const LATER_MS_MAX = 500

/** Yields an item for each page, with whether a browser has rendered it. */
const renderingSpider = ({
  seeds,
}: FakeWebProcess) => `import { Request, type Response, Spider } from 'webloom'

const meta = { browser: true }

export default class Pages extends Spider {
  name = 'pages'

  async *start() {
    for (const url of ${JSON.stringify(seeds)}) yield new Request(url, { meta, dontFilter: true })
  }

  async *parse(response: Response) {
    yield { url: response.url, rendered: response.flags.includes('rendered') }
    yield* response.followAll('a', { meta })
  }
}
`

/** Two workers; one that is killed is replaced. Nothing of a browser may be left 10 s after its worker, or itself, is killed. */
class Workers {
  readonly browserKills: number[] = []
  readonly workerKills: number[] = []
  readonly #folder: ClusterFolder
  readonly #running = new Set<Running>()
  readonly #gone: Promise<void>[] = []
  readonly #random: () => number
  #started = 0

  constructor(folder: ClusterFolder, random: () => number) {
    this.#folder = folder
    this.#random = random
    this.#start()
    this.#start()
  }

  /** Kills a worker, or its browser where it has one. */
  killOne(): void {
    const workers = [...this.#running]
    const victim = workers[Math.floor(this.#random() * workers.length)]!
    const sessions = browserSessions(victim.pid)
    const browser = browserPidNow(victim.pid)
    if (browser !== undefined && this.#random() < 0.5) {
      process.kill(browser, 'SIGKILL')
      this.browserKills.push(browser)
      this.#gone.push(gone(sessions))
      return
    }
    victim.kill('SIGKILL')
    this.workerKills.push(victim.pid!)
    this.#running.delete(victim)
    // One that was being started at that moment, too.
    this.#gone.push(gone([...sessions, ...browserSessions(victim.pid)]))
    this.#start()
  }

  async end(): Promise<void> {
    const sessions = [...this.#running].flatMap(({ pid }) => browserSessions(pid))
    for (const { exited } of this.#running) {
      const { code, stderr } = await exited
      expect(code, stderr).toBe(0)
    }
    await Promise.all([...this.#gone, gone(sessions)])
  }

  #start(): void {
    this.#running.add(this.#folder.worker(String(this.#started++)))
  }
}

async function gone(sessions: readonly number[]): Promise<void> {
  await expect.poll(() => pidsIn(sessions), { interval: 200 }).toEqual([])
}

const seeds = Array.from({ length: CRAWLS }, (_, n) => 2000 + n)

test.each(seeds)('seed %i: no page is lost, and no Chromium is left', { timeout: 600_000 }, async (seed) => {
  const random = randomOf(seed)
  await using redis = await startRedis({ appendonly: 'everysec' })
  await using web = await startFakeWebProcess({
    seed,
    hosts: HOSTS,
    pagesPerHost: PAGES_PER_HOST,
    crossHostLinks: 0.2,
    latencyMs: [0, 100],
    hitHeaders: false,
  })
  const settings = {
    REDIS_URL: redis.url,
    CRAWL_ID: freshCrawlId(`browser-kills-${seed}`),
    BROWSER_EXECUTABLE: await ensureChromium(),
    BROWSER_SANDBOX: process.getuid?.() !== 0,
    BROWSER_PAGES,
    CONCURRENT_REQUESTS: 2 * BROWSER_PAGES,
    ...STATS_EACH_SECOND,
    LOG_FORMAT: 'json',
  }
  await using folder = await ClusterFolder.of(web, settings, renderingSpider(web))
  const workers = new Workers(folder, random)
  const moments = Array.from({ length: KILLS }, () => Math.round(web.linked().size * 0.85 * random()))
  for (const hits of moments.toSorted((a, b) => a - b)) {
    await web.waitForHits(hits, 240_000)
    // Waits: at any point of a page's work, not only when a page is asked for.
    await sleep(LATER_MS_MAX * random())
    workers.killOne()
  }
  await workers.end()
  const hits = await web.hits()
  const counts = fetchCounts(hits)
  expect([...web.linked()].filter((url) => !counts.has(url))).toEqual([])
  const items = folder.items() as { url: string; rendered: boolean }[]
  expect(items.filter(({ rendered }) => !rendered)).toEqual([])
  const urls = new Set(items.map(({ url }) => url))
  expect([...web.reachable()].filter((url) => !urls.has(url))).toEqual([])
  const { stats } = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  const repeats = repeatsOfLinks(web, hits)
  // What a killed browser was rendering is fetched again, too.
  const repeatsMax =
    (await folder.repeatsCounted()) +
    repeatsOfSimultaneous(web, hits) +
    BROWSER_PAGES * workers.browserKills.length +
    Number(stats['retry/count'] ?? 0)
  console.log({
    seed,
    pages: counts.size,
    browsers: workers.browserKills.length,
    workers: workers.workerKills.length,
    repeats,
    repeatsMax,
  })
  expect(repeats).toBeLessThanOrEqual(repeatsMax)
})
