import type { SlotView } from '@webloom/core'
import type { Redis } from 'ioredis'
import { SlotScripts } from '../buckets/scripts/slot-scripts.ts'
import { isBucket } from '../politeness/bucket-of.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { readHostTotals } from './host-totals.ts'

const SLOTS_PER_LOOK = 100
/** Enough that a mean over as many hosts is right to a few hundredths. */
const SLOTS_MAX = 500
const HOT_MAX = 100

/** Some of the slots of which something waits. */
export interface SlotSample {
  /** All hot ones, up to a hundred: what is queued of a few large hosts may be most of a crawl. */
  readonly hot: readonly SlotView[]
  /** The other slots of some buckets, which chance has chosen. */
  readonly others: readonly SlotView[]
  /** How many others there are for each of these. */
  readonly weight: number
}

/** Takes a bounded time of Redis, however many hosts there are. QUEUE_MODE=turns alone keeps slots. */
export async function sampleSlots(redis: Redis, keys: CrawlRedisKeys): Promise<SlotSample> {
  const scripts = new SlotScripts(redis, keys)
  const [totals, units] = await Promise.all([readHostTotals(redis, keys), scripts.units()])
  const hotNames = units.filter((unit) => !isBucket(unit)).slice(0, HOT_MAX)
  const { slots: hot } = await scripts.slots('', '0', 0, hotNames)
  const others = new Map<string, SlotView>()
  for (const bucket of inAnyOrder(units.filter(isBucket))) {
    let cursor = '0'
    do {
      const part = await scripts.slots(bucket, cursor, SLOTS_PER_LOOK, [])
      cursor = part.cursor
      for (const slot of part.slots) if (slot.state !== 'hot') others.set(slot.slot, slot)
    } while (cursor !== '0' && others.size < SLOTS_MAX)
    if (others.size >= SLOTS_MAX) break
  }
  const otherCount = Math.max(others.size, totals.withLine - totals.hot)
  return { hot, others: [...others.values()], weight: others.size === 0 ? 0 : otherCount / others.size }
}

function inAnyOrder<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}
