/** How often it looks. A machine with nothing else to do is late by a millisecond or less. */
const LOOK_EVERY_MS = 20

/**
 * How late timers come in this process: how long the machine had no time for what was due. A test of how soon something happens
 * adds that to what is promised, and is then as strict on a quiet machine as the promise, and fails on no busy one:
 *
 *     using lag = new MachineLag()
 *     worker.kill('SIGKILL')
 *     …
 *     expect(takenOverMs).toBeLessThan(10_000 + lag.ms)
 *
 * A wait of this process for itself counts, too. So what is measured should be the work of others, or mostly waiting.
 */
export class MachineLag implements Disposable {
  /** When each timer was due, and when it came. */
  readonly #timers: { readonly dueMs: number; readonly cameMs: number }[] = []
  #timer: NodeJS.Timeout | undefined

  constructor() {
    this.#look()
  }

  /** Since it was made, milliseconds. */
  get ms(): number {
    return this.between(0, Number.POSITIVE_INFINITY)
  }

  /** Between two moments of `performance.now()`. */
  between(fromMs: number, toMs: number): number {
    return this.#timers
      .map(({ dueMs, cameMs }) => Math.min(cameMs, toMs) - Math.max(dueMs, fromMs))
      .reduce((sum, lateMs) => sum + Math.max(0, lateMs), 0)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #look(): void {
    const dueMs = performance.now() + LOOK_EVERY_MS
    this.#timer = setTimeout(() => {
      this.#timers.push({ dueMs, cameMs: performance.now() })
      this.#look()
    }, LOOK_EVERY_MS).unref()
  }
}
