import type { HostNews, HostPace, HostState } from '@webloom/core'
import { drawnDelayMs } from './host-pace.ts'

/**
 * Timers and the way to the downloader make a start a little late. The next start does not wait for so much of that delay,
 * as otherwise a slot would get less than its delay allows. Two starts are never closer than the delay less this.
 */
const CREDIT_MS = 4
/** A start that is later than this does not count from the one before. */
const LATE_MS_MAX = 50

/** When requests may leave for a slot that this worker holds. Times are monotonic milliseconds, given by the caller. */
export class SlotPace {
  pace: HostPace
  /** What was learned of it. */
  state: HostState = { delayMs: 0, failures: 0 }
  dueAtMs = 0
  /** What Redis was last told of it. */
  #toldDueAtMs = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #startedAtMs = Number.NEGATIVE_INFINITY
  #slotAtMs = Number.NEGATIVE_INFINITY
  #drawnMs: number
  readonly #chance: () => number

  constructor(pace: HostPace, chance: () => number) {
    this.pace = pace
    this.#chance = chance
    this.#drawnMs = drawnDelayMs(pace, chance())
  }

  get isPaced(): boolean {
    return this.pace.delayMs > 0 || (!this.pace.isOrdered && this.state.delayMs > 0)
  }

  get #delayMs(): number {
    return this.pace.isOrdered ? this.#drawnMs : Math.max(this.#drawnMs, this.state.delayMs)
  }

  /** When its delay and its pause let it be asked. */
  get nextAtMs(): number {
    return Math.max(this.#pausedUntilMs, this.isPaced ? this.dueAtMs : 0)
  }

  isPaused(nowMs: number): boolean {
    return nowMs < this.#pausedUntilMs
  }

  /** Returns in how many milliseconds its delay lets the next holder ask it; 0: at once. Redis knows by itself how long it pauses. */
  waitMs(nowMs: number): number {
    return this.isPaced ? Math.max(0, this.dueAtMs - nowMs) : 0
  }

  /** True when Redis must be told when the next holder may ask it. */
  mustTellWait(nowMs: number): boolean {
    return this.dueAtMs !== this.#toldDueAtMs && this.waitMs(nowMs) > 0
  }

  /** Redis is told with the message that is composed; `isTold` false: it was not, after all. */
  tellsWait(isTold: boolean): void {
    this.#toldDueAtMs = isTold ? this.dueAtMs : 0
  }

  /** Lets no request start for so long; a longer pause stays. */
  pause(ms: number, nowMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + ms)
  }

  /** Takes a pace that is ordered, counted from the last start on, and how long it is paused, if the order says so. */
  paceOrdered(pace: HostPace, pauseMs: number | undefined, nowMs: number): void {
    this.pace = pace
    this.#drawnMs = drawnDelayMs(pace, this.#chance())
    this.dueAtMs = this.#startedAtMs + this.#delayMs
    if (pauseMs !== undefined) this.#pausedUntilMs = nowMs + pauseMs
  }

  learn({ delayMs = this.state.delayMs, failures = this.state.failures }: HostNews): void {
    const isPacedAnew = delayMs !== this.state.delayMs
    this.state = { delayMs, failures }
    if (isPacedAnew) this.dueAtMs = this.#startedAtMs + this.#delayMs
  }

  /** Called when a request is handed out: it should start now. */
  handedOut(nowMs: number): void {
    const isInLine = this.#startedAtMs > Number.NEGATIVE_INFINITY && nowMs - this.dueAtMs < LATE_MS_MAX
    this.#slotAtMs = isInLine ? this.dueAtMs : Number.NEGATIVE_INFINITY
  }

  /** A request leaves now. */
  started(nowMs: number): void {
    this.#drawnMs = drawnDelayMs(this.pace, this.#chance())
    this.left(nowMs)
  }

  /** A request has left: the delay is counted from here. */
  left(nowMs: number): void {
    const isInLine = nowMs - this.#slotAtMs < LATE_MS_MAX
    this.#startedAtMs = nowMs
    this.dueAtMs = this.#delayMs + (isInLine ? Math.max(this.#slotAtMs, nowMs - CREDIT_MS) : nowMs)
  }
}
