/**
 * The heartbeat of a worker. Every three seconds the worker writes to Redis what it is doing, and reads what the crawl wants
 * of it: go on, pause, stop. Whoever asks for a pause or a stop also publishes it on the crawl's channel (crawl-channel.ts), and
 * each worker then sends its next heartbeat at once. If that message is lost, a worker learns of the pause within three
 * seconds. A worker that is killed counts as lost after ten.
 *
 * With each heartbeat, and when it ends, the worker writes the stats that have changed; a worker that is killed loses the stats
 * of its last three seconds. Where limits hold for all workers together (CLOSESPIDER_*), both are sent every second.
 *
 * About every ten seconds it also carries what stands out among the worker's hosts, if that has changed (host-report.ts).
 *
 * One heartbeat at a time: while Redis does not answer, the next one waits, and the log says so once. A Redis that is away
 * never ends a crawl from here.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type HostLists,
  type Logger,
  type OtherWorkers,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueueHeld,
  type StatsCollector,
  silentLogger,
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { type AlikeSettings, alikeOnReturn, hasToEndOnReturn } from '../crawl/alike-settings.ts'
import { CRAWL_LOST, OTHER_SETTINGS } from '../crawl/crawl-leaving.ts'
import type { CrawlRun } from '../crawl/crawl-run.ts'
import { NOTHING_HELD, readWorkerEntry, type WorkerActivity, workerEntry } from '../crawl/crawl-worker.ts'
import { WorkerLoadMeter } from '../crawl/worker-load.ts'
import { KEPT_BY_NOBODY, type KeptLocks, type LockKeeper } from '../locks/lock-keeper.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import type { CrawlChannel } from './crawl-channel.ts'
import { CrawlStats, readWholeTotals, type WholeTotals } from './crawl-stats.ts'
import { HostReport } from './host-report.ts'
import { LeftNumbers } from './left-numbers.ts'
import { WorkerRateMeter } from './worker-rates.ts'

/** What a worker tells of itself with each heartbeat. */
export interface WorkerTells {
  /** What is under way at this moment. */
  readonly activity: () => Pick<WorkerActivity, 'downloading' | 'scraping'> &
    Partial<Pick<WorkerActivity, 'scrapingFull' | 'stalled' | 'waits'>>
  /** How many requests it may download at once. Absent, or 0 for any number: how much of it is in use is told by its event loop alone. */
  readonly concurrency?: number
  /** What this worker holds of the queue. Absent: it does not say. */
  readonly held?: (() => QueueHeld) | undefined
  /** What stands out among the hosts of this process. Absent: none of it is told. */
  readonly hostLists?: () => HostLists
  /** Where its dupefilter keeps requests; undefined: that is not known yet, or no place is shared. */
  readonly filterPlace?: () => string | undefined
  /** Version of webloom, as others see it. */
  readonly release?: string
}

/** What a worker does when the answer to a heartbeat asks for it. */
export interface WorkerObeys {
  readonly onPause: () => void
  readonly onResume: () => void
  /**
   * The crawl is over for all workers: `finished`, why it was stopped, `cleared` when somebody cleared it or began another
   * run when this one was over, `crawl_lost` when its record is gone, or another's, and nobody asked for that, or `other_settings`. Called once.
   */
  readonly onStop: (reason: string) => void
  /** Called when other orders hold for hosts than before: with the first heartbeat, if there are any. */
  readonly onOrders?: () => Promise<void>
  /** Keeps what becomes of the crawl. Called about every ten seconds in one worker of all. */
  readonly onSampleDue?: () => Promise<void>
}

export interface WorkerHeartbeatOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** Opened and closed by its giver. Without it, a pause or stop is learned with the next heartbeat. */
  readonly channel?: CrawlChannel
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  readonly workerId: string
  /** Sends the heartbeat while a callback blocks the event loop. */
  readonly keeper?: LockKeeper
  readonly stats: StatsCollector
  readonly tells: WorkerTells
  readonly obeys: WorkerObeys
  /** In which settings it is to be like the others. Absent: whatever they are. */
  readonly alike?: AlikeSettings
  readonly logger?: Logger
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/** The longest that a closing worker waits for its last stats to be written. After that they are missing in the totals. */
const CLOSE_ANSWER_MS_MAX = 4000
/** Stats of which a worker that has left knows what all others had counted. */
export const TOLD_AT_END = ['response_received_count', 'item_scraped_count'] as const
/** How long a lost worker is shown; entries that are older are deleted with each twentieth heartbeat. */
const LOST_SHOWN_MS = 600_000
const SWEEP_EVERY_BEATS = 20

const beatScript = new OomSafeScript(
  ...['redis/now.lua', 'crawl/present.lua', 'members/alike.lua', 'members/beat.lua'],
)

type BeatReply = [
  ...[number, string, string, string, string, string, string, number],
  ...[number, number, number, number, string, string, string, string],
]

function beatKeys({ record, workers, cleared, doubts, hostLists }: CrawlRedisKeys): string[] {
  return [record, workers, cleared, doubts, hostLists]
}

export class WorkerHeartbeat implements OtherWorkers {
  readonly #options: WorkerHeartbeatOptions
  readonly #logger: Logger
  readonly #times: ProtocolTimes['members']
  readonly #crawlStats: CrawlStats
  readonly #hostReport: HostReport
  readonly #leftNumbers: LeftNumbers
  readonly #load = new WorkerLoadMeter()
  readonly #rates: WorkerRateMeter
  /** The heartbeat that the lock keeper sends while the event loop is blocked. */
  readonly #blockedBeat: KeptLocks
  readonly #closing = new AbortController()
  /** Number of the latest order for a host that this worker keeps to. */
  #orders = ''
  readonly #startedAt = new Date()
  #run: CrawlRun | undefined
  #looping: Promise<void> | undefined
  #beats = 0
  #clock: { readonly redisMs: number; readonly at: number } | undefined
  #isPaused = false
  #isStopped = false
  #isAnswered = true
  #isNoted = true
  #isWritten = true
  #isHurried = false
  /** Both are true until a heartbeat says otherwise. */
  #mayStart = true
  #mayDoubt = true
  /** Ends the rest between two heartbeats. */
  #wake = () => {}

  constructor(options: WorkerHeartbeatOptions) {
    this.#options = options
    options.channel?.listen({ onAsked: () => this.#hurry() })
    this.#logger = options.logger ?? silentLogger
    this.#times = (options.times ?? PROTOCOL_TIMES).members
    this.#crawlStats = new CrawlStats(options)
    this.#rates = new WorkerRateMeter(options.stats, () => this.#placesTaken())
    this.#hostReport = new HostReport({
      ...(options.tells.hostLists && { hostLists: options.tells.hostLists }),
      everyMs: this.#times.hostListsEveryMs,
      logger: this.#logger,
    })
    this.#leftNumbers = new LeftNumbers({ ...options, silentMsMax: LOST_SHOWN_MS })
    const renewal = { lua: beatScript.lua, keys: beatKeys(options.keys), args: [] }
    this.#blockedBeat = options.keeper?.locks(renewal) ?? KEPT_BY_NOBODY
  }

  /** Sends the first heartbeat. Resolves when Redis has answered it, or after `answerLateMs`. */
  async open(run: CrawlRun): Promise<void> {
    this.#run = run
    this.#load.open()
    this.#rates.open()
    const first = Promise.withResolvers<void>()
    this.#looping = this.#loop(run, first.resolve)
    await within(this.#times.answerLateMs, 'the first heartbeat', first.promise).catch(() => {})
  }

  /** False when start() had ended by the last heartbeat: nobody need ask for the right to run it. */
  get mayStart(): boolean {
    return this.#mayStart
  }

  /** False when no link was in doubt by the last heartbeat: nobody need look for one that another worker has set aside. */
  get mayDoubt(): boolean {
    return this.#mayDoubt
  }

  /** Writes the final stats. Others see this worker as present until its record has left. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#load.close()
    this.#rates.close()
    this.#wake()
    this.#blockedBeat.drop('beat')
    const run = this.#run
    if (!run) return
    try {
      const end = async () => {
        await this.#looping
        await this.#crawlStats.end(run, TOLD_AT_END)
      }
      await within(CLOSE_ANSWER_MS_MAX, 'writing the final stats', end())
    } catch (error) {
      this.#logger.warn({ err: error }, 'the last stats of this worker are missing in those of the crawl')
    }
  }

  /**
   * What all workers have counted, for the last one of them, when it has closed; undefined when that cannot be told for sure,
   * as one of them was killed.
   */
  async totalsAtEnd(): Promise<WholeTotals | undefined> {
    const { redis, statsKey } = this.#options
    if (!this.#run) return undefined
    try {
      const reading = readWholeTotals(redis, statsKey, this.#run.begunAt)
      return await within(CLOSE_ANSWER_MS_MAX, 'reading the stats of all workers', reading)
    } catch (error) {
      this.#logger.warn({ err: error }, 'the stats of all workers cannot be read')
      return undefined
    }
  }

  /** False while the queue’s Redis does not take the heartbeat. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  stat(key: string): number {
    if (!this.#crawlStats.isAsked) this.#hurry()
    return this.#crawlStats.ofOthers(key)
  }

  runningMs(): number {
    if (!this.#clock || !this.#run) return 0
    return this.#clock.redisMs - this.#run.runningSince + performance.now() - this.#clock.at
  }

  async #loop(run: CrawlRun, onFirst: () => void): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#isHurried = false
      const begunAt = performance.now()
      const late = setTimeout(() => this.#onSilence('no answer'), this.#times.answerLateMs).unref()
      try {
        await this.#beat(run)
        this.#onAnswer()
      } catch (error) {
        this.#onSilence((error as Error).message)
      }
      clearTimeout(late)
      onFirst()
      await this.#rest(begunAt)
    }
  }

  async #rest(begunAt: number): Promise<void> {
    if (this.#isHurried || this.#closing.signal.aborted) return
    const isOften = this.#crawlStats.isAsked || !this.#isAnswered
    const restMs =
      (isOften ? this.#times.beatOftenMs : this.#times.beatEveryMs) - (performance.now() - begunAt)
    const resting = new AbortController()
    this.#wake = () => resting.abort()
    await sleep(Math.max(0, restMs), undefined, { signal: resting.signal, ref: false }).catch(() => {})
  }

  /** The next heartbeat comes at once. */
  #hurry(): void {
    this.#isHurried = true
    this.#wake()
  }

  /** Sends the heartbeat and the stats. Both scripts travel together. */
  async #beat({ id, begunAt }: CrawlRun): Promise<void> {
    const { redis, keys, workerId } = this.#options
    const activity = this.#activity()
    const place = this.#options.tells.filterPlace?.()
    const entry = workerEntry(workerId, this.#startedAt, activity, place)
    const blockedEntry = workerEntry(workerId, this.#startedAt, { ...activity, blocked: true }, place)
    this.#blockedBeat.keep('beat', [workerId, id, blockedEntry, '', this.#times.silenceMs, '', ''])
    const comparedBy = this.#isNoted ? '' : alikeOnReturn(this.#times.lostAfterMs, this.#options.alike)
    const beat = [workerId, id, entry, comparedBy, this.#times.silenceMs]
    const sampleEveryMs = this.#options.obeys.onSampleDue ? this.#times.sampleEveryMs : ''
    const report = this.#hostReport.due()
    const args = [...beat, report.text, sampleEveryMs]
    const beating = beatScript.run(redis, beatKeys(keys), args, [...beat, '', ''])
    const [reply] = await Promise.all([beating, this.#writeStats(this.#run!)])
    const [isNoted, now, run, state, paused, stopReason, runningSince, isOver, ...flags] = reply as BeatReply
    const [startEnded, inDoubt, isTold, isSampleDue, orders, ...compared] = flags
    // Noted anew by the next heartbeat.
    if (this.#isNoted && isNoted !== 1) this.#isHurried = true
    this.#isNoted = isNoted === 1
    if (isTold === 1) report.sent()
    if (!this.#isNoted) this.#hostReport.forgotten()
    this.#clock = { redisMs: Number(now), at: performance.now() }
    if (run !== id) return this.#stop(isOver === 1 ? 'cleared' : CRAWL_LOST)
    this.#run = { id, begunAt, runningSince: Number(runningSince) }
    this.#mayStart = startEnded === 0
    this.#mayDoubt = inDoubt === 1
    this.#obey(state!, paused === '1', stopReason!)
    if (!this.#isStopped && hasToEndOnReturn(this.#options, compared)) this.#stop(OTHER_SETTINGS)
    if (isSampleDue === 1) this.#sample()
    if (orders !== this.#orders) await this.#takeOrders(orders)
    if (this.#beats++ % SWEEP_EVERY_BEATS === 0) {
      // An entry that is not deleted now does no harm: another worker deletes it.
      await this.#sweep(Number(now)).catch((err: unknown) => this.#logger.debug({ err }, 'not tidied up'))
    }
  }

  /** What fails is tried again with the next heartbeat. */
  async #takeOrders(orders: string): Promise<void> {
    await this.#options.obeys.onOrders?.()
    this.#orders = orders
  }

  /** Without it a curve has a gap. */
  #sample(): void {
    this.#options.obeys
      .onSampleDue?.()
      .catch((err: unknown) => this.#logger.debug({ err }, 'what the crawl does now could not be kept'))
  }

  async #writeStats(run: CrawlRun): Promise<void> {
    try {
      await this.#crawlStats.write(run)
      this.#isWritten = true
    } catch (error) {
      // They are written with the next heartbeat, or another key must be chosen.
      if (this.#isWritten) this.#logger.warn({ err: error }, 'the stats of this worker cannot be written now')
      this.#isWritten = false
    }
  }

  #obey(state: string, paused: boolean, stopReason: string): void {
    if (state === 'finished') this.#stop('finished')
    if (state === 'stopped') this.#stop(stopReason || 'stopped')
    if (paused === this.#isPaused) return
    this.#isPaused = paused
    this.#logger.info(paused ? 'the crawl is paused' : 'the crawl goes on')
    if (paused) this.#options.obeys.onPause()
    else this.#options.obeys.onResume()
  }

  #stop(reason: string): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#options.obeys.onStop(reason)
  }

  #activity(): WorkerActivity {
    const { tells } = this.#options
    return {
      scrapingFull: false,
      stalled: false,
      waits: '',
      ...tells.activity(),
      ...(tells.held?.() ?? NOTHING_HELD),
      ...this.#rates.measured(),
      ...this.#load.measured(),
      release: tells.release ?? '',
      blocked: false,
    }
  }

  #placesTaken(): number {
    const { activity, concurrency = 0 } = this.#options.tells
    const { downloading, scrapingFull = false } = activity()
    if (scrapingFull) return 1
    return concurrency > 0 ? downloading / concurrency : 0
  }

  /** Deletes the entries of workers that were lost long ago. A worker that lives after all writes its entry anew. */
  async #sweep(nowMs: number): Promise<void> {
    const { redis, keys } = this.#options
    const entries = Object.entries(await redis.hgetall(keys.workers))
    const isOld = (text: string) =>
      (readWorkerEntry(text, nowMs)?.seenAt.getTime() ?? 0) < nowMs - LOST_SHOWN_MS
    const old = entries.filter(([, text]) => isOld(text)).map(([id]) => id)
    if (old.length > 0) {
      // Until now, as one that only stood still would take a Redis that forgot its commands to have gone back in time.
      const hashes = [keys.workers, keys.hostLists, `${keys.frontier}:heard`]
      await Promise.all(hashes.map((hash) => redis.hdel(hash, ...old)))
    }
    const recent = entries.map(([id]) => id).filter((id) => !old.includes(id))
    await this.#crawlStats.forgetAllBut(recent)
    await this.#leftNumbers.sweep(new Set([...recent, ...old]), nowMs)
  }

  #onSilence(reason: string): void {
    if (!this.#isAnswered) return
    this.#isAnswered = false
    this.#logger.warn(
      { reason },
      'the queue’s Redis does not accept this worker’s heartbeat; trying again every second',
    )
  }

  #onAnswer(): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#logger.info('the queue’s Redis accepts this worker’s heartbeat again')
  }
}
