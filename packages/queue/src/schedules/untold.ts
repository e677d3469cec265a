/**
 * What people are yet to be told of the schedules of a spider: of a run that could not be, or of a schedule that is gone. No worker is
 * there whose monitors would tell it.
 *
 *     <schedules>:untold   hash: id → what is to be told, as JSON
 *
 * It is noted in the step that notes the fire as failed. Whoever serves the spider takes what is due, tries each channel once, and notes
 * on which it is still to be sent, and when. When that process dies, another takes it: then it may be told twice, with the same id.
 */

import { randomUUID } from 'node:crypto'
import { redisNowMs } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'

const changeScript = luaScript('schedules/note-untold.lua')

export interface UntoldRun {
  /** That of the message, whoever sends it, and however often. */
  readonly id: string
  readonly schedule: string
  readonly crawlId: string | null
  /** Why it could not be; without secrets. */
  readonly why: string
  /** It is about the schedule itself, and `why` says all. */
  readonly isGone?: true
  /** Milliseconds. */
  readonly at: number
  /** How often it was tried. */
  readonly tries: number
  /** Name of a channel on which it is still to be sent → why the last try failed. Absent before the first. */
  readonly left?: Readonly<Record<string, string>>
}

/** `nextMs`: nobody takes it before, by Redis's clock. */
type StoredUntold = UntoldRun & { readonly nextMs: number }

export interface TakenUntold {
  readonly untold: UntoldRun
  /** Notes on which channels it is still to be sent, and why; on none: it is told, or given up. */
  tried(left: Readonly<Record<string, string>>): Promise<void>
}

/** Of one spider: more are in the log, and in `webloom schedule list`. */
export const UNTOLD_MAX = 100
/** A try takes less: each channel has ten seconds. Then another process takes it. */
const HELD_MS = 30_000
/** That after the first try; each further one is twice as long, as at the end of a run. */
const FIRST_PAUSE_MS = 1000
const PAUSE_MS_MAX = 600_000
/** What is so old is given up. */
const KEPT_MS = 7 * 24 * 3_600_000

export const untoldKey = ({ schedules }: CrawlRedisKeys) => `${schedules}:untold`

export type NewUntold = Pick<UntoldRun, 'schedule' | 'crawlId' | 'why' | 'isGone'>

/** Returns its id, and it, as it is kept. */
export function newUntold(untold: NewUntold): [id: string, text: string] {
  const id = randomUUID()
  return [id, JSON.stringify({ ...untold, id, at: Date.now(), tries: 0, nextMs: 0 } satisfies StoredUntold)]
}

export async function addUntold(redis: Redis, keys: CrawlRedisKeys, untold: NewUntold): Promise<void> {
  if ((await redis.hlen(untoldKey(keys))) < UNTOLD_MAX)
    await redis.hset(untoldKey(keys), ...newUntold(untold))
}

/** Resolves to all that is to be told; `keys` are those of the spider's schedules. */
export async function readUntold(redis: Redis, keys: CrawlRedisKeys): Promise<readonly UntoldRun[]> {
  const texts = await redis.hvals(untoldKey(keys))
  return texts.map((text) => JSON.parse(text) as StoredUntold)
}

/**
 * Takes what is due to be told; undefined when nothing is. Nobody else takes it for half a minute.
 *
 * @param firstPauseMs the pause before the second try
 */
export async function takeUntold(
  redis: Redis,
  keys: CrawlRedisKeys,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<TakenUntold | undefined> {
  const key = untoldKey(keys)
  const all = Object.entries(await redis.hgetall(key))
  if (all.length === 0) return undefined
  const nowMs = await redisNowMs(redis)
  for (const [id, text] of all) {
    const { nextMs, ...untold } = JSON.parse(text) as StoredUntold
    // A clock that was set back must not keep it for ever.
    if (nextMs > nowMs && nextMs - nowMs <= PAUSE_MS_MAX) continue
    const tries = untold.tries + 1
    const held = JSON.stringify({ ...untold, tries, nextMs: nowMs + HELD_MS } satisfies StoredUntold)
    if ((await changeScript.run(redis, [key], [id, text, held])) !== 1) continue
    return {
      untold: { ...untold, tries },
      tried: async (left) => {
        const pauseMs = Math.min(firstPauseMs * 2 ** untold.tries, PAUSE_MS_MAX)
        const later: StoredUntold = { ...untold, tries, left, nextMs: (await redisNowMs(redis)) + pauseMs }
        const isOver = Object.keys(left).length === 0 || nowMs - untold.at > KEPT_MS
        await changeScript.run(redis, [key], [id, held, isOver ? '' : JSON.stringify(later)])
      },
    }
  }
  return undefined
}
