/**
 * What must be done to a crawl before a worker crawls on, so that it happens once and no worker works on what is just being
 * deleted:
 *
 *     all      queue and filter are emptied: a crawl begins anew, the last worker leaves without SCHEDULER_PERSIST,
 *              SCHEDULER_FLUSH_ON_START, `webloom clear`
 *     queue    the queue is emptied, the filter stays: a crawl begins anew after one whose filter outlives it
 *     filter   the filter is emptied: a crawl begins without SCHEDULER_PERSIST, and its filter knows one that the queue has lost
 *     owners   a crawl is finished and its filter stays: what it keeps of this run's askers is deleted, and what BullMQ
 *              keeps of a worker that was silent at the end
 *     shards   a crawl of several shards begins: each is emptied, and told of its run
 *     run      such a crawl was given work from outside before any worker: its empty shards are told of its run
 *
 * Queue and filter may be on two servers, so it takes a while, and the worker that does it may die on the way. So the record
 * has a field, written in the step from which it is owed. The first worker does it: the one that leaves, or the next one,
 * which waits for it before it queues anything. The field is deleted when all is done:
 *
 *     todo   "all" ── takes it ──► "all <until> <worker>" ── has done it ──► gone, or the record with it after `clear`
 *              ▲                        │ renewed every 2 s
 *              └── it failed, or died ──┘ (6 s ago)
 *
 * When a worker dies between
 *
 *     leaving and taking it           the next worker does it at once
 *     taking it and the last of it    the next worker does all of it, up to 6 s later; each part may be done twice
 *     the last of it and its note     the same
 *
 * When a new run begins meanwhile, it is owed what it needs: the askers of the run before then stay in the filter, some hundred
 * names that no worker asks for. A worker that has done less than the new run is owed has not done it.
 *
 * One case stays open: a worker that stands still for six seconds in the middle, and goes on deleting when another one has
 * done all and begun.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { NoAnswer, PROTOCOL_TIMES, type ProtocolTimes, within } from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlShown } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'

export type Todo = 'all' | 'queue' | 'filter' | 'owners' | 'shards' | 'run'

/** True when the queue is to be emptied, so that its requests are no longer the crawl's. */
export const isEmptied = (todo: Todo | undefined | '') => todo === 'all' || todo === 'queue'

/** The longest that a worker waits for another one to empty the queue. A hundred million requests are deleted in pages. */
const WAIT_MS_MAX = 600_000
const ANSWER_MS_MAX = 10_000

const NOTHING = ''
const ANOTHER_IS_AT_IT = '-'

/** Another worker is doing what is owed: ask again later. */
export const BUSY = Symbol('busy')

const oweFilterScript = new OomSafeScript('crawl/todo.lua', 'crawl/filter.lua')
const doScript = new OomSafeScript('redis/now.lua', 'crawl/todo.lua', 'crawl/do.lua')

export interface OwedOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly worker: string
  /** Does what is owed. When it throws, any worker may call its own again. */
  readonly act: (todo: Todo) => Promise<void>
  /** True: waits for a Redis that does not answer, as the crawl cannot begin without it. False: rejects after ten seconds. */
  readonly isPatient?: boolean
  /** True for a worker that leaves: it does not wait for another one that is doing what is owed. */
  readonly leaves?: boolean
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/** Owes the run that its filter is emptied, unless a worker of it has joined that. */
export async function oweFilter(
  { redis, keys }: Pick<OwedOptions, 'redis' | 'keys'>,
  run: string,
): Promise<void> {
  await oweFilterScript.run(redis, [keys.record], [run, 'empty'])
}

/**
 * Resolves when nothing is owed any more: with true if this call ran `act`, with false if another worker did, or does while
 * this one leaves. Rejects with what `act` throws; it is then still owed.
 */
export async function doOwed(options: OwedOptions): Promise<boolean> {
  const { redis, keys, worker, act, isPatient = false, leaves = false, times = PROTOCOL_TIMES } = options
  const { todoLeaseMs, todoRenewEveryMs } = times.record
  const ask = (what: number | 'done' | 'owed', done = '') =>
    within(ANSWER_MS_MAX, 'emptying the queue', doScript.run(redis, [keys.record], [worker, what, done]))
  const take = async () => {
    try {
      const answer = (await ask(todoLeaseMs)) as Todo | typeof NOTHING | typeof ANOTHER_IS_AT_IT
      return answer !== ANOTHER_IS_AT_IT ? answer : leaves ? NOTHING : BUSY
    } catch (error) {
      if (!isPatient || !(error instanceof NoAnswer)) throw error
      return BUSY
    }
  }
  let acted = false
  // More may be owed by the time that this is done.
  for (;;) {
    const todo = await whenNobodyIsAtIt(take, keys, times)
    if (todo === NOTHING) return acted
    // If renewals are late or lost, another worker does the same again, which does no harm.
    const renewal = setInterval(() => ask(todoLeaseMs).catch(() => {}), todoRenewEveryMs).unref()
    try {
      await act(todo)
    } catch (error) {
      await ask('owed').catch(() => {})
      throw error
    } finally {
      clearInterval(renewal)
    }
    await ask('done', todo)
    acted = true
    if (leaves) return true
  }
}

/** Resolves to what `ask` answers when no worker is at what is owed; it is asked again and again until then. */
export async function whenNobodyIsAtIt<T>(
  ask: () => Promise<T | typeof BUSY>,
  keys: CrawlRedisKeys,
  times = PROTOCOL_TIMES,
): Promise<T> {
  const deadline = performance.now() + WAIT_MS_MAX
  while (performance.now() < deadline) {
    const answer = await ask()
    if (answer !== BUSY) return answer as T
    await sleep(times.record.todoPollMs)
  }
  throw new Error(
    `another worker has been emptying queue and filter of ${crawlShown(keys)} for ${WAIT_MS_MAX / 60_000} minutes; \`webloom status\` shows which workers are there`,
  )
}
