/**
 * The steps in which jobs change hands. BullMQ itself adds and ends one job a step, and knows nothing of suspects; these
 * scripts do what must not be torn apart, on its keys and in its layout, so that Bull Board and its worker find nothing
 * unusual:
 *
 *     push       requests in, noted for their asker
 *     commit     a page out and its children in
 *     requeue    a request back, however its lease ended: later, changed, or at the head of its line
 *     quarantine a page out of the queue for good
 *     renew      locks kept
 *     reclaim    pages of workers that are gone: suspects, or quarantined
 *
 * All that end a lease ask for its token, and answer alike when they are sent twice.
 */

import { type ProtocolTimes, type QueueCounts, type QueueOrder, withRedisCodes } from '@webloom/core'
import type { Redis } from 'ioredis'
import { RunOver } from '../crawl/crawl-run.ts'
import { type StartSpan, startGap } from '../crawl/start-span.ts'
import { idsOf } from '../leasing/doubts.ts'
import { historyKey } from '../leasing/quarantine-history.ts'
import type { Renewal } from '../locks/lock-keeper.ts'
import { type CrawlRedisKeys, stateKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { bullData } from './bull-job.ts'
import type { JobHold } from './job-lease.ts'

const MAX_JOBS_PER_CLEARING = 500

const pushScript = luaScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'jobs/add.lua',
  'leasing/doubts.lua',
  'jobs/push.lua',
)
const endDoubtsScript = luaScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'redis/args.lua',
  'leasing/quarantine.lua',
  'jobs/add.lua',
  'leasing/doubts.lua',
  'leasing/doubts-end.lua',
  'jobs/doubts.lua',
)
const commitScript = luaScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'jobs/lease-end.lua',
  'jobs/add.lua',
  'leasing/doubts.lua',
  'failures/ledger.lua',
  'jobs/commit.lua',
)
const failedScript = luaScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'jobs/add.lua',
  'failures/ledger.lua',
  'failures/take.lua',
  'failures/crawl-ended.lua',
  'jobs/failed.lua',
)
const requeueScript = luaScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'jobs/lease-end.lua',
  'leasing/quarantine.lua',
  'jobs/requeue.lua',
)
const quarantineScript = luaScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'jobs/lease-end.lua',
  'leasing/quarantine.lua',
  'jobs/quarantine.lua',
)
// Redis may be full: what ends a lease begins with a step that frees something, these do not.
const renewScript = new OomSafeScript('jobs/keys.lua', 'jobs/renew.lua')
const reclaimScript = new OomSafeScript(
  'redis/now.lua',
  'jobs/keys.lua',
  'leasing/quarantine.lua',
  'jobs/blame.lua',
  'jobs/lost.lua',
  'jobs/reclaim.lua',
)
const clearScript = luaScript('jobs/keys.lua', 'jobs/clear.lua')
const countsScript = luaScript('crawl/counts.lua', 'jobs/counts.lua')

/**
 * A job to be added: id, data, priority. One in doubt is set aside: id of the request, packed request. A failure goes to the
 * ledger: its text.
 */
export type NewJob = readonly [string, string, number | 'doubt' | 'failed']

/** How a request goes back to the queue. */
export interface JobRequeue extends JobHold {
  /** The packed request, where it has changed. */
  readonly text?: string
  /** When it may be taken again: milliseconds from now, or `first` for at once, before the others of its priority. */
  readonly when: number | 'first'
  /** A line for its history. */
  readonly event?: { readonly id: string; readonly what: string }
}

/** A request that was reclaimed from a worker that is gone. */
export interface Reclaimed {
  readonly id: string
  readonly worker: string
  readonly fate: 'suspect' | 'innocent' | 'quarantined'
}

export class JobScripts {
  /** Id of the run that this worker takes part in; '' where there is no record of one. Set when the queue is opened. */
  run = ''
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #workerId: string
  readonly #lifo: '1' | ''
  readonly #jobKeys: readonly string[]
  readonly #times: ProtocolTimes['jobs']

  constructor(options: {
    redis: Redis
    keys: CrawlRedisKeys
    workerId: string
    order: QueueOrder
    times: ProtocolTimes
  }) {
    this.#times = options.times.jobs
    this.#redis = options.redis
    this.#keys = options.keys
    this.#workerId = options.workerId
    this.#lifo = options.order === 'lifo' ? '1' : ''
    const { alone, quarantine } = this.#keys
    this.#jobKeys = [
      ...['', 'active', 'prioritized', 'delayed', 'marker', 'pc', 'events'].map((name) =>
        this.#bullKey(name),
      ),
      alone,
      quarantine,
      historyKey(this.#keys),
    ]
  }

  /** Returns how many were not in the queue. Throws `RunOver`, or WL_LEASE_LOST for elements before which others were lost. */
  async push(jobs: readonly NewJob[], asker: string): Promise<number> {
    const element = START_ASKER.exec(asker)?.[1]
    if (element !== undefined) {
      const start = jobs.map((job) => ({ job, element: Number(element) }))
      return this.pushStart(start, { from: Number(element), to: Number(element) + 1 })
    }
    return this.#push(
      asker,
      { from: '', to: '' },
      jobs.flatMap((job) => [...job, '']),
    )
  }

  pushStart(
    batch: readonly { readonly job: NewJob; readonly element: number }[],
    { from, to }: StartSpan,
  ): Promise<number> {
    return this.#push(
      'start',
      { from, to },
      batch.flatMap(({ job, element }) => [...job, element]),
    )
  }

  async #push(
    asker: string,
    { from, to }: { from: number | ''; to: number | '' },
    jobs: readonly (string | number)[],
  ): Promise<number> {
    const keys = [...this.#jobKeys, this.#keys.record, this.#keys.noted, this.#notedFor(asker)]
    const args = [asker, this.run, from, to, this.#lifo, ...jobs]
    const added = (await pushScript.run(this.#redis, keys, args)) as number
    if (added === START_GAP) throw startGap()
    if (added === RUN_OVER) throw new RunOver()
    return added
  }

  /** Returns the ids that were queued; `args` as leasing/doubts-end.lua has them. */
  async endDoubts(
    args: readonly (string | number)[],
    fresh: readonly { readonly id: string; readonly job: NewJob }[],
  ): Promise<string[]> {
    const jobs = fresh.flatMap(({ id, job }) => [id, ...job])
    const all = [this.#lifo, ...args, fresh.length, ...jobs]
    const [queued] = (await endDoubtsScript.run(this.#redis, this.#jobKeys, all)) as [string]
    return idsOf(queued)
  }

  async settled(asker: string): Promise<void> {
    // Of start() the cursor is noted, not the ids.
    if (START_ASKER.test(asker)) return
    await withRedisCodes(this.#redis.pexpire(this.#notedFor(asker), this.#times.settledKeptMs))
    await withRedisCodes(this.#redis.srem(this.#keys.noted, asker))
  }

  /**
   * False when the lease is lost; else how many failures were removed from the ledger, as it is full.
   *
   * @param withHistory the request's id, if it may have a history, which ends with it
   */
  async commit(hold: JobHold, children: readonly NewJob[], withHistory?: string): Promise<number | false> {
    const args = [...this.#holdArgs(hold), withHistory ?? '', this.#lifo, ...children.flat()]
    const reply = (await commitScript.run(this.#redis, this.#jobKeys, args)) as string
    return reply !== 'lost' && Number(reply.split(' ')[1] ?? 0)
  }

  /** Returns the ids that were queued; `ended` when the crawl has ended, and nothing was done. */
  async retryFailed(
    retried: readonly { readonly id: string; readonly key: string; readonly job: NewJob }[],
  ): Promise<readonly string[] | 'ended'> {
    const args = [this.#lifo, ...retried.flatMap(({ id, key, job }) => [id, key, ...job])]
    const reply = await failedScript.run(this.#redis, [...this.#jobKeys, this.#keys.record], args)
    return reply === CRAWL_ENDED ? 'ended' : (reply as string[])
  }

  /** False when the lease is lost. */
  async requeue(back: JobRequeue): Promise<boolean> {
    const args = [
      ...this.#holdArgs(back),
      back.text === undefined ? '' : bullData(back.text),
      back.bullPriority,
      this.#lifo,
      back.when,
      back.event?.id ?? '',
      back.event?.what ?? '',
    ]
    return (await requeueScript.run(this.#redis, this.#jobKeys, args)) !== 'lost'
  }

  /** False when the lease is lost. */
  async quarantine(
    hold: JobHold,
    { id, text, reason }: { id: string; text: string; reason: string },
  ): Promise<boolean> {
    const args = [...this.#holdArgs(hold), text, id, reason]
    return (await quarantineScript.run(this.#redis, this.#jobKeys, args)) !== 'lost'
  }

  /** Returns the ids of the jobs that are lost. */
  async renew(holds: readonly Pick<JobHold, 'jobId' | 'token'>[]): Promise<string[]> {
    if (holds.length === 0) return []
    const { keys, args } = this.renewal()
    return (await renewScript.run(this.#redis, keys, [...args, ...holds.flatMap(lockArgs)])) as string[]
  }

  /** The same for a keeper, who has the leases' `lockArgs`. */
  renewal(): Renewal {
    return { lua: renewScript.lua, keys: this.#jobKeys, args: [this.#workerId, this.#times.lockMs] }
  }

  /** Looks for workers that are gone, if nobody has of late. */
  async reclaim(quarantineAfter: number): Promise<Reclaimed[]> {
    const keys = [...this.#jobKeys, this.#bullKey('stalled-check')]
    const { reclaimEveryMs, reclaimGapMs, reclaimPauseMs } = this.#times
    const args = [reclaimEveryMs, reclaimGapMs, quarantineAfter, reclaimPauseMs]
    const taken = (await reclaimScript.run(this.#redis, keys, args)) as [string, string, Reclaimed['fate']][]
    return taken.map(([id, worker, fate]) => ({ id, worker, fate }))
  }

  async beginAlone(id: string): Promise<void> {
    await withRedisCodes(this.#redis.hset(this.#keys.alone, this.#workerId, id))
  }

  async endAlone(): Promise<void> {
    await withRedisCodes(this.#redis.hdel(this.#keys.alone, this.#workerId))
  }

  async clear(): Promise<void> {
    const keys = [...this.#jobKeys, this.#bullKey('wait'), this.#keys.noted]
    while ((await clearScript.run(this.#redis, keys, [MAX_JOBS_PER_CLEARING, this.#notedFor('')])) === 1);
  }

  async counts(): Promise<QueueCounts> {
    const counts = (await countsScript.run(this.#redis, stateKeys(this.#keys), [])) as number[]
    const [waiting = 0, delayed = 0, leased = 0, quarantined = 0] = counts
    return { waiting, delayed, leased, quarantined }
  }

  #holdArgs({ jobId, token, isAlone }: JobHold): string[] {
    return [jobId, token, this.#workerId, isAlone ? '1' : '']
  }

  #notedFor(asker: string): string {
    return `${this.#keys.noted}:${asker}`
  }

  #bullKey(name: string): string {
    return `${this.#keys.base}:${name}`
  }
}

/** Returns what it takes to renew a lease. */
export function lockArgs({ jobId, token }: Pick<JobHold, 'jobId' | 'token'>): string[] {
  return [jobId, token]
}

/** The answers of jobs/push.lua when it adds nothing. */
const START_GAP = -1
const RUN_OVER = -2
/** The answer of jobs/failed.lua when it does nothing. */
const CRAWL_ENDED = -1

const START_ASKER = /^start\/(\d+)$/
