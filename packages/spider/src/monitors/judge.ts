/** Looks at how a run stands, and notes in one step what is wrong with it and what is to be told: whoever holds the run has one. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type AlertSeen, type RunLook, type RunSeen, withDeadline, withoutTextSecrets } from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'
import { thrownMessage } from '../scraping/error-kinds.ts'
import { latestCoverage, worstOf } from './coverage.ts'
import type { Finding } from './finding.ts'
import { checkpointOf, judgeEnd, judgeNow, withCheckpoint } from './judging.ts'
import { type Audience, endOf, goneOn, isJudged, LOST_END, withRaised, withResolved } from './notes.ts'
import { clockAt, isSamePart } from './run-clock.ts'
import type { RunHold } from './run-hold.ts'

export interface JudgeOptions {
  readonly monitors: Monitors
  readonly audience: Audience
  /** A monitor of the spider's own is waited for no longer. */
  readonly customMs: number
  /** When it takes longer, what the others have found is told before its answer. */
  readonly customQuickMs: number
  /** Nobody begins a request now. */
  readonly isPaused: () => boolean
}

const CHECKPOINTS_MAX = 40
const LOST: Finding = {
  id: 'crawl_lost',
  words:
    'the crawl, or a shard of it, is gone from its Redis, and nobody cleared it: the requests that were queued there are lost, and perhaps schedules (see webloom schedule list). The log of its workers says what to do. Pages and items are here those of one worker',
}

export class Judge {
  readonly #options: JudgeOptions

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  /** While the run goes on. */
  async now(hold: RunHold, look: RunLook): Promise<void> {
    const { monitors, audience, isPaused } = this.#options
    await hold.change((found, nowMs) => {
      const notes = goneOn(found)
      const clock = clockAt(notes.clock, look, isPaused())
      // What happened while nobody crawled is no stretch of items.
      const isGoingOn = notes.clock === undefined || isSamePart(notes.clock, look.runningSinceMs)
      const checkpoints = isGoingOn ? notes.checkpoints : []
      const { findings, worst } = judgeNow(monitors, look, { checkpoints, clock, alerts: notes.alerts })
      const given = { look, nowMs, audience }
      const judged = withResolved(withRaised(notes, findings, given).notes, findings, given)
      const checkpoint = checkpointOf(monitors, look)
      return [
        {
          ...judged,
          clock,
          worst: worstOf(notes.worst, worst),
          checkpoints: withCheckpoint(checkpoints, checkpoint, CHECKPOINTS_MAX),
        },
        undefined,
      ]
    })
  }

  /**
   * Judges a run that has ended. Of two that judge the same end the second finds that it was judged. Resolves to all that was found in the run.
   *
   * @param onSlow called with what was found beside a monitor of the spider's own that takes its time: it may never answer
   */
  async end(
    hold: RunHold,
    look: RunLook,
    onSlow: (found: readonly AlertSeen[]) => Promise<void>,
  ): Promise<readonly AlertSeen[]> {
    const end = endOf(look.run)
    const judged = await hold.change((notes) => [notes, isJudged(notes, end) ? notes.alerts : undefined])
    if (judged) return judged
    const asked = this.#custom(look)
    const custom = await Promise.race([asked, sleep(this.#options.customQuickMs, undefined, { ref: false })])
    if (custom) return this.#noteEnd(hold, look, custom)
    await onSlow(await this.#noteEnd(hold, look))
    return this.#noteEnd(hold, look, await asked)
  }

  /** A run whose crawl is gone. Of two that note it the second finds it noted. */
  async lost(hold: RunHold, run: RunSeen): Promise<void> {
    await hold.change((notes, nowMs) => {
      if (isJudged(notes, LOST_END)) return [notes, undefined]
      const look = { run, past: [], stats: {}, atMs: nowMs, runningSinceMs: Date.parse(run.begunAt) }
      const given = { look, nowMs, audience: this.#options.audience }
      const { notes: noted, raised } = withRaised(notes, [LOST], given)
      return [{ ...noted, judgedEnd: { at: LOST_END, alerts: raised.map(({ id }) => id) } }, undefined]
    })
  }

  /** Without `custom` that is noted later. */
  #noteEnd(hold: RunHold, look: RunLook, custom?: readonly Finding[]): Promise<readonly AlertSeen[]> {
    const { monitors, audience } = this.#options
    const end = endOf(look.run)
    return hold.change((found, nowMs) => {
      const isHalfJudged = found.judgedEnd?.at === end
      const notes = isHalfJudged ? found : goneOn(found)
      const clock = clockAt(notes.clock, look, false)
      const findings = [...judgeEnd(monitors, look, clock), ...(custom ?? [])]
      const given = { look, nowMs, audience }
      const { notes: noted, raised } = withRaised(notes, findings, given)
      const latest = latestCoverage(monitors, look, notes.checkpoints, notes.alerts)
      const isMeant = (id: string) => id.startsWith('coverage/')
      const resolved = withResolved(noted, [...findings, ...latest.findings], {
        ...given,
        afterMs: 0,
        isMeant,
      })
      const before = isHalfJudged ? (found.judgedEnd?.alerts ?? []) : []
      const judgedEnd = {
        at: end,
        alerts: [...before, ...raised.map(({ id }) => id)],
        ...(custom === undefined && { isWithoutCustom: true as const }),
      }
      const worst = worstOf(notes.worst, latest.worst)
      return [{ ...resolved, clock, worst, judgedEnd }, resolved.alerts]
    })
  }

  /** What a monitor of the spider's own finds; that it throws is such a thing, too. */
  async #custom(look: RunLook): Promise<Finding[]> {
    const { custom } = this.#options.monitors
    if (!custom) return []
    const { customMs } = this.#options
    const silent = new Error(`the monitor custom has not answered for ${customMs / 1000} s`)
    try {
      const run = { ...look.run, stats: look.stats, hasEnded: true }
      const asked = async () => custom(run, look.past)
      const answer: unknown = await withDeadline(customMs, asked(), () => silent)
      if (answer === undefined || answer === null || answer === false || answer === '') return []
      if (answer === true) return [{ id: 'custom', words: 'the monitor custom says that something is wrong' }]
      return [answer].flat().map((words, n) => ({
        id: n === 0 ? 'custom' : `custom/${n + 1}`,
        words: withoutTextSecrets(customWords(words)),
      }))
    } catch (error) {
      if (error === silent) return [{ id: 'custom', words: silent.message }]
      return [
        { id: 'custom', words: `the monitor custom threw: ${withoutTextSecrets(thrownMessage(error))}` },
      ]
    }
  }
}

function customWords(answer: unknown): string {
  if (typeof answer === 'string') return answer
  const what =
    answer === null || answer === undefined
      ? String(answer)
      : `${/^[aeiou]/.test(typeof answer) ? 'an' : 'a'} ${typeof answer}`
  return `the monitor custom returned ${what}, where a text, a list of texts, true, false or nothing is expected`
}
