/**
 * Judges a run while it goes on and at its end, and sees to it that people are told.
 *
 *     look ─► hold (run-hold.ts) ─► judge (judge.ts): alerts and messages noted in one step ─► tell (notifier.ts) ─► let go
 *
 * All workers of a crawl have monitors, and what they note of a run is shared (`RunLog`). While the run goes on, one worker of all looks about
 * every ten seconds, whichever it is. At its end each worker waits until one has judged the whole of it and has told: so when that one is
 * killed, another goes on where it was. A run that goes on after its end is judged again at the next one.
 *
 * A worker that leaves is not kept: each question to Redis has a deadline, and a signal cuts all waits short.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AlertSeen,
  type Logger,
  type RunLog,
  type RunSeen,
  type RunState,
  runFigures,
  type StatsCollector,
  unlessAborted,
  within,
} from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'
import { byName } from '../notifications/channel-names.ts'
import { LogChannel } from '../notifications/log-channel.ts'
import type { NotificationChannel } from '../notifications/notification.ts'
import { OwnLines } from '../notifications/own-lines.ts'
import { watchedFields } from './coverage.ts'
import { Judge } from './judge.ts'
import { endOf, isJudged, LOST_END } from './notes.ts'
import { Notifier } from './notifier.ts'
import { HoldLost, RunHold } from './run-hold.ts'

export interface CrawlMonitorsOptions {
  readonly monitors: Monitors
  readonly runLog: RunLog
  /** Tells this process from all others of the crawl. */
  readonly worker: string
  readonly spider: string
  /** CRAWL_ID. Default: null. */
  readonly crawlId?: string | null
  /** The line that shows the run and the one before, to be typed. Default: with the spider's name. */
  readonly more?: string
  readonly channels: readonly NotificationChannel[]
  readonly stats: StatsCollector
  readonly logger: Logger
  /** COMPONENT_TIMEOUT in milliseconds, for a monitor of the spider's own. */
  readonly timeoutMs: number
  /** Told which fields are watched: by `coverageDrop` those of the runs before. Default: nobody is told. */
  readonly onFields?: (fields: readonly string[]) => void
  /** Nobody begins a request now. Default: never. */
  readonly isPaused?: () => boolean
  /** After so long another worker goes on where a silent one was. */
  readonly holdMs?: number
  /** The pause before the second try to send a message at the end; each further one is twice as long. */
  readonly firstPauseMs?: number
  /** The run log is waited for no longer. */
  readonly answerMs?: number
  /** A worker that leaves waits no longer for the others. */
  readonly endWaitMs?: number
  /** A monitor of the spider's own is waited for no longer, nor than `timeoutMs`. */
  readonly customMs?: number
  /** When it takes longer, what the others have found is told first. */
  readonly customQuickMs?: number
}

/** Together half a minute of pauses. While the run goes on each look is a try. */
const END_TRIES_MAX = 6
const POLL_MS = 300
/** Whoever is asked at the end and does not answer so often is away. */
const MISSES_MAX = 3
/**
 * Ends that are not judged: somebody has stopped the run (Ctrl-C, SIGTERM, `webloom stop`) or cleared it, who knows that it is not whole;
 * its Redis has lost it, which `lost` tells of. Or a worker has refused it before anything was fetched: whoever started it is told why, by the worker or by the schedule.
 */
const GOES_ON = ['shutdown', 'stopped', 'cleared', 'crawl_lost', 'not_opened', 'refused']
const DEFAULTS = {
  crawlId: null,
  onFields: () => {},
  isPaused: () => false,
  holdMs: 15_000,
  firstPauseMs: 1000,
  answerMs: 4000,
  endWaitMs: 120_000,
  customMs: 60_000,
  customQuickMs: 5000,
}

export class CrawlMonitors {
  readonly #options: Required<CrawlMonitorsOptions>
  readonly #channels: ReadonlyMap<string, NotificationChannel>
  readonly #lines: OwnLines
  readonly #judge: Judge
  readonly #notifier: Notifier
  #wasThere = false
  #looking: Promise<void> | undefined
  #acts = 0
  /** What was found when the run log answered last. */
  #known: readonly AlertSeen[] = []

  constructor(options: CrawlMonitorsOptions) {
    this.#options = { ...DEFAULTS, more: `webloom runs ${options.spider} --compare`, ...options }
    const { monitors, spider, crawlId, more, stats, logger, isPaused, firstPauseMs } = this.#options
    const { customQuickMs, timeoutMs } = this.#options
    const customMs = Math.min(this.#options.customMs, timeoutMs)
    this.#lines = new OwnLines(logger, stats)
    this.#channels = byName([new LogChannel(this.#lines, stats), ...options.channels])
    const audience = { spider, crawlId, more, channels: [...this.#channels.keys()] }
    this.#judge = new Judge({ monitors, audience, customMs, customQuickMs, isPaused })
    this.#notifier = new Notifier({ channels: this.#channels, stats, lines: this.#lines, firstPauseMs })
  }

  /** Judges the run as it stands, and tells; nothing while an earlier look is not done. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /**
   * Called when this process has left the crawl. Resolves to what was found in the run when it is over, else to nothing. Never rejects.
   *
   * @param leaving fires when this process is told to end: then it waits for nothing more
   */
  async ended(leaving: AbortSignal = new AbortController().signal): Promise<readonly AlertSeen[]> {
    const over = AbortSignal.any([leaving, AbortSignal.timeout(this.#options.endWaitMs)])
    try {
      await unlessAborted(over, this.#looking ?? Promise.resolve())
      return await this.#ended(over)
    } catch (err) {
      this.#lines.error({ err }, 'the monitors could not judge this run')
      return this.#known
    } finally {
      await this.close()
    }
  }

  /**
   * Called in place of `ended` when the crawl is gone from Redis, and nobody cleared it: nothing can be judged, and people are told that.
   * What is noted of the run is on that Redis, so of all workers one tells. Never rejects.
   */
  async lost(leaving: AbortSignal = new AbortController().signal): Promise<readonly AlertSeen[]> {
    const { stats, runLog, answerMs, endWaitMs } = this.#options
    const over = AbortSignal.any([leaving, AbortSignal.timeout(endWaitMs)])
    try {
      await unlessAborted(over, this.#looking ?? Promise.resolve())
      const keeping = runLog.keepLost?.(runFigures(stats.snapshot()))
      const run = await within(
        answerMs,
        'what is known of the lost run',
        keeping ?? Promise.resolve(undefined),
      )
      return run ? await this.#untilDone(over, () => this.#lostOnce(run, over)) : []
    } catch (err) {
      this.#lines.error({ err }, 'nobody could be told that the crawl is lost')
      return this.#known
    } finally {
      await this.close()
    }
  }

  /** `ended` does so itself. Never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#channels.values()].map((channel) => channel.close()))
  }

  /** Called when this process takes part in the run, before its first item. Never rejects. */
  async joined(): Promise<void> {
    this.#wasThere = true
    const { monitors, runLog, answerMs, onFields } = this.#options
    if (monitors.coverageDrop === undefined) return
    const looking = within(answerMs, 'which fields the runs before had', runLog.look())
    // The first look while the run goes on tells it, too.
    const look = await looking.catch(() => undefined)
    if (look) onFields(watchedFields(monitors, look.past))
  }

  async #look(): Promise<void> {
    const { runLog, answerMs, monitors, onFields } = this.#options
    try {
      const look = await within(answerMs, 'how the run stands', runLog.look())
      if (look) onFields(watchedFields(monitors, look.past))
      if (look?.run.state !== 'running') return
      await this.#holding(look.run.run, async (hold) => {
        await this.#judge.now(hold, look)
        await this.#notifier.sendAll({ hold, triesMax: 1, isEnd: false, leaving: hold.lost })
      })
    } catch (err) {
      this.#lines.warn({ err }, 'the monitors could not look at the run; they look again soon')
    }
  }

  #ended(over: AbortSignal): Promise<readonly AlertSeen[]> {
    return this.#untilDone(over, (isFirst) => this.#endOnce(isFirst, over))
  }

  async #untilDone(
    over: AbortSignal,
    once: (isFirst: boolean) => Promise<readonly AlertSeen[] | undefined>,
  ): Promise<readonly AlertSeen[]> {
    let misses = 0
    for (let isFirst = true; ; isFirst = false) {
      try {
        const found = await once(isFirst)
        if (found) return found
        misses = 0
      } catch (error) {
        if (++misses >= MISSES_MAX || over.aborted) throw error
      }
      if (over.aborted) {
        this.#lines.warn({}, 'this worker leaves before the run is judged and all alerts are sent')
        return this.#known
      }
      await sleep(POLL_MS, undefined, { signal: over }).catch(() => {})
    }
  }

  /** Resolves to what was found when the run is judged and told of, or is not over; undefined when it is to be seen again. */
  async #endOnce(isFirst: boolean, leaving: AbortSignal): Promise<readonly AlertSeen[] | undefined> {
    const { runLog, answerMs } = this.#options
    const state = await within(answerMs, 'whether the run has ended', runLog.state())
    if (!state || state.state === 'running' || GOES_ON.includes(state.finishReason ?? '')) return []
    const reading = runLog.change(state.run, (notes) => [notes, notes])
    const notes = await within(answerMs, 'what monitors have noted of the run', reading)
    this.#known = notes.alerts
    const isDone = isJudged(notes, endOf(state)) && notes.outbox.length === 0
    // Judged long ago: this process came to a crawl that was over.
    if (isDone) return isFirst && !this.#wasThere ? [] : notes.alerts
    if (state.isWhole) await this.#holding(state.run, (hold) => this.#end(hold, state, leaving))
    return undefined
  }

  /** As `#endOnce`. */
  async #lostOnce(run: RunSeen, leaving: AbortSignal): Promise<readonly AlertSeen[] | undefined> {
    const { runLog, answerMs } = this.#options
    const reading = runLog.change(run.run, (notes) => [notes, notes])
    const notes = await within(answerMs, 'what monitors have noted of the run', reading)
    this.#known = notes.alerts
    if (isJudged(notes, LOST_END) && notes.outbox.length === 0) return notes.alerts
    await this.#holding(run.run, async (hold) => {
      await this.#judge.lost(hold, run)
      await this.#notifier.sendAll({ hold, triesMax: END_TRIES_MAX, isEnd: true, leaving })
    })
    return undefined
  }

  async #end(hold: RunHold, state: RunState, leaving: AbortSignal): Promise<void> {
    const { runLog, answerMs } = this.#options
    const look = await within(answerMs, 'what the run came to', runLog.look())
    // Somebody goes on with it.
    if (look?.run.run !== state.run || endOf(look.run) !== endOf(state)) return
    // A monitor of the spider's own may take its time; another worker then judges the run.
    const onSlow = async (others: readonly AlertSeen[]) => {
      this.#known = others
      await this.#notifier.sendAll({ hold, triesMax: 1, isEnd: false, leaving })
    }
    const found = await unlessAborted(leaving, this.#judge.end(hold, look, onSlow))
    if (!found) return
    this.#known = found
    await this.#notifier.sendAll({ hold, triesMax: END_TRIES_MAX, isEnd: true, leaving })
  }

  /** Does nothing when another act has the run. */
  async #holding(run: string, act: (hold: RunHold) => Promise<void>): Promise<void> {
    const { runLog, worker, holdMs, answerMs } = this.#options
    const token = `${worker}#${++this.#acts}`
    const hold = await RunHold.take({ runLog, run, token, holdMs, answerMs })
    if (!hold) return
    try {
      await act(hold)
    } catch (error) {
      // Whoever has it goes on where this act was.
      if (!(error instanceof HoldLost)) throw error
    } finally {
      await hold.letGo()
    }
  }
}
