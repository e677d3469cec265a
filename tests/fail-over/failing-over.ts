/** Crawls whose Redis fails over in the middle: the master is killed, and a replica takes its place. */

import {
  type Hit,
  InUse,
  MachineLag,
  type SentinelRedis,
  startCluster,
  startFakeWebProcess,
  startSentinels,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, expectComplete, followingSpider, freshCrawlId } from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'

/** Downloads at once of each of the two workers. */
export const CONCURRENCY = 8
/** A replica may be so much older than its master: with more the master takes no writes (`min-replicas-max-lag 1`). */
const REPLICA_BEHIND_MS = 1000
/** How soon after the new master serves pages are fetched again. */
const GOES_ON_MS_MAX = 5000

/** A Redis with a spare. */
export interface Spared extends AsyncDisposable {
  readonly url: string
  /** Kills the master. Resolves to when that was, and when another one took writes, by this process's clock. */
  failOver(queueName: string): Promise<{ readonly goneAtMs: number; readonly servesAtMs: number }>
}

/** @param downAfterMs how long a master is silent when it counts as gone */
export async function sentinels(downAfterMs = 3000): Promise<Spared> {
  const redis: SentinelRedis = await startSentinels({ downAfterMs })
  return {
    url: redis.url,
    async failOver() {
      const master = await redis.untilWritable()
      const goneAtMs = performance.now()
      await master.kill()
      await redis.untilWritable(master)
      return { goneAtMs, servesAtMs: performance.now() }
    },
    [Symbol.asyncDispose]: () => redis.stop(),
  }
}

/** Three masters, each with a replica: that which has the queue is killed. */
export async function cluster(): Promise<Spared> {
  const redis = await startCluster({ replicas: 1 })
  return {
    url: redis.url,
    async failOver(queueName) {
      const key = `webloom:${queueName}:record`
      const master = await redis.masterOf(key)
      const goneAtMs = performance.now()
      await master!.kill()
      await redis.untilWritable(`${key}:testkit`, master)
      return { goneAtMs, servesAtMs: performance.now() }
    },
    [Symbol.asyncDispose]: () => redis.stop(),
  }
}

interface FailOver {
  readonly mode: 'turns' | 'job'
  readonly seed: number
  /** Of the pages: so many were fetched when the master is killed. */
  readonly part: number
  readonly pagesPerHost?: number
  /** Of the protocol's times: see `SHORT_TIMES`. */
  readonly factor?: number
}

export async function failsOver(
  start: () => Promise<Spared>,
  { mode, seed, part, pagesPerHost = 150, factor = 1 }: FailOver,
): Promise<void> {
  await using used = new InUse()
  const redis = used.use(await start())
  const web = used.use(
    await startFakeWebProcess({
      seed,
      hosts: 4,
      pagesPerHost,
      crossHostLinks: 0.2,
      latencyMs: [0, 40],
    }),
  )
  const crawlId = freshCrawlId(`fail-over-${mode}`)
  const folder = used.use(
    await ClusterFolder.of(
      web,
      {
        REDIS_URL: redis.url,
        CRAWL_ID: crawlId,
        QUEUE_MODE: mode,
        CONCURRENT_REQUESTS: CONCURRENCY,
        LOG_FORMAT: 'json',
      },
      followingSpider(web),
      factor,
    ),
  )
  const workers: Running[] = ['a', 'b'].map((name) => folder.worker(name))
  await web.waitForHits(Math.round(part * web.linked().size), 120_000)
  using lag = new MachineLag()
  const { goneAtMs, servesAtMs } = await redis.failOver(`{pages@${crawlId}}`)
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  const logs = ended.map(({ stderr }) => stderr).join('\n')
  for (const { code } of ended) expect(code, logs).toBe(0)
  const hits = await web.hits()
  expectGoesOn(hits, { servesAtMs, lag, logs })
  await expectComplete(web, folder, { more: mayRepeat(hits, { goneAtMs, untilMs: goneAtMs }, web) })
}

/** Expects that pages were fetched again soon after the new master served, unless all had been fetched by then. */
export function expectGoesOn(
  hits: readonly Hit[],
  { servesAtMs, lag, logs }: { readonly servesAtMs: number; readonly lag: MachineLag; readonly logs: string },
): void {
  const later = hits.map(({ atMs }) => atMs).filter((atMs) => atMs > servesAtMs)
  if (later.length === 0) return
  const nextMs = Math.min(...later)
  expect(nextMs - servesAtMs, `when pages were fetched again\n${logs}`).toBeLessThan(
    GOES_ON_MS_MAX + lag.between(servesAtMs, nextMs),
  )
}

/**
 * The pages of the time that the replica had not heard of, those in flight, and, as the filter has forgotten with the queue which
 * links were new, the links of both.
 */
export function mayRepeat(
  hits: readonly Hit[],
  /** Until when the old master may have taken what nobody else has. */
  { goneAtMs, untilMs }: { readonly goneAtMs: number; readonly untilMs: number },
  web: { page(url: string): { readonly links: readonly string[] } | undefined },
): number {
  const lost = hits.filter(({ atMs }) => atMs > goneAtMs - REPLICA_BEHIND_MS && atMs < untilMs)
  const links = new Set(lost.flatMap(({ url }) => web.page(url)?.links ?? []))
  return lost.length + 2 * CONCURRENCY + links.size
}
