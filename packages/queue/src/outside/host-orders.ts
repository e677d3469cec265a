/**
 * Orders for single hosts while a crawl runs: `webloom host`. They are on Redis as long as the crawl's run, and hold for all its
 * workers: each learns with a heartbeat that there are others than before, and whoever gives one calls for a heartbeat at once.
 *
 *     {"at":<when, by Redis's clock>,"delayMs":2000,"pausedUntilMs":<by Redis's clock>,"isBoosted":true}    what is absent is not ordered
 *
 * What waits in Redis itself is changed by the workers then (`slots/steer.lua`).
 */

import { type HostOrder, type HostOrders, redisNowMs } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'

/** An order as it is kept. */
interface KeptOrder {
  readonly at: number
  readonly delayMs?: number
  readonly pausedUntilMs?: number
  /** Somebody ended a pause that nobody had ordered. */
  readonly resumedAtMs?: number
  readonly isBoosted?: boolean
}

/** Workers know of an order within two seconds. One that comes later must not end a pause that the host has asked for since. */
const RESUME_HOLDS_MS = 10_000

/** What is to be changed of a host's order; null takes that part back, and what is absent stays. */
export interface HostOrderChange {
  readonly delayMs?: number | null
  /** From now on; 0 and null end any pause. */
  readonly pauseMs?: number | null
  readonly boost?: boolean
}

/** `full`: so many hosts have orders already that another is refused. */
export type HostOrderResult = 'ordered' | 'no crawl' | 'full'

export const HOST_ORDERS_MAX = 1000

const ORDER_TRIES_MAX = 100
/** What the script answers. */
const CHANGED_MEANWHILE = 2
const FULL = -1
const RESULTS: Readonly<Record<string, HostOrderResult>> = { '1': 'ordered', '0': 'no crawl', '-1': 'full' }

const orderScript = new OomSafeScript('redis/now.lua', 'members/order-host.lua')

interface CrawlOnRedis {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
}

/**
 * Changes the order of a host, for all workers within two seconds.
 *
 * @param host as requests' slots are named: the host, or what CONCURRENT_REQUESTS_PER_IP and the like make of it
 */
export async function orderHost(
  { redis, keys }: CrawlOnRedis,
  host: string,
  change: HostOrderChange,
): Promise<HostOrderResult> {
  // Somebody else may change another part of it at this moment.
  for (let times = 0; times < ORDER_TRIES_MAX; times++) {
    const before = await redis.hget(keys.hostOrders, host)
    const nowMs = await redisNowMs(redis)
    const { at: _, ...order } = changed(keptOf(before) ?? { at: 0 }, change, nowMs)
    const text = hasMore({ at: 0, ...order }) ? JSON.stringify(order) : ''
    const args = [host, text, HOST_ORDERS_MAX, before ?? '']
    const answer = await orderScript.run(redis, [keys.record, keys.hostOrders], args)
    if (answer === FULL && times === 0 && (await takeBackOver({ redis, keys }))) continue
    if (answer !== CHANGED_MEANWHILE) return RESULTS[String(answer)]!
  }
  throw new Error(`the order for ${host} is changed by others all the time; try again`)
}

/** Resolves to the orders that there are, by host. A pause counts from now on; one that is over is left out. */
export async function readHostOrders({ redis, keys }: CrawlOnRedis): Promise<HostOrders> {
  const [texts, nowMs] = await Promise.all([redis.hgetall(keys.hostOrders), redisNowMs(redis)])
  const orders = Object.entries(texts).flatMap(([host, text]) => {
    const kept = keptOf(text)
    const order = kept && asOrder(kept, nowMs)
    return order && hasMore(order) ? [[host, order] as const] : []
  })
  return new Map(orders)
}

/** Resolves to whether there were orders of which nothing holds any more. */
async function takeBackOver({ redis, keys }: CrawlOnRedis): Promise<boolean> {
  const [texts, nowMs] = await Promise.all([redis.hgetall(keys.hostOrders), redisNowMs(redis)])
  const over = Object.entries(texts).filter(([, text]) => {
    const kept = keptOf(text)
    return kept && !hasMore(asOrder(kept, nowMs))
  })
  await Promise.all(
    over.map(([host, text]) =>
      orderScript.run(redis, [keys.record, keys.hostOrders], [host, '', HOST_ORDERS_MAX, text]),
    ),
  )
  return over.length > 0
}

/** Something is ordered, besides when. */
function hasMore({ at: _, ...order }: HostOrder): boolean {
  return Object.keys(order).length > 0
}

function changed(before: KeptOrder, { delayMs, pauseMs, boost }: HostOrderChange, nowMs: number): KeptOrder {
  const { delayMs: delayBefore, pausedUntilMs: untilBefore, isBoosted: boostBefore, at } = before
  // To take a pause back that was ordered ends whatever pause there is.
  const isEnded = pauseMs !== undefined && !pauseMs && !(untilBefore !== undefined && untilBefore > nowMs)
  const resumedAtMs = isEnded ? nowMs : pauseMs ? undefined : before.resumedAtMs
  const delay = delayMs === undefined ? delayBefore : (delayMs ?? undefined)
  const until = pauseMs === undefined ? untilBefore : pauseMs ? nowMs + pauseMs : undefined
  const isBoosted = boost ?? boostBefore
  return {
    at,
    ...(delay !== undefined && { delayMs: delay }),
    ...(until !== undefined && until > nowMs && { pausedUntilMs: until }),
    ...(resumedAtMs !== undefined && isResumed(resumedAtMs, nowMs) && { resumedAtMs }),
    ...(isBoosted && { isBoosted }),
  }
}

function isResumed(resumedAtMs: number, nowMs: number): boolean {
  return nowMs - resumedAtMs < RESUME_HOLDS_MS
}

function asOrder({ pausedUntilMs, resumedAtMs, ...order }: KeptOrder, nowMs: number): HostOrder {
  if (resumedAtMs !== undefined && isResumed(resumedAtMs, nowMs)) return { ...order, pauseMs: 0 }
  if (pausedUntilMs === undefined || pausedUntilMs <= nowMs) return order
  return { ...order, pauseMs: pausedUntilMs - nowMs }
}

function keptOf(text: string | null): KeptOrder | undefined {
  if (text === null) return undefined
  try {
    return JSON.parse(text) as KeptOrder
  } catch {
    return undefined
  }
}
