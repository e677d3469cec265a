/**
 * What a crawl was doing, moment by moment: the points of the curves that dashboards draw.
 *
 * About every ten seconds one worker of all adds a sample to a list of bounded length; which one, the heartbeat's script
 * decides. A sample is an array of numbers in the order of `PARTS`, with the number of its form before them:
 *
 *     [1,1764086400,7123,120,3,150000,20,16,4,1420,24,0]
 *
 * So a day of them takes about 700 KB, and nobody needs a database of time series. A worker that is killed between the two
 * steps leaves a gap of ten seconds.
 */

import { type HistorySample, totalsOf } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlView } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

const FORM = 1
const PARTS = [
  'pages',
  'items',
  'errors',
  'waiting',
  'delayed',
  'leased',
  'workers',
  'pagesPerMinute',
  'itemsPerMinute',
  'errorsPerMinute',
] as const satisfies readonly (keyof HistorySample)[]

export const SAMPLES_PER_HOUR = 360

/** Adds the crawl as it was seen, and drops what is over `max`. */
export async function keepSample(
  redis: Redis,
  keys: CrawlRedisKeys,
  seen: CrawlView,
  max: number,
): Promise<void> {
  await Promise.all([
    redis.rpush(keys.history, packedSample(sampleOf(seen))),
    redis.ltrim(keys.history, -max, -1),
  ])
}

/** Resolves to the latest samples, at most `max`, the oldest first. */
export async function readSamples(redis: Redis, keys: CrawlRedisKeys, max: number): Promise<HistorySample[]> {
  const texts = await redis.lrange(keys.history, -max, -1)
  return texts.flatMap((text) => unpackedSample(text) ?? [])
}

function sampleOf({ readAt, stats, counts, workers, ...rates }: CrawlView): HistorySample {
  const present = workers.filter(({ lost }) => !lost)
  const { pages, items, errors } = totalsOf(stats)
  return {
    // To the second.
    atMs: Math.round(readAt.getTime() / 1000) * 1000,
    pages,
    items,
    errors,
    waiting: counts.waiting,
    delayed: counts.delayed,
    leased: counts.leased,
    workers: present.length,
    pagesPerMinute: rates.pagesPerMinute,
    itemsPerMinute: rates.itemsPerMinute,
    errorsPerMinute: rates.errorsPerMinute,
  }
}

function packedSample(sample: HistorySample): string {
  return JSON.stringify([FORM, sample.atMs / 1000, ...PARTS.map((part) => sample[part])])
}

/** Returns undefined for a sample of another form. */
function unpackedSample(text: string): HistorySample | undefined {
  const [form, at, ...parts] = JSON.parse(text) as number[]
  if (form !== FORM) return undefined
  const named = PARTS.map((part, n) => [part, parts[n] ?? 0])
  return { atMs: at! * 1000, ...Object.fromEntries(named) } as HistorySample
}
