/**
 * What a callback does beside its output, kept until it is known whether that run counts.
 *
 * A probe runs a callback twice, and only one run may be counted. What counts is called from everywhere below the callback (middlewares,
 * the spider, libraries), with nothing that tells the run. So each run has an asynchronous context of its own, and the collector of
 * stats, the signals and the logger look there first. They do so from the first probe of a crawl on: a crawl without one is as it was.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger, Signals, StatsCollector } from '@webloom/core'

/** Of one run: a callback that counts more than that is none to run twice. */
const EFFECTS_MAX = 100_000

/** One run's effects. */
export class HeldEffects {
  #state: 'open' | 'counts' | 'dropped' = 'open'
  #held: (() => void)[] = []
  #lost = 0

  /** Keeps an effect. Once it is known whether the run counts, the effect happens at once or never. */
  take(effect: () => void): void {
    if (this.#state === 'counts') effect()
    else if (this.#state === 'dropped') return
    else if (this.#held.length < EFFECTS_MAX) this.#held.push(effect)
    else this.#lost++
  }

  /** The run counts: what it has done happens now. Returns how many effects were too many to be kept. */
  release(): number {
    const held = this.#held
    this.#state = 'counts'
    this.#held = []
    for (const effect of held) effect()
    return this.#lost
  }

  /** The run does not count. */
  drop(): void {
    this.#state = 'dropped'
    this.#held = []
  }
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export class EffectsHold {
  readonly #runs = new AsyncLocalStorage<HeldEffects>()
  readonly #parts: { stats: StatsCollector; signals: Signals; logger: Logger }
  #isLooking = false

  constructor(parts: { stats: StatsCollector; signals: Signals; logger: Logger }) {
    this.#parts = parts
  }

  /** Runs `run`; what it does in the meantime is `effects`. */
  during<T>(effects: HeldEffects, run: () => T): T {
    if (!this.#isLooking) this.#look()
    this.#isLooking = true
    return this.#runs.run(effects, run)
  }

  /** The run of these effects counts. */
  release(effects: HeldEffects): void {
    const lost = effects.release()
    if (lost > 0)
      this.#parts.logger.warn(
        { lost },
        `a callback counted or logged more than ${EFFECTS_MAX} times for a page of meta.browser 'auto'; the rest is lost`,
      )
  }

  /** The objects stay the same: a crawl's parts hold them, and a collector may be of a class of the user's own. */
  #look(): void {
    const { stats, signals, logger } = this.#parts
    for (const name of ['inc', 'set', 'max', 'min'] as const) this.#holdBack(stats, name)
    for (const name of LEVELS) this.#holdBack(logger, name)
    const send = signals.send.bind(signals)
    signals.send = (async (...args: Parameters<typeof send>) => {
      const effects = this.#runs.getStore()
      if (!effects) return send(...args)
      effects.take(() => void send(...args))
    }) as typeof signals.send
  }

  #holdBack<Name extends string>(object: Record<Name, (...args: never[]) => void>, name: Name): void {
    const method = object[name].bind(object)
    object[name] = (...args) => {
      const effects = this.#runs.getStore()
      if (effects) effects.take(() => method(...args))
      else method(...args)
    }
  }
}
