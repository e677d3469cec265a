import type { SlotView } from '@webloom/core'
import type { Redis } from 'ioredis'
import { SlotScripts } from '../buckets/scripts/slot-scripts.ts'
import { isBucket } from '../politeness/bucket-of.ts'
import { slotKey } from '../politeness/slot-key.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { readShards } from '../shards/crawl-shards.ts'
import { askQueues } from './shards-asked.ts'

/** How many slots are looked at; of more, the largest of these are shown. */
const LOOKED_AT_MAX = 2000
const MAX_SLOTS_PER_LOOK = 200

/**
 * Returns slots of which something waits: paused ones, longest pause first, then those with the most waiting. At most `most`; none of shards that do not answer.
 * Paused and hot ones are looked at first, of the others as many as one look may take.
 */
export async function readSlots(redis: Redis, home: CrawlRedisKeys, most: number): Promise<SlotView[]> {
  const shards = await readShards(redis, home)
  const lookedAtMax = Math.ceil(LOOKED_AT_MAX / shards.count)
  const seen = await askQueues(redis, shards, (keys) =>
    slotsOf(new SlotScripts(redis, keys, shards.buckets), lookedAtMax),
  )
  return seen
    .flat()
    .sort((a, b) => b.pausedMs - a.pausedMs || b.waiting - a.waiting || (a.slot < b.slot ? -1 : 1))
    .slice(0, most)
}

async function slotsOf(scripts: SlotScripts, lookedAtMax: number): Promise<SlotView[]> {
  const seen = new Map<string, SlotView>()
  const look = async (bucket: string, cursor: string, slots: readonly string[] = []): Promise<string> => {
    const part = await scripts.slots(bucket, cursor, MAX_SLOTS_PER_LOOK, slots)
    for (const view of part.slots)
      if (view.waiting + view.delayed + view.leased + view.pausedMs > 0) seen.set(view.slot, view)
    return part.cursor
  }
  const paused = await scripts.pausedSlots(MAX_SLOTS_PER_LOOK)
  const units = await scripts.units()
  await look(
    '',
    '0',
    [...new Set([...paused, ...units.filter((unit) => !isBucket(unit))])].slice(0, lookedAtMax),
  )
  for (const bucket of units.filter(isBucket)) {
    let cursor = '0'
    do cursor = await look(bucket, cursor)
    while (cursor !== '0' && seen.size < lookedAtMax)
    if (seen.size >= lookedAtMax) break
  }
  return [...seen.values()]
}

/** Returns how one slot stands, by the name that settings and pages know it by. One that the crawl never reached has nothing waiting. */
export async function readSlot(redis: Redis, home: CrawlRedisKeys, slot: string): Promise<SlotView> {
  const key = slotKey(slot)
  const shards = await readShards(redis, home)
  const { slots } = await new SlotScripts(redis, shards.ofSlot(key), shards.buckets).slots('', '0', 0, [key])
  return slots[0]!
}
