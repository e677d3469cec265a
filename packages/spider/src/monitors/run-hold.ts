/**
 * The right to judge a run and to tell of it: one act of one worker at a time has it.
 *
 * It is a lock with a time: whoever has it renews it by a timer, and when its process dies or stands still another takes it. Each act has a
 * token of its own, and what an act notes is refused when the token is not there any more: so one that was overtaken cannot undo what came
 * after it.
 */

import { type MonitorNotes, type RunLog, within } from '@webloom/core'

export interface RunHoldOptions {
  readonly runLog: RunLog
  readonly run: string
  /** Of this act alone. */
  readonly token: string
  /** After so long another worker goes on where a silent one was. */
  readonly holdMs: number
  /** The run log is waited for no longer. */
  readonly answerMs: number
}

/** Another act has the run. */
export class HoldLost extends Error {}

export class RunHold {
  readonly #options: RunHoldOptions
  readonly #lost = new AbortController()
  readonly #renewal: NodeJS.Timeout

  private constructor(options: RunHoldOptions) {
    this.#options = options
    this.#renewal = setInterval(() => void this.#renew(), options.holdMs / 3).unref()
  }

  /** Resolves to undefined when another act has the run. */
  static async take(options: RunHoldOptions): Promise<RunHold | undefined> {
    const { runLog, run, token, holdMs, answerMs } = options
    const taking = runLog.change(run, (notes, nowMs) => {
      const { hold } = notes
      // A clock that was set back must not lock everybody out.
      const isOthers = hold && hold.untilMs > nowMs && hold.untilMs - nowMs <= 2 * holdMs
      if (isOthers) return [notes, false]
      return [{ ...notes, hold: { token, untilMs: nowMs + holdMs } }, true]
    })
    return (await within(answerMs, 'the right to judge the run', taking)) ? new RunHold(options) : undefined
  }

  /** Fires when another act has the run. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Changes notes as `RunLog.change` does. Rejects with `HoldLost` when another act has the run, and then changes nothing. */
  async change<T>(change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T]): Promise<T> {
    const { runLog, run, token, answerMs } = this.#options
    const changing = runLog.change<{ readonly result: T } | undefined>(run, (notes, nowMs) => {
      if (notes.hold?.token !== token) return [notes, undefined]
      const [changed, result] = change(notes, nowMs)
      return [changed, { result }]
    })
    const answer = await within(answerMs, 'what monitors note of the run', changing)
    if (answer) return answer.result
    this.#lost.abort()
    throw new HoldLost('another worker judges this run now')
  }

  /** Never rejects: what is not let go runs out. */
  async letGo(): Promise<void> {
    clearInterval(this.#renewal)
    await this.change((notes) => {
      const { hold: _done, ...others } = notes
      return [others, undefined]
    }).catch(() => {})
  }

  async #renew(): Promise<void> {
    const { token, holdMs } = this.#options
    // What is not answered now is tried again, and another act can take the run only when it has run out.
    await this.change((notes, nowMs) => [
      { ...notes, hold: { token, untilMs: nowMs + holdMs } },
      undefined,
    ]).catch(() => {})
  }
}
