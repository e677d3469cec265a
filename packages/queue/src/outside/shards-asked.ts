/**
 * What is asked of a crawl's shards by whoever looks at it. A shard whose server is away, or whose slot is half moved to another one, does not
 * answer until that is over: ioredis sends the question again and again. Nor does one whose server lacks our user. The others are told of without it. Nothing can be told where the crawl's
 * record does not answer.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  isLockedOut,
  isLoginReply,
  NoAnswer,
  RedisScript,
  type SilentShard,
  serverOfSlot,
  WebloomError,
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlShown } from '../redis/crawl-redis-keys.ts'
import { slotOf } from '../redis/key-slot.ts'
import type { CrawlShards } from '../shards/crawl-shards.ts'

/** Several of these follow one another in one look, and people wait for it. */
export const SHARD_MS_MAX = 1500

export interface ShardAnswers<T> {
  /** By the shard's name, in their order. */
  readonly answers: ReadonlyMap<string, T>
  readonly silent: readonly SilentShard[]
}

/** Asks these shards at once. */
export async function askShards<T>(
  redis: Redis,
  shards: CrawlShards,
  names: readonly string[],
  ask: (keys: CrawlRedisKeys, name: string) => Promise<T>,
): Promise<ShardAnswers<T>> {
  const asked = names.map(async (name) => ({
    name,
    answer: await answered(ask(shards.keysOf(name), name)),
  }))
  const all = await Promise.all(asked)
  const serverOf = (name: string) => serverOfSlot(redis, slotOf(shards.keysOf(name).record))
  return {
    answers: new Map(all.flatMap(({ name, answer }) => (answer ? [[name, answer.of] as const] : []))),
    silent: all.flatMap(({ name, answer }) => (answer ? [] : [{ shard: name, server: serverOf(name) }])),
  }
}

/** The same, of all that have lines; a crawl of one shard has nobody to tell of without it, and is waited for. */
export async function askQueues<T>(
  redis: Redis,
  shards: CrawlShards,
  ask: (keys: CrawlRedisKeys) => Promise<T>,
): Promise<readonly T[]> {
  if (shards.count === 1) return [await ask(shards.home)]
  return [...(await askShards(redis, shards, shards.names, ask)).answers.values()]
}

/** Resolves to undefined when the answer is late, or the server does not let us in: others may. */
export async function answered<T>(work: Promise<T>): Promise<{ readonly of: T } | undefined> {
  try {
    return { of: await within(SHARD_MS_MAX, 'a shard', work) }
  } catch (error) {
    if (error instanceof NoAnswer || isUnreachable(error) || isRefusedLogin(error)) return undefined
    throw error
  }
}

/** What is asked later of a server that is away is rejected at once. */
function isUnreachable(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_REDIS_UNREACHABLE'
}

/** Returns whether a server does not let us in, in our words or in its own. */
export function isRefusedLogin(error: unknown): error is Error {
  return error instanceof Error && (isLockedOut(error) || isLoginReply(error))
}

/** Longer than a connection takes to be made anew to a server that has taken the place of another. */
const ANSWER_MS_MAX = 4000
const ASKED_EVERY_MS = 1000

const anythingScript = new RedisScript('return 1')

interface CrawlLookedAt {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** The queue's Redis, without its password. */
  readonly shown: string
}

/**
 * Settles as `act` does, which may take its time; rejects with WL_REDIS_UNREACHABLE as soon as the server of the crawl's record does not answer for some
 * seconds. Commands of a crawl wait for that, and who only looks at it would not learn why.
 */
export async function whileRecordAnswers<T>(crawl: CrawlLookedAt, act: () => Promise<T>): Promise<T> {
  const done = new AbortController()
  try {
    return await Promise.race([act(), silenceOf(crawl, done.signal)])
  } finally {
    done.abort()
  }
}

/** Rejects when the record is silent, and with `signal`. */
async function silenceOf({ redis, keys, shown }: CrawlLookedAt, signal: AbortSignal): Promise<never> {
  const { record } = keys
  // One key there is never: while the slot is half moved a script of both is refused.
  const ask = () => anythingScript.run(redis, [record, `${record}:`], [])
  for (;;) {
    await within(ANSWER_MS_MAX, 'the record', ask()).catch((cause: unknown) => {
      if (!(cause instanceof NoAnswer)) throw cause
      throw new WebloomError(
        'WL_REDIS_UNREACHABLE',
        `${crawlShown(keys)} cannot be looked at: ${serverOfSlot(redis, slotOf(record))}, which has its record, has not answered within ${ANSWER_MS_MAX / 1000} s (${shown}). That server is away, or slot ${slotOf(record)} is half moved; workers wait until it is back. See: webloom doctor`,
        { cause },
      )
    })
    await sleep(ASKED_EVERY_MS, undefined, { signal })
  }
}
