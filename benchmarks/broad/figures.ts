/** What a crawl took, as figures by name. */

import type { RedisServer } from '@webloom/testkit'
import { redisUse } from '../curve/redis-use.ts'
import { gapsOf } from './gaps.ts'
import type { SpiderUse } from './pages-spider.ts'
import type { Row } from './rows.ts'
import type { Visits, VisitsQuestion } from './web-child.ts'

/** In the order in which the table has them; what a row does not measure is absent. */
export type Figures = Readonly<Record<string, number>>

/** Under the delay by so much, milliseconds: by the moments that requests leave, and by the server's log. */
const [LEFT_EARLY_MS, ARRIVED_EARLY_MS, ARRIVED_FAR_TOO_EARLY_MS] = [5, 25, 150]

/** From a worker's first page on. `CPU ms` has what it takes to start and to end, too. */
export const CPU_STARTED = 'CPU ms, started'

export function speed({ pages, seconds }: Visits, uses: readonly SpiderUse[]): Figures {
  const all = (of: (use: SpiderUse) => number) => uses.reduce((sum, use) => sum + of(use), 0)
  const startedPages = all(({ afterFirst }) => Math.max(0, afterFirst.pages))
  return {
    seconds,
    'pages/s': pages / seconds,
    'CPU ms': (1000 * all((use) => use.cpuSeconds)) / pages,
    ...(startedPages > 0 && {
      [CPU_STARTED]: (1000 * all(({ afterFirst }) => afterFirst.cpuSeconds)) / startedPages,
    }),
  }
}

export async function costs(
  pages: number,
  queueRedis: RedisServer,
  filterRedis: RedisServer,
): Promise<Figures> {
  const [queue, filter] = [await redisUse(queueRedis), await redisUse(filterRedis)]
  return {
    'queue µs': queue.micros / pages,
    'queue scripts': queue.scripts / pages,
    XADD: queue.streamEntries / pages,
    'filter µs': filter.micros / pages,
    'filter scripts': filter.scripts / pages,
  }
}

export function memory(uses: readonly SpiderUse[]): Figures {
  const most = (field: 'peakRssMb' | 'halfRssMb' | 'endRssMb') => Math.max(...uses.map((use) => use[field]))
  return { 'peak MB': most('peakRssMb'), 'MB at half': most('halfRssMb'), 'MB at end': most('endRssMb') }
}

/** Which gaps the server should look for. */
export function gapsQuestion({ delaySeconds }: Row): VisitsQuestion {
  if (delaySeconds === undefined) return {}
  const delayMs = delaySeconds * 1000
  return { delayMs, limitsMs: [delayMs - ARRIVED_EARLY_MS, delayMs - ARRIVED_FAR_TOO_EARLY_MS] }
}

export function pace(
  { delaySeconds, pagesPerHost }: Row,
  visits: Visits,
  uses: readonly SpiderUse[],
): Figures {
  if (delaySeconds === undefined) return {}
  const delayMs = delaySeconds * 1000
  const leaves = uses.flatMap((use) => use.leaves)
  const left = gapsOf(leaves, delayMs, [delayMs - LEFT_EARLY_MS, delayMs - ARRIVED_EARLY_MS])
  const gaps = visits.gaps!
  const [early, farTooEarly] = gaps.shorter
  return {
    // From the first page to the last: pages after a host's first take a delay each, at all hosts at the same time.
    '% of the pages/s allowed': (100 * (pagesPerHost - 1) * delaySeconds) / visits.seconds,
    '% of the pace allowed, mean of hosts': 100 * gaps.ofAllowed,
    'smallest gap left, ms': left.smallestMs,
    [`gaps left under delay − ${LEFT_EARLY_MS} ms`]: left.shorter[0]!.count,
    [`% of gaps left under delay − ${ARRIVED_EARLY_MS} ms`]: (100 * left.shorter[1]!.count) / left.count,
    'smallest gap arrived, ms': gaps.smallestMs,
    [`% of gaps arrived under delay − ${ARRIVED_EARLY_MS} ms`]: (100 * early!.count) / gaps.count,
    [`gaps arrived under delay − ${ARRIVED_FAR_TOO_EARLY_MS} ms`]: farTooEarly!.count,
  }
}
