/**
 * Emptying queue and filter, so that it happens once and nobody works on what is just being deleted.
 *
 * They may be on two servers, so it takes a while, and whoever does it may die on the way. That it is owed is therefore a
 * field of the record, written in the step that makes it so: a crawl begins anew, the last worker leaves without
 * SCHEDULER_PERSIST, `webloom clear`. It goes when all is empty:
 *
 *     flush   owed ── takes it ──► "<until> <worker>" ── has emptied ──► gone, or the record with it after `clear`
 *               ▲                        │ renewed every 2 s
 *               └── it failed, or died ──┘ (6 s ago)
 *
 * A run that begins after another empties the queue, and leaves the filter where what was met is to outlive a crawl: `keepsMet`
 * beside it.
 *
 * A worker that opens a crawl to which this is owed waits for it before it queues anything. What stays open: a worker that
 * stands still for six seconds in the middle of it, and goes on deleting when another has emptied all and begun.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { PROTOCOL_TIMES, type ProtocolTimes } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from './crawl-redis-keys.ts'
import { luaScript } from './lua.ts'
import { NoAnswer, within } from './within.ts'

/** Emptying a queue of a hundred million requests is done in pages; longer than this nobody waits for it. */
const WAIT_MAX_MS = 600_000
const ANSWER_MS_MAX = 10_000

const NOTHING_OWED = 0
const MINE = 1
const MINE_BUT_FOR_MET = 3

/** Empties the queue, and the filter unless what was met is to stay. May be called again after it threw, by anybody. */
export type Flush = (keepsMet: boolean) => Promise<void>

const flushScript = luaScript('record-now.lua', 'record-flush.lua')

export interface FlushOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly worker: string
  readonly flush: Flush
  /** A Redis that does not answer is waited for: the crawl cannot begin without. Else that ends it after ten seconds. */
  readonly isPatient?: boolean
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/**
 * Resolves when nothing is owed any more: with true if this call ran `flush`, with false if another worker did. Rejects
 * with what `flush` throws; it is then still owed.
 */
export async function flushOwed(options: FlushOptions): Promise<boolean> {
  const { redis, keys, worker, flush, isPatient = false, times = PROTOCOL_TIMES } = options
  const { flushLeaseMs, flushRenewEveryMs, flushPollMs } = times.record
  const ask = (what: number | 'done' | 'owed') =>
    within(ANSWER_MS_MAX, 'emptying the queue', flushScript.run(redis, [keys.record], [worker, what]))
  const unanswered = (error: unknown) => {
    if (!isPatient || !(error instanceof NoAnswer)) throw error
  }
  const deadline = performance.now() + WAIT_MAX_MS
  while (performance.now() < deadline) {
    const answer = await ask(flushLeaseMs).catch(unanswered)
    if (answer === NOTHING_OWED) return false
    if (answer !== MINE && answer !== MINE_BUT_FOR_MET) {
      await sleep(flushPollMs)
      continue
    }
    // Late or lost renewals let another worker empty what is being emptied, which does no harm.
    const renewal = setInterval(() => ask(flushLeaseMs).catch(() => {}), flushRenewEveryMs).unref()
    try {
      await flush(answer === MINE_BUT_FOR_MET)
    } catch (error) {
      await ask('owed').catch(() => {})
      throw error
    } finally {
      clearInterval(renewal)
    }
    await ask('done')
    return true
  }
  throw new Error(
    `queue and filter of ${keys.queueName} have been being emptied by another worker for ${WAIT_MAX_MS / 60_000} minutes; \`webloom status\` shows who is there`,
  )
}
