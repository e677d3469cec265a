/**
 * Judges a run while it goes on and at its end, and sees to it that people are told.
 *
 *     look ─► hold ─► judge ─► raise: once a run of each id ─► tell: under one message id ─► let go
 *
 * All workers of a crawl have monitors, and what they note of a run is shared (`RunLog`). While the run goes on, one worker of all looks about
 * every ten seconds, whichever it is. At its end each worker waits until one has judged the whole of it and has told: so when that one is
 * killed, another goes on where it was. What was raised is told though its judge died, and what was sent is sent again under the same id only
 * when its sender died before it could note that.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AlarmSeen, Logger, MonitorNotes, RunLog, RunLook, StatsCollector } from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'
import { type NoticeChannel, NoticeRefused } from '../notices/notice.ts'
import { thrownMessage } from '../scraping/error-kinds.ts'
import { inTime } from '../scraping/in-time.ts'
import { PAGES_STAT } from './example-pages.ts'
import { type Finding, judgeEnd, judgeNow, markOf, withMark } from './judging.ts'

export interface CrawlMonitorsOptions {
  readonly monitors: Monitors
  readonly runLog: RunLog
  /** Tells this process from all others of the crawl. */
  readonly worker: string
  readonly spider: string
  readonly channels: readonly NoticeChannel[]
  readonly stats: StatsCollector
  readonly logger: Logger
  /** COMPONENT_TIMEOUT in milliseconds, for a monitor of the spider's own. */
  readonly timeoutMs: number
  /** After so long another worker goes on where a silent one was. Longer than a message takes. */
  readonly holdMs?: number
  /** The pause before the second try to send a message at the end; each further one is twice as long. */
  readonly firstPauseMs?: number
}

const ALARMS_MAX = 50
const WORDS_CHARS_MAX = 500
const MARKS_MAX = 40
const SEND_MS_MAX = 10_000
/** Together half a minute of pauses. While the run goes on each look is a try. */
const END_TRIES_MAX = 6
const HOLD_MS = 15_000
const POLL_MS = 300
/** A worker that leaves waits no longer for the others. */
const END_WAIT_MS_MAX = 120_000
/** Whoever stops a crawl knows it, and it goes on later: it is not judged as one that is over. */
const GOES_ON = ['shutdown', 'cleared', 'crawl_lost']

export class CrawlMonitors {
  readonly #options: Required<CrawlMonitorsOptions>
  #wasThere = false

  constructor(options: CrawlMonitorsOptions) {
    this.#options = { holdMs: HOLD_MS, firstPauseMs: 1000, ...options }
  }

  /** Judges the run as it stands, and tells. Never rejects. */
  async look(): Promise<void> {
    try {
      const look = await this.#options.runLog.look()
      if (look?.run.state !== 'running') return
      await this.#holding(look.run.run, async () => {
        const { monitors } = this.#options
        const marks = await this.#options.runLog.change(look.run.run, (notes) => [notes, notes.marks])
        await this.#raise(look, judgeNow(monitors, look, marks), (notes) => ({
          ...notes,
          marks: withMark(notes.marks, markOf(monitors, look), MARKS_MAX),
        }))
        await this.#tell(look, 1)
      })
    } catch (err) {
      this.#options.logger.warn({ err }, 'the monitors could not look at the run; they look again soon')
    }
  }

  /** Called when this process has left the crawl. Resolves to what was found in the run when it is over, else to nothing. Never rejects. */
  async ended(): Promise<readonly AlarmSeen[]> {
    try {
      return await this.#ended()
    } catch (err) {
      this.#options.logger.error({ err }, 'the monitors could not judge this run')
      return []
    } finally {
      await Promise.allSettled(this.#options.channels.map((channel) => channel.close()))
    }
  }

  /** Called when this process takes part in the run. */
  joined(): void {
    this.#wasThere = true
  }

  async #ended(): Promise<readonly AlarmSeen[]> {
    const { runLog, holdMs, logger } = this.#options
    const deadline = performance.now() + END_WAIT_MS_MAX + holdMs
    for (let isFirst = true; ; isFirst = false) {
      const look = await runLog.look()
      const { state, finishReason = '', run } = look?.run ?? {}
      if (!look || run === undefined || state === 'running' || GOES_ON.includes(finishReason)) return []
      const notes = await runLog.change(run, (notes) => [notes, notes])
      // Judged long ago: this process came to a crawl that was over.
      if (notes.isJudged && untold(notes).length === 0) return isFirst && !this.#wasThere ? [] : notes.alarms
      if (performance.now() > deadline) {
        logger.error('another worker has not judged this run in time, or has not told what was found')
        return notes.alarms
      }
      if (!look.isWhole || !(await this.#holding(run, () => this.#end(look)))) await sleep(POLL_MS)
    }
  }

  async #end(look: RunLook): Promise<void> {
    const { monitors, runLog } = this.#options
    const isJudged = await runLog.change(look.run.run, (notes) => [notes, notes.isJudged])
    if (!isJudged) {
      const findings = [...judgeEnd(monitors, look), ...(await this.#custom(look))]
      await this.#raise(look, findings, (notes) => ({ ...notes, isJudged: true }))
    }
    await this.#tell(look, END_TRIES_MAX)
  }

  /** What a monitor of the spider's own finds; that it throws is such a thing, too. */
  async #custom(look: RunLook): Promise<Finding[]> {
    const { custom } = this.#options.monitors
    if (!custom) return []
    try {
      const run = { ...look.run, stats: look.stats, hasEnded: true }
      const asked = async () => custom(run, look.past)
      const answer: unknown = await inTime('the monitor custom', asked, this.#options.timeoutMs)
      if (answer === undefined || answer === null || answer === true || answer === '') return []
      if (answer === false) return [{ id: 'custom', words: 'custom says that something is wrong' }]
      return [answer]
        .flat()
        .map((words, n) => ({ id: n === 0 ? 'custom' : `custom/${n + 1}`, words: String(words) }))
    } catch (error) {
      return [{ id: 'custom', words: `the monitor custom threw: ${thrownMessage(error)}` }]
    }
  }

  /** Notes what was not found before in this run. */
  async #raise(
    look: RunLook,
    findings: readonly Finding[],
    also: (notes: MonitorNotes) => MonitorNotes,
  ): Promise<void> {
    const { runLog, stats } = this.#options
    const raised = await runLog.change(look.run.run, (notes, nowMs) => {
      const known = new Set(notes.alarms.map(({ id }) => id))
      const room = ALARMS_MAX - known.size
      const fresh = findings.filter(({ id }) => !known.has(id)).slice(0, room)
      const alarms = fresh.map((finding) => alarmOf(finding, look, nowMs))
      return [also({ ...notes, alarms: [...notes.alarms, ...alarms] }), alarms]
    })
    for (const { id } of raised) stats.inc(`monitors/alarm_count/${id.split('/')[0]}`)
  }

  /** Sends what nobody was told of yet. What cannot be sent in so many tries stays for the next look; at the end it is given up. */
  async #tell(look: RunLook, triesMax: number): Promise<void> {
    const { runLog, channels, logger } = this.#options
    const sending = await runLog.change(look.run.run, (notes) => {
      if (notes.sending) return [notes, { ...notes.sending, all: notes.alarms }]
      const alarms = untold(notes)
      if (alarms.length === 0) return [notes, undefined]
      const next = { id: randomUUID(), alarms }
      return [
        { ...notes, sending: next },
        { ...next, all: notes.alarms },
      ]
    })
    if (!sending) return
    const alarms = sending.all.filter(({ id }) => sending.alarms.includes(id))
    const isEnd = look.run.endedAt !== undefined
    const notice = {
      id: sending.id,
      spider: this.#options.spider,
      run: look.run.run,
      alarms,
      pages: look.run.pages,
      items: look.run.items,
      ...(isEnd && { finishReason: look.run.finishReason ?? look.run.state }),
    }
    for (const { id, words, pages } of alarms)
      logger.error({ monitor: id, ...(pages && { pages }) }, `monitor ${id}: ${words}`)
    const sent = await Promise.all(channels.map((channel) => this.#send(channel, notice, triesMax)))
    if (!isEnd && sent.includes(false)) return
    await runLog.change(look.run.run, ({ sending: done, ...notes }) => [
      { ...notes, told: [...notes.told, ...sending.alarms] },
      undefined,
    ])
  }

  /** False when it may be sent later. */
  async #send(
    channel: NoticeChannel,
    notice: Parameters<NoticeChannel['send']>[0],
    triesMax: number,
  ): Promise<boolean> {
    const { logger, stats, firstPauseMs } = this.#options
    for (let tries = 1; ; tries++) {
      try {
        await channel.send(notice, AbortSignal.timeout(SEND_MS_MAX))
        stats.inc('monitors/notice_count/sent')
        return true
      } catch (error) {
        const reason = thrownMessage(error)
        const isRefused = error instanceof NoticeRefused
        if (isRefused || (tries >= triesMax && triesMax > 1)) {
          stats.inc('monitors/notice_count/lost')
          logger.error(
            { channel: channel.name, reason },
            'this could not be told; the alarms are in the log and in webloom runs',
          )
          return true
        }
        logger.warn({ channel: channel.name, reason }, 'this could not be told now; it is tried again')
        if (tries >= triesMax) return false
        await this.#hold(notice.run)
        await sleep(firstPauseMs * 2 ** (tries - 1))
        await this.#hold(notice.run)
      }
    }
  }

  /** Resolves to false when another worker is at it. */
  async #holding(run: string, act: () => Promise<void>): Promise<boolean> {
    if (!(await this.#hold(run))) return false
    try {
      await act()
    } finally {
      const { runLog, worker } = this.#options
      await runLog.change(run, (notes) => {
        if (notes.busy?.by !== worker) return [notes, undefined]
        const { busy: _done, ...rest } = notes
        return [rest, undefined]
      })
    }
    return true
  }

  #hold(run: string): Promise<boolean> {
    const { runLog, worker, monitors, holdMs, timeoutMs } = this.#options
    const forMs = holdMs + (monitors.custom && Number.isFinite(timeoutMs) ? timeoutMs : 0)
    return runLog.change(run, (notes, nowMs) => {
      const { busy } = notes
      // A clock that was set back must not lock everybody out.
      const isOthers = busy && busy.by !== worker && busy.untilMs > nowMs && busy.untilMs - nowMs <= 2 * forMs
      if (isOthers) return [notes, false]
      return [{ ...notes, busy: { by: worker, untilMs: nowMs + forMs } }, true]
    })
  }
}

function untold({ alarms, told }: MonitorNotes): string[] {
  return alarms.map(({ id }) => id).filter((id) => !told.includes(id))
}

function alarmOf({ id, words, field }: Finding, look: RunLook, nowMs: number): AlarmSeen {
  const pages = field === undefined ? [] : pagesOf(look.stats[`${PAGES_STAT}${field}`])
  return {
    id,
    words: words.slice(0, WORDS_CHARS_MAX),
    at: new Date(nowMs).toISOString(),
    ...(pages.length > 0 && { pages }),
  }
}

function pagesOf(stat: unknown): string[] {
  return typeof stat === 'string' ? (JSON.parse(stat) as string[]) : []
}
