/** How many workers would help a crawl on Redis, by what Redis knows at this moment. */

import type { CrawlStatus, ScaleSeen, SlotView } from '@webloom/core'
import { readSamples, SAMPLES_PER_HOUR, sampleSlots } from '@webloom/queue'
import type { CrawlFromOutside } from '../../assembly/crawl-from-outside.ts'
import { type Paces, paced, readPaces } from '../hosts/paces.ts'
import { SHOWN_MS, ShownSpeeds } from './shown-speeds.ts'
import { workersWanted } from './workers-wanted.ts'

/** Of the time that speeds are looked for in. */
const SAMPLES_MAX = 1 + (SHOWN_MS / 3_600_000) * SAMPLES_PER_HOUR

export async function readScale(crawl: CrawlFromOutside, status: CrawlStatus): Promise<ScaleSeen> {
  const paces = await readPaces(crawl)
  const concurrency = paces.settings.getInt('CONCURRENT_REQUESTS')
  const [shown, slots] = await Promise.all([
    shownIn(crawl, status),
    status.mode === 'job' ? undefined : slotsOf(crawl, paces),
  ])
  return workersWanted({ status, concurrency, shown, ...(slots && { slots }) })
}

/** Those of an earlier run may have had other settings. */
async function shownIn({ redis, keys }: CrawlFromOutside, { readAt, begunAt }: CrawlStatus) {
  const samples = await readSamples(redis, keys, SAMPLES_MAX)
  const sinceMs = Math.max(Date.parse(readAt) - SHOWN_MS, begunAt ? Date.parse(begunAt) : 0)
  return new ShownSpeeds(samples, sinceMs)
}

async function slotsOf({ redis, keys }: CrawlFromOutside, paces: Paces) {
  const { hot, hotWeight, others, weight } = await sampleSlots(redis, keys)
  const atPace = (slot: SlotView) => ({
    ...paced(slot, paces),
    concurrency: paces.pace(slot.slot).concurrency,
  })
  return [
    ...hot.map((slot) => ({ slot: atPace(slot), weight: hotWeight })),
    ...others.map((slot) => ({ slot: atPace(slot), weight })),
  ]
}
