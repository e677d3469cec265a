/** How slots stand, as Redis tells it to whoever looks from outside. */

import type { SlotState, SlotView } from '@webloom/core'
import type { Redis } from 'ioredis'
import { bucketOf } from '../../politeness/bucket-of.ts'
import type { CrawlRedisKeys } from '../../redis/crawl-redis-keys.ts'
import { luaScript } from '../../redis/lua.ts'
import { keyListOf } from './key-list.ts'

const slotsScript = luaScript(
  'slots/clock.lua',
  'slots/keys.lua',
  'slots/wake.lua',
  'slots/short-line.lua',
  'slots/lines.lua',
  'slots/record.lua',
  'buckets/slots.lua',
)
/** Reading does not depend on it. */
const ANY_ORDER = 'priority'

export class SlotScripts {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #buckets: number

  /** @param buckets how many there are, of a shard in its place */
  constructor(redis: Redis, keys: CrawlRedisKeys, buckets: number) {
    this.#redis = redis
    this.#keys = keys
    this.#buckets = buckets
  }

  /**
   * Resolves to how some slots stand: those that are named, and some of the bucket's from the cursor on; and to where to go on, '0'
   * when those were all. A slot may come twice.
   */
  async slots(
    bucket: string,
    cursor: string,
    count: number,
    slots: readonly string[],
  ): Promise<{ cursor: string; slots: SlotView[] }> {
    const named = slots.flatMap((slot) => [bucketOf(slot, this.#buckets), slot])
    const reply = await slotsScript.run(this.#redis, keyListOf(this.#keys), [
      ANY_ORDER,
      bucket,
      cursor,
      count,
      ...named,
    ])
    const [next, views] = reply as [string, SlotReply[]]
    return { cursor: next, slots: views.map(slotViewOf) }
  }

  /** Resolves to slots that are paused, the longest first. */
  async pausedSlots(most: number): Promise<string[]> {
    return this.#redis.zrevrangebyscore(
      `${this.#keys.frontier}:paused`,
      '+inf',
      String(Date.now()),
      'LIMIT',
      0,
      most,
    )
  }

  /** Resolves to buckets with anything to do, and to hot slots. */
  async units(): Promise<string[]> {
    const jobs = await this.#redis.zrange(`${this.#keys.frontier}:due`, '0', '-1')
    return [...new Set(jobs.map((job) => job.replace(/~\d+~\d+$/, '')))]
  }
}

/** As a line has them; see slots/lines.lua. */
const SLOT_STATES = { '': 'none', r: 'ready', l: 'later', w: 'held', h: 'hot' } as const
type SlotReply = [
  slot: string,
  waiting: number,
  delayed: number,
  leased: number,
  nextInMs: number,
  delayMs: number,
  failures: number,
  pausedMs: number,
  why: string,
  state: keyof typeof SLOT_STATES,
  lanes: number,
  holders: string[],
]

/** A line tells ready and later as when it was last tried; its record tells which of the two holds now. */
function stateOf(state: keyof typeof SLOT_STATES, waitMs: number): SlotState {
  if (state === 'r' || state === 'l') return waitMs > 0 ? 'later' : 'ready'
  return SLOT_STATES[state]
}

function slotViewOf([
  name,
  waiting,
  delayed,
  leased,
  nextInMs,
  delayMs,
  failures,
  pausedMs,
  why,
  state,
  lanes,
  holders,
]: SlotReply): SlotView {
  const slot = decodeURIComponent(name)
  const pace = { slot, waiting, delayed, leased, nextInMs, delayMs, failures, pausedMs }
  const view = { ...pace, state: stateOf(state, nextInMs + pausedMs), lanes, holders }
  return why === '' ? view : { ...view, pauseReason: why }
}
