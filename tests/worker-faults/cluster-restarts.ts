/** All workers of a crawl killed with -9 at one moment, and as many started some seconds later. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startFakeWebProcess } from '@webloom/testkit'
import { expect } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  freshCrawlId,
  randomOf,
  repeatsOfLinks,
} from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'
import { allowedRepeats } from './allowed-repeats.ts'

export interface RestartRound {
  readonly seed: number
  readonly mode: 'turns' | 'job'
  readonly pages: number
  readonly queueRedis: RedisServer
  readonly filterRedis: RedisServer
  /**
   * What waits is fetched within the five seconds for which the filter keeps a page's marks, and the links of unsettled pages
   * come free as soon as the workers are back: so pages that stand twice were told "new" again, and all their links with them.
   */
  readonly isFast?: boolean
}

/** What a round has shown, by the server's own log. */
export interface RestartRoundResult {
  readonly seed: number
  readonly pages: number
  /** Fetches beyond the first of each page. */
  readonly repeats: number
  /** What guarantee 1 allows: see `allowedRepeats`. */
  readonly repeatsMax: number
  readonly downMs: number
}

const WORKERS = 3

/** Throws where a page is missing, or a worker does not end in order. */
export async function restartRound(round: RestartRound): Promise<RestartRoundResult> {
  const { seed, mode, pages, queueRedis, filterRedis, isFast = false } = round
  const random = randomOf(seed)
  const concurrency = isFast ? 16 : 8
  const hosts = 10
  await using web = await startFakeWebProcess({
    seed,
    hosts,
    pagesPerHost: pages / hosts,
    crossHostLinks: 0.2,
    latencyMs: isFast ? [10, 40] : [50, 300],
    hitHeaders: false,
  })
  await using folder = await ClusterFolder.of(web, {
    QUEUE_REDIS_URL: queueRedis.url,
    DUPEFILTER_REDIS_URL: [filterRedis.url],
    CRAWL_ID: freshCrawlId(`restart-${mode}-${seed}`),
    QUEUE_MODE: mode,
    CONCURRENT_REQUESTS: concurrency,
    LOG_FORMAT: 'json',
  })
  let started = 0
  const startAll = () => Array.from({ length: WORKERS }, () => folder.worker(`${seed}-${started++}`))
  const first: Running[] = startAll()
  await web.waitForHits(Math.round(pages * (isFast ? 0.06 : 0.03 + 0.12 * random())), 240_000)
  for (const worker of first) worker.kill('SIGKILL')
  const killedAtMs = performance.now()
  const downMs = isFast ? 8000 : 4000 + Math.round(4000 * random())
  // Waits: so long the server is away.
  await sleep(downMs)
  for (const worker of startAll()) {
    const { code, stderr } = await worker.exited
    expect(code, stderr).toBe(0)
  }
  const hits = await web.hits()
  const counts = fetchCounts(hits)
  expect(
    [...web.linked()].filter((url) => !counts.has(url)),
    `seed ${seed}: pages never crawled`,
  ).toEqual([])
  return {
    seed,
    pages: counts.size,
    repeats: repeatsOfLinks(web, hits),
    repeatsMax: allowedRepeats(web, hits, { killedAtMs, heldMax: WORKERS * concurrency }),
    downMs,
  }
}
