import type { SlotView } from '@webloom/core'
import type { Redis } from 'ioredis'
import { SlotScripts } from '../buckets/scripts/slot-scripts.ts'
import { isBucket } from '../politeness/bucket-of.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { type CrawlShards, readShards } from '../shards/crawl-shards.ts'
import { readHostTotals } from './host-totals.ts'
import { askQueues } from './shards-asked.ts'

const SLOTS_PER_LOOK = 100
/** Enough that a mean over as many hosts is right to a few hundredths. */
const SLOTS_MAX = 500
const HOT_MAX = 100

/** Some of the slots of which something waits. */
export interface SlotSample {
  /** All hot ones, or the hundred of them with the most that waits: what is queued of a few large hosts may be most of a crawl. */
  readonly hot: readonly SlotView[]
  /** How many hot ones there are for each of these. */
  readonly hotWeight: number
  /** The other slots of some buckets, which chance has chosen. */
  readonly others: readonly SlotView[]
  /** How many others there are for each of these. */
  readonly weight: number
}

/** Takes a bounded time of Redis, however many hosts there are. QUEUE_MODE=turns alone keeps slots. Shards that do not answer are left out. */
export async function sampleSlots(redis: Redis, home: CrawlRedisKeys): Promise<SlotSample> {
  const shards = await readShards(redis, home)
  const [totals, parts] = await Promise.all([
    readHostTotals(redis, home),
    askQueues(redis, shards, (keys) => samplePart(redis, keys, shards)),
  ])
  const others = parts.flatMap((part) => part.others)
  const otherCount = Math.max(others.length, totals.withLine - totals.hot)
  const hot = parts
    .flatMap((part) => part.hot)
    .sort((a, b) => b.waiting - a.waiting)
    .slice(0, HOT_MAX)
  const hotCount = Math.max(hot.length, totals.hot)
  return { hot, others, hotWeight: weightOf(hotCount, hot), weight: weightOf(otherCount, others) }
}

function weightOf(count: number, sample: readonly SlotView[]): number {
  return sample.length === 0 ? 0 : count / sample.length
}

/** Reads a shard's part of the sample: of several shards each has about as many slots that are not hot, but the hot ones may all be in one. */
async function samplePart(
  redis: Redis,
  keys: CrawlRedisKeys,
  { count, buckets }: CrawlShards,
): Promise<Pick<SlotSample, 'hot' | 'others'>> {
  const scripts = new SlotScripts(redis, keys, buckets)
  const max = Math.ceil(SLOTS_MAX / count)
  const units = await scripts.units()
  const hotNames = units.filter((unit) => !isBucket(unit)).slice(0, HOT_MAX)
  const { slots: hot } = await scripts.slots('', '0', 0, hotNames)
  const others = new Map<string, SlotView>()
  for (const bucket of inAnyOrder(units.filter(isBucket))) {
    let cursor = '0'
    do {
      const part = await scripts.slots(bucket, cursor, SLOTS_PER_LOOK, [])
      cursor = part.cursor
      for (const slot of part.slots) if (slot.state !== 'hot') others.set(slot.slot, slot)
    } while (cursor !== '0' && others.size < max)
    if (others.size >= max) break
  }
  return { hot, others: [...others.values()] }
}

function inAnyOrder<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}
