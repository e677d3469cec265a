/**
 * The record of a crawl that any number of workers share: one hash on the queue's Redis, in the slot of the queue.
 *
 *     idle ─── open ───► running ─── finish ───► finished ── open, if it begins ──► a new run: running
 *   (no hash)             ▲    │                                  if seeds may come: running, the same run
 *                         │    │                                  else: stays, the worker is told when it ended
 *                    open │    ├── ended(reason for all), `webloom stop` ──► stopped
 *                         │    └── leave by the last worker ──────────────► stopped
 *                         └───────────────────────────────────────────────────┘
 *
 * `webloom quarantine retry` and `webloom import` make a finished crawl a stopped one, so that there is somebody to crawl what they
 * queue; `import` makes one where there is none, too.
 *
 * Every arrow is one script, so two workers never both take it. A run is one crawl from its beginning to its end; each has an id, and
 * a worker that slept through the end of its run changes nothing in the next one. What is done of a run is counted here, too.
 *
 * **Finished** is the end, but for a spider that takes start URLs from Redis: its next worker goes on with the crawl, in the same run, and so
 * with the seeds that have come since. start() is not run again, and what was seen is seen, without SCHEDULER_PERSIST too: a spider of
 * scrapy-redis would have stayed, and not have closed. SCHEDULER_FLUSH_ON_START empties queue and filter when it wakes.
 *
 * **A new run** finds an empty queue, and no start cursor. What was seen stays where that is asked for (SCHEDULER_PERSIST).
 * **Stopped** can be resumed, cursor and queue are there. But without SCHEDULER_PERSIST the last worker that leaves empties
 * queue and filter, as scrapy-redis does, and then there is nothing to resume: the record is `emptied`, and the next
 * worker begins a new run. A worker that leaves in a hurry (`memusage_exceeded`, a defect, a full disk) empties nothing:
 * it is to be replaced, or looked after. **Running** without workers is what is left when all were killed; the next one
 * simply joins.
 *
 * **start()** is run by the worker `startOwner`, until `startUntil` by Redis's clock, which it moves on every two seconds.
 * The queue moves `startCursor` itself, in the step that stores what elements bring; the record moves it only over elements
 * that bring no request. Each step says from where it moves the cursor, and is refused when that has not come so far.
 *
 * When a worker dies between
 *
 *     begun anew and emptied          that it must be emptied is noted with the beginning (crawl-todo.ts)
 *     taking start() and ending it    another takes it over within 6 s, and passes over what lies before the cursor
 *     a request queued, cursor moved  no such moment: one script
 *     an item written, cursor moved   the item is written again: items are delivered at least once
 *     finished and left               nothing is lost; it is emptied by whoever leaves last, which waits for this one to
 *                                     count as lost (crawl-leaving.ts), or when it begins anew
 *     left as the last, and emptied   noted with the leaving: whoever opens it has to do it first
 *
 * Whether the crawl is finished is told once, when a worker has nothing to do, and again by the step in which it leaves. It is
 * not asked in between: another worker may have woken the crawl, and would be told to end it.
 *
 * When Redis comes back a second older, the cursor may be older than what start() has brought: the next elements are refused, and so is the
 * end, as others before them are gone, and start() is run again from there: by the worker that finds nothing left to do, if it had ended.
 *
 * A reply that is lost makes ioredis send a script again, so each answers the second time as it did the first.
 *
 * The heartbeats in `workers` tell which workers are present. When Redis itself was away, all of them are old. The first
 * heartbeat after such a silence is noted, and for the next ten seconds no worker takes itself for the last one.
 */

import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CrawlPast,
  type CrawlRecord,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  silentLogger,
  unlessAborted,
  WebloomError,
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { KEPT_BY_NOBODY, type KeptLocks, type LockKeeper } from '../locks/lock-keeper.ts'
import { type CrawlRedisKeys, stateKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { untilTaken } from '../redis/until-taken.ts'
import { tellJoined } from './alike-settings.ts'
import type { FixedWhenBegun } from './crawl-format.ts'
import {
  type CrawlLeft,
  ENDS_OF_ONE_WORKER,
  keepsAll,
  leaveCrawl,
  NOTHING_LEFT,
  REQUESTS_LEFT,
} from './crawl-leaving.ts'
import { openCrawl } from './crawl-opening.ts'
import { type CrawlRun, newRunId, runNameOf } from './crawl-run.ts'
import { isEmptied, type Todo } from './crawl-todo.ts'

export interface RedisCrawlRecordOptions extends FixedWhenBegun {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  /** Keeps the right to run start() while it blocks the event loop. */
  readonly keeper?: LockKeeper
  /** What to do when the crawl has finished: begin a new one (`webloom crawl`, `worker --new`), or leave it at that. */
  readonly begins: boolean
  /** For a spider to which seeds may come: a finished crawl goes on, unless this worker begins a new one. */
  readonly wakes?: boolean
  /** SCHEDULER_PERSIST: queue and filter stay when the last worker leaves, and the next crawl uses the filter. */
  readonly persists: boolean
  /** SCHEDULER_FLUSH_ON_START: queue and filter are emptied once in a run, before any worker begins. */
  readonly flushes?: boolean
  /** For a crawl of several shards: when nothing is left in any of them, nor between them, what its home had sent by then. Asked before it is finished. */
  readonly isOver?: () => Promise<number | undefined>
  /** Counts requests of this crawl that wait where its workers do not read them. If there are any, the crawl ends as REQUESTS_LEFT. */
  readonly requestsElsewhere?: () => Promise<number>
  /** Returns false when start() is known to have ended, so that Redis need not be asked. Default: Redis is asked each time. */
  readonly mayStart?: () => boolean
  readonly logger?: Logger
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** Default: this machine's name. Outputs are files of one machine. */
  readonly host?: string
}

const FINISH_ANSWER_MS_MAX = 10_000

const START_ENDED = -1
const START_TAKEN = -2
const RUN_OVER = -3

const takeStartScript = new OomSafeScript('redis/now.lua', 'crawl/take-start.lua')
const startMovedScript = new OomSafeScript('crawl/start-moved.lua')
const finishScript = new OomSafeScript('redis/now.lua', 'crawl/counts.lua', 'crawl/finish.lua')
const stopScript = new OomSafeScript('redis/now.lua', 'crawl/stop.lua')
const filterScript = new OomSafeScript('crawl/todo.lua', 'crawl/filter.lua')
const outputScript = new OomSafeScript('crawl/output.lua')

export class RedisCrawlRecord implements CrawlRecord {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #workerId: string
  readonly #begins: boolean
  readonly #wakes: boolean
  readonly #persists: boolean
  readonly #flushes: boolean
  readonly #fixed: FixedWhenBegun
  readonly #isOver: RedisCrawlRecordOptions['isOver']
  readonly #requestsElsewhere: () => Promise<number>
  readonly #mayStart: () => boolean
  /** True when the last answer said that start() has ended. */
  #hasStartEnded = false
  readonly #logger: Logger
  readonly #host: string
  readonly #times: ProtocolTimes
  readonly #startLock: KeptLocks
  readonly #newRunId = newRunId()
  #run: CrawlRun | undefined
  #firstRun = ''
  #reason = 'not_opened'
  #left: Promise<CrawlLeft> | undefined
  #waits: string | undefined
  #startRenewal: NodeJS.Timeout | undefined

  constructor(options: RedisCrawlRecordOptions) {
    this.#redis = options.redis
    this.#keys = options.keys
    this.#workerId = options.workerId
    this.#begins = options.begins
    this.#wakes = options.wakes ?? false
    this.#persists = options.persists
    this.#flushes = options.flushes ?? false
    this.#fixed = options
    this.#isOver = options.isOver
    this.#requestsElsewhere = options.requestsElsewhere ?? (async () => 0)
    this.#logger = options.logger ?? silentLogger
    this.#mayStart = options.mayStart ?? (() => true)
    this.#host = options.host ?? hostname()
    this.#times = options.times ?? PROTOCOL_TIMES
    const renewal = { lua: takeStartScript.lua, keys: [this.#keys.record], args: [] }
    this.#startLock = options.keeper?.locks(renewal) ?? KEPT_BY_NOBODY
  }

  /** The run that this worker takes part in, from `open` on. */
  get run(): CrawlRun {
    if (!this.#run) throw new Error('the crawl is finished, or open() was not called: there is no run')
    return this.#run
  }

  /** The crawl and its run, for names that others may read; '' in a run that was begun before there were such. */
  get runName(): string {
    return runNameOf(this.#keys, this.run.id, this.#firstRun)
  }

  /** What it waits for as it opens, in words behind “it waits”. */
  get waits(): string | undefined {
    return this.#waits
  }

  /** Rejects with WL_CRAWL_FORMAT for a crawl of another release, and with StoppedMeanwhile when it is stopped while this worker waits. */
  async open(signal?: AbortSignal): Promise<CrawlPast> {
    const told = await openCrawl({
      ...{ redis: this.#redis, keys: this.#keys, workerId: this.#workerId, newRunId: this.#newRunId },
      ...{ begins: this.#begins, wakes: this.#wakes, flushes: this.#flushes, persists: this.#persists },
      ...{ fixed: this.#fixed, logger: this.#logger, times: this.#times },
      waiting: {
        signal,
        onWait: (words) => {
          this.#waits = words
        },
      },
    }).finally(() => {
      this.#waits = undefined
    })
    const [state, id, begunAt, runningSince, endedAt, todo, firstRun, othersHave, wasKept] = told
    if (state === 'finished' && id !== this.#newRunId && !this.#wakes) {
      return { begun: true, finishedAt: new Date(Number(endedAt)) }
    }
    tellJoined(this.#logger, this.#keys, this.#fixed.alike, [othersHave, wasKept])
    this.#firstRun = String(firstRun)
    this.#run = { id: String(id), begunAt: Number(begunAt), runningSince: Number(runningSince) }
    return { begun: id !== this.#newRunId, ...(isEmptied(todo as Todo) && { anew: true }) }
  }

  async close(): Promise<void> {
    this.#dropStart()
    if (this.#run) await this.leave()
  }

  async takeStart(signal: AbortSignal): Promise<number | null> {
    // A record that has come back older says so with the next heartbeat.
    if (this.#hasStartEnded && !this.#mayStart()) return null
    while (!signal.aborted) {
      const taking = this.#untilTaken(() => this.#askForStart())
      const answer = await unlessAborted(signal, taking)
      this.#hasStartEnded = answer === START_ENDED
      if (answer === undefined || answer === START_ENDED || answer === RUN_OVER) return null
      if (answer !== START_TAKEN) {
        this.#keepStart()
        return answer
      }
      await sleep(this.#times.record.startPollMs, undefined, { signal }).catch(() => {})
    }
    return null
  }

  startMoved(from: number, to: number): Promise<void> {
    return this.#moveStart(from, to, false)
  }

  async startEnded(to: number): Promise<void> {
    await this.#moveStart(to, to, true)
    this.#dropStart()
  }

  async finish(): Promise<boolean | string> {
    if (!this.#run) return true
    try {
      return await within(FINISH_ANSWER_MS_MAX, 'is the crawl finished?', this.#finish(this.#run.id))
    } catch (error) {
      // The caller asks again about every second.
      this.#logger.debug({ err: error }, 'whether the crawl is finished cannot be told now')
      return false
    }
  }

  async #finish(runId: string): Promise<boolean | string> {
    const sent = await this.#isOver?.()
    if (this.#isOver && sent === undefined) return false
    const isLeft = (await this.#requestsElsewhere()) > 0
    const args = [runId, isLeft ? REQUESTS_LEFT : '', sent ?? '']
    const keys = [...stateKeys(this.#keys), this.#keys.alone, `${this.#keys.frontier}:sent`]
    const answer = await finishScript.run(this.#redis, keys, args)
    return answer === 2 ? REQUESTS_LEFT : answer === 1
  }

  async outputBegun(path: string): Promise<boolean> {
    return (await this.#redis.hexists(this.#keys.record, this.#output(path))) === 1
  }

  async beginOutput(path: string): Promise<void> {
    await this.#untilTaken(() => outputScript.run(this.#redis, [this.#keys.record], [this.#output(path)]))
  }

  /** Resolves to whether a worker of this run has joined its dupefilter, at that place if one is given. One that knows nothing of the run has then lost its data. */
  async isFilterJoined(place?: string): Promise<boolean> {
    const [joined, known] = await this.#redis.hmget(this.#keys.record, 'filterJoined', 'filterPlace')
    return Boolean(joined) && (!place || !known || known === place)
  }

  async noteFilter(): Promise<void> {
    await this.#untilTaken(() => filterScript.run(this.#redis, [this.#keys.record], [this.run.id, 'joined']))
  }

  /** A reason that concerns the whole crawl stops it for all workers; they are told at once. */
  async ended(reason: string): Promise<void> {
    this.#reason = reason
    this.#dropStart()
    if (!this.#run || ENDS_OF_ONE_WORKER.includes(reason)) return
    await stopScript.run(this.#redis, [this.#keys.record], [reason, this.#run.id])
  }

  /** Takes this worker out of the crawl. Further calls do nothing more. */
  leave(): Promise<CrawlLeft> {
    // A renewal behind it would take start() again, for a worker that is gone.
    this.#dropStart()
    this.#left ??= this.#leave()
    return this.#left
  }

  async #leave(): Promise<CrawlLeft> {
    if (!this.#run) return NOTHING_LEFT
    const leaving = {
      worker: this.#workerId,
      run: this.#run.id,
      reason: this.#reason,
      stops: this.#reason !== 'memusage_exceeded',
      empties: !this.#persists && !keepsAll(this.#reason),
      wakes: this.#wakes,
    }
    try {
      const left = await leaveCrawl(leaving, {
        redis: this.#redis,
        keys: this.#keys,
        logger: this.#logger,
        times: this.#times,
      })
      // A record that could not even be opened may be another crawl's.
      return { ...left, owes: left.owes && this.#reason !== 'not_opened' }
    } catch (error) {
      this.#logger.warn({ err: error }, 'Redis was not told that this worker leaves: it counts as lost')
      return NOTHING_LEFT
    }
  }

  #askForStart(): Promise<number> {
    return takeStartScript.run(this.#redis, [this.#keys.record], this.#startArgs) as Promise<number>
  }

  get #startArgs(): (string | number)[] {
    return [this.#workerId, this.run.id, this.#times.record.startLeaseMs]
  }

  #keepStart(): void {
    this.#dropStart()
    this.#startRenewal = setInterval(
      () => void this.#renewStart(),
      this.#times.record.startRenewEveryMs,
    ).unref()
    this.#startLock.keep('start', this.#startArgs)
  }

  async #renewStart(): Promise<void> {
    try {
      // Another worker runs start() now. The push of the next element will fail and say so.
      if ((await this.#askForStart()) < 0) this.#dropStart()
    } catch (error) {
      this.#logger.debug({ err: error }, 'the right to run start() could not be renewed')
    }
  }

  #dropStart(): void {
    this.#startLock.drop('start')
    clearInterval(this.#startRenewal)
    this.#startRenewal = undefined
  }

  async #moveStart(from: number, to: number, ended: boolean): Promise<void> {
    const args = [this.#workerId, this.run.id, from, to, ended ? 1 : 0]
    const move = () => startMovedScript.run(this.#redis, [this.#keys.record], args)
    if ((await this.#untilTaken(move)) === 1) return
    this.#dropStart()
    throw new WebloomError(
      'WL_LEASE_LOST',
      'another worker runs start() now, from where this one had come to; or Redis has come back with an older state, and start() goes on from there',
    )
  }

  /** start() and outputs wait for a Redis that takes no writes now: they have not failed for that. */
  #untilTaken<T>(step: () => Promise<T>): Promise<T> {
    const isOver = () => this.#reason !== 'not_opened'
    return untilTaken(step, { isOver, everyMs: this.#times.record.startPollMs, logger: this.#logger })
  }

  #output(path: string): string {
    return `output|${this.#host}|${resolve(path)}`
  }
}
