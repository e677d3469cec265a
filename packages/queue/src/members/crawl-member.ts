/**
 * A worker as a member of its crawl. Every three seconds it gives a sign of life, tells what it is doing, and is told what
 * the crawl wants of it: go on, pause, stop. Whoever asks for something calls (crawl-calls.ts), and the next sign of life
 * comes at once. So it reaches all workers at once, with a lost call within three seconds, and a worker that is killed is
 * known to be lost after ten.
 *
 * What it has counted it tells about every ten seconds, and at its end; a worker that is killed takes that long with it.
 * Where limits hold for all workers together (CLOSESPIDER_*), both are told every second.
 *
 * One thing at a time: while Redis does not answer, the next sign waits, and the log says so once. Nothing here ever ends a
 * crawl for a Redis that is away.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Logger,
  type OtherWorkers,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type StatsCollector,
  silentLogger,
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { CRAWL_LOST, type CrawlRun } from '../crawl/redis-crawl-record.ts'
import { KEPT_BY_NOBODY, type KeptLocks, type LockKeeper } from '../leasing/lock-keeper.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { VitalScript } from '../redis/vital-script.ts'
import type { CrawlCalls } from './crawl-calls.ts'
import { CrawlStats, readWholeTotals, type WholeTotals } from './crawl-stats.ts'
import { readWorkerEntry, type WorkerActivity, workerEntry } from './crawl-worker.ts'

export interface CrawlMemberOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** Opened and closed by whoever gives it. Without it, what is asked is learnt with the next sign of life. */
  readonly calls?: CrawlCalls
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  readonly workerId: string
  /** Gives the sign of life while a callback blocks the event loop. */
  readonly keeper?: LockKeeper
  readonly stats: StatsCollector
  /** What is under way at this moment. */
  readonly activity: () => { readonly downloading: number; readonly scraping: number }
  readonly onPause: () => void
  readonly onResume: () => void
  /**
   * The crawl is over for all workers: `finished`, why it was stopped, `cleared` when somebody cleared it or began another
   * run when this one was over, or `crawl_lost` when its record is gone, or another's, and nobody asked for that. Called once.
   */
  readonly onStop: (reason: string) => void
  readonly logger?: Logger
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/** What is said last may take so long; what is not said then is missing in the totals. */
const CLOSE_ANSWER_MS_MAX = 4000
/** How long a lost worker is shown, and how often somebody tidies up behind those. */
const LOST_SHOWN_MS = 600_000
const SWEEP_EVERY_BEATS = 20
/** Rates are of so long. */
const RATE_MS = 10_500

const beatScript = new VitalScript('redis/now.lua', 'members/beat.lua')

type BeatReply = [number, string, string, string, string, string, string, number, number, number]

function beatKeys({ record, workers, cleared, doubts }: CrawlRedisKeys): string[] {
  return [record, workers, cleared, doubts]
}

/** Done so far, at a moment of the monotonic clock. */
interface Done {
  readonly at: number
  readonly pages: number
  readonly items: number
}

export class CrawlMember implements OtherWorkers {
  readonly #options: CrawlMemberOptions
  readonly #logger: Logger
  readonly #times: ProtocolTimes['members']
  readonly #crawlStats: CrawlStats
  /** The sign of life that is given when this worker is blocked. */
  readonly #blockedBeat: KeptLocks
  readonly #closing = new AbortController()
  readonly #startedAt = new Date()
  #run: CrawlRun | undefined
  #looping: Promise<void> | undefined
  #beats = 0
  #done: Done[] = []
  #clock: { readonly redisMs: number; readonly at: number } | undefined
  #isPaused = false
  #isStopped = false
  #isAnswered = true
  #isNoted = true
  #isWritten = true
  #writtenAt = Number.NEGATIVE_INFINITY
  #isHurried = false
  /** True until the crawl has said that there is nothing of the kind. */
  #mayStart = true
  #mayDoubt = true
  /** Ends the rest between two signs of life. */
  #wake = () => {}

  constructor(options: CrawlMemberOptions) {
    this.#options = options
    options.calls?.listen({ onAsked: () => this.#hurry() })
    this.#logger = options.logger ?? silentLogger
    this.#times = (options.times ?? PROTOCOL_TIMES).members
    this.#crawlStats = new CrawlStats(options)
    const renewal = { lua: beatScript.lua, keys: beatKeys(options.keys), args: [] }
    this.#blockedBeat = options.keeper?.locks(renewal) ?? KEPT_BY_NOBODY
  }

  /** Begins with the signs of life. Resolves when the crawl's wishes are known, or Redis does not tell them at once. */
  async open(run: CrawlRun): Promise<void> {
    this.#run = run
    const first = Promise.withResolvers<void>()
    this.#looping = this.#loop(run, first.resolve)
    await within(this.#times.answerLateMs, 'the first sign of life', first.promise).catch(() => {})
  }

  /** False when start() had ended by the last sign of life: nobody need ask for the right to run it. */
  get mayStart(): boolean {
    return this.#mayStart
  }

  /** False when no link was in doubt by the last sign of life: nobody need look for one that another worker has set aside. */
  get mayDoubt(): boolean {
    return this.#mayDoubt
  }

  /** Writes the final stats. Others see this worker as present until its record has left. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake()
    this.#blockedBeat.drop('beat')
    const run = this.#run
    if (!run) return
    try {
      const end = async () => {
        await this.#looping
        await this.#crawlStats.end(run)
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
      this.#logger.warn({ err: error }, 'what all workers have done cannot be read')
      return undefined
    }
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

  /** The next sign of life comes at once. */
  #hurry(): void {
    this.#isHurried = true
    this.#wake()
  }

  /** Both scripts travel together. */
  async #beat({ id, begunAt }: CrawlRun): Promise<void> {
    const { redis, keys, workerId } = this.#options
    const activity = this.#activity()
    const entry = workerEntry(workerId, this.#startedAt, activity)
    const blockedEntry = workerEntry(workerId, this.#startedAt, { ...activity, blocked: true })
    this.#blockedBeat.keep('beat', [workerId, id, blockedEntry, 0, this.#times.silenceMs])
    const beating = beatScript.run(redis, beatKeys(keys), [
      workerId,
      id,
      entry,
      this.#isNoted ? 0 : 1,
      this.#times.silenceMs,
    ])
    const [reply] = await Promise.all([beating, this.#isWriteDue && this.#writeStats(this.#run!)])
    const [isNoted, now, run, state, paused, stopReason, runningSince, isOver, startEnded, inDoubt] =
      reply as BeatReply
    this.#isNoted = isNoted === 1
    this.#clock = { redisMs: Number(now), at: performance.now() }
    if (run !== id) return this.#stop(isOver === 1 ? 'cleared' : CRAWL_LOST)
    this.#run = { id, begunAt, runningSince: Number(runningSince) }
    this.#mayStart = startEnded === 0
    this.#mayDoubt = inDoubt === 1
    this.#obey(state!, paused === '1', stopReason!)
    if (this.#beats++ % SWEEP_EVERY_BEATS === 0) {
      // What is left lying does no harm until somebody else's turn.
      await this.#sweep(Number(now)).catch((err: unknown) => this.#logger.debug({ err }, 'not tidied up'))
    }
  }

  /** The very first write says only who is there; so what was counted since goes with the next sign of life. */
  get #isWriteDue(): boolean {
    if (this.#beats <= 1 || this.#crawlStats.isAsked || !this.#isWritten) return true
    return performance.now() - this.#writtenAt >= this.#times.statsEveryMs
  }

  async #writeStats(run: CrawlRun): Promise<void> {
    try {
      await this.#crawlStats.write(run)
      this.#isWritten = true
      this.#writtenAt = performance.now()
    } catch (error) {
      // They are written with the next sign of life, or another key must be chosen.
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
    if (paused) this.#options.onPause()
    else this.#options.onResume()
  }

  #stop(reason: string): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#options.onStop(reason)
  }

  #activity(): WorkerActivity {
    const { stats, activity } = this.#options
    const count = (key: string) => Number(stats.get(key) ?? 0)
    const done = {
      at: performance.now(),
      pages: count('response_received_count'),
      items: count('item_scraped_count'),
    }
    this.#done = [...this.#done.filter(({ at }) => done.at - at <= RATE_MS), done]
    const { at, pages, items } = this.#done[0]!
    const perMinute = (more: number) => (done.at > at ? Math.round((more * 60_000) / (done.at - at)) : 0)
    return {
      ...activity(),
      pages: done.pages,
      items: done.items,
      pagesPerMinute: perMinute(done.pages - pages),
      itemsPerMinute: perMinute(done.items - items),
      blocked: false,
    }
  }

  /** Whoever finds them forgets the lost. One that lives after all is noted anew, and counts on. */
  async #sweep(nowMs: number): Promise<void> {
    const { redis, keys } = this.#options
    const entries = Object.entries(await redis.hgetall(keys.workers))
    const isOld = (text: string) =>
      (readWorkerEntry(text, nowMs)?.seenAt.getTime() ?? 0) < nowMs - LOST_SHOWN_MS
    const old = entries.filter(([, text]) => isOld(text)).map(([id]) => id)
    if (old.length > 0) {
      // Until now, as one that only stood still would take a Redis that forgot its commands to have gone back in time.
      await Promise.all([redis.hdel(keys.workers, ...old), redis.hdel(`${keys.turns}:heard`, ...old)])
    }
    await this.#crawlStats.forgetAllBut(entries.map(([id]) => id).filter((id) => !old.includes(id)))
  }

  #onSilence(reason: string): void {
    if (!this.#isAnswered) return
    this.#isAnswered = false
    this.#logger.warn(
      { reason },
      'the queue’s Redis does not take this worker’s sign of life; it is tried again every second',
    )
  }

  #onAnswer(): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#logger.info('the queue’s Redis knows this worker again')
  }
}
