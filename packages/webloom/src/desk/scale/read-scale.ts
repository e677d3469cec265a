/** How many workers would help a crawl on Redis, by what Redis knows at this moment. */

import type { CrawlStatus, ScaleSeen, Settings, SlotView } from '@webloom/core'
import {
  paceOf,
  readHostOrders,
  readSamples,
  readSettings,
  SAMPLES_PER_HOUR,
  sampleSlots,
} from '@webloom/queue'
import type { CrawlFromOutside } from '../../assembly/crawl-from-outside.ts'
import { paceAsTold } from './pace-as-told.ts'
import { SHOWN_MS, ShownSpeeds } from './shown-speeds.ts'
import { workersWanted } from './workers-wanted.ts'

/** Of the time that speeds are looked for in. */
const SAMPLES_MAX = 1 + (SHOWN_MS / 3_600_000) * SAMPLES_PER_HOUR

export async function readScale(crawl: CrawlFromOutside, status: CrawlStatus): Promise<ScaleSeen> {
  // Whoever asks may have other settings than the workers, which were started elsewhere.
  const settings = paceAsTold(crawl.crawler.settings, await readSettings(crawl.redis, crawl.keys))
  const concurrency = settings.getInt('CONCURRENT_REQUESTS')
  const [shown, slots] = await Promise.all([
    shownIn(crawl, status),
    status.mode === 'job' ? undefined : slotsOf(crawl, settings),
  ])
  return workersWanted({ status, concurrency, shown, ...(slots && { slots }) })
}

/** Those of an earlier run may have had other settings. */
async function shownIn({ redis, keys }: CrawlFromOutside, { readAt, begunAt }: CrawlStatus) {
  const samples = await readSamples(redis, keys, SAMPLES_MAX)
  const sinceMs = Math.max(Date.parse(readAt) - SHOWN_MS, begunAt ? Date.parse(begunAt) : 0)
  return new ShownSpeeds(samples, sinceMs)
}

async function slotsOf(crawl: CrawlFromOutside, settings: Settings) {
  const [{ hot, hotWeight, others, weight }, orders] = await Promise.all([
    sampleSlots(crawl.redis, crawl.keys),
    readHostOrders(crawl),
  ])
  const pace = paceOf(settings)
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
