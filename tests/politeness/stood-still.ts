/** When this process stood still: whatever reached it then was seen only afterwards. */

import { performance } from 'node:perf_hooks'

const LOOK_EVERY_MS = 5
const STILL_MS_MIN = 10

export class StoodStill implements Disposable {
  readonly #looking: NodeJS.Timeout
  readonly #spans: { readonly fromMs: number; readonly untilMs: number }[] = []
  #lastMs = performance.now()

  constructor() {
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /** The earliest moment at which something may have come that was seen at that one. */
  earliestOf(seenAtMs: number): number {
    const span = this.#spans.find(
      ({ fromMs, untilMs }) => seenAtMs > fromMs && seenAtMs < untilMs + LOOK_EVERY_MS,
    )
    return span?.fromMs ?? seenAtMs
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looking)
  }

  #look(): void {
    const nowMs = performance.now()
    if (nowMs - this.#lastMs > STILL_MS_MIN) this.#spans.push({ fromMs: this.#lastMs, untilMs: nowMs })
    this.#lastMs = nowMs
  }
}
