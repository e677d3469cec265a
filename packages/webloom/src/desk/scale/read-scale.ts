/** How many workers would help a crawl on Redis, by what Redis knows at this moment. */

import type { CrawlStatus, ScaleSeen, SlotView } from '@webloom/core'
import { paceOf, readHostOrders, sampleSlots } from '@webloom/queue'
import type { CrawlFromOutside } from '../../assembly/crawl-from-outside.ts'
import { workersWanted } from './workers-wanted.ts'

export async function readScale(crawl: CrawlFromOutside, status: CrawlStatus): Promise<ScaleSeen> {
  const concurrency = crawl.crawler.settings.getInt('CONCURRENT_REQUESTS')
  if (status.mode === 'job') return workersWanted({ status, concurrency })
  return workersWanted({ status, concurrency, slots: await slotsOf(crawl) })
}

async function slotsOf(crawl: CrawlFromOutside) {
  const [{ hot, hotWeight, others, weight }, orders] = await Promise.all([
    sampleSlots(crawl.redis, crawl.keys),
    readHostOrders(crawl),
  ])
  const pace = paceOf(crawl.crawler.settings)
  const paced = (slot: SlotView) => {
    const { delayMs, concurrency } = pace(slot.slot)
    const holds = orders.get(slot.slot)?.delayMs ?? Math.max(delayMs, slot.delayMs)
    return { ...slot, delayMs: holds, concurrency }
  }
  return [
    ...hot.map((slot) => ({ slot: paced(slot), weight: hotWeight })),
    ...others.map((slot) => ({ slot: paced(slot), weight })),
  ]
}
