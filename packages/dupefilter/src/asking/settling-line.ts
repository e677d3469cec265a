import { isElsewhere, type Settling } from './claims.ts'

/** Askers settled with one call. */
const MAX_ASKERS_PER_CALL = 100
/** With those that have not asked here, of which each is hardly more than a name. */
const MAX_PER_CALL = 500
/** So long these wait for a question to travel with: a part of a filter that hardly anybody asks is told seldom. */
const ELSEWHERE_WITHIN_MS = 1000
/** Askers that may wait for a Redis that does not answer, before `add` waits too. */
const SETTLE_WAITING_MAX = 10_000

export interface SettlingLineOptions {
  /** The longest that an asker waits for a question to travel with. */
  readonly withinMs: number
  /** Tells Redis of the first askers. Rejects when Redis does not take them; then they wait in line again. */
  readonly tell: () => Promise<unknown>
  /** Called when Redis could not be told; it is tried again. */
  readonly onFailure: (error: unknown) => void
}

/** Askers whose end the filter's Redis has not been told yet, in order. They travel with a question, or by themselves. */
export class SettlingLine {
  readonly #options: SettlingLineOptions
  #waiting: Settling[] = []
  #timer: NodeJS.Timeout | undefined
  #tellsAtMs = 0
  #late: Promise<void> | undefined
  #isClosed = false

  constructor(options: SettlingLineOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.length
  }

  open(): void {
    this.#isClosed = false
  }

  /** Stops the timer: from now on Redis is told only with questions, or by `tellAll`. */
  close(): void {
    clearTimeout(this.#timer)
    this.#isClosed = true
  }

  clear(): void {
    this.#waiting = []
  }

  /** Adds an asker at the end. Returns a promise to wait for when too many are in line. */
  add(settling: Settling): Promise<void> | undefined {
    this.#waiting.push(settling)
    this.#tellSoon(isElsewhere(settling) ? ELSEWHERE_WITHIN_MS : 0)
    return this.#waiting.length > SETTLE_WAITING_MAX ? this.tellAll() : undefined
  }

  /** Takes out the askers that the next call tells Redis of. */
  take(): Settling[] {
    const taken = this.#waiting.splice(0, this.#nextCount())
    if (this.#waiting.length === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
    return taken
  }

  #nextCount(): number {
    let here = 0
    const most = Math.min(this.#waiting.length, MAX_PER_CALL)
    for (let n = 0; n < most; n++) {
      if (!isElsewhere(this.#waiting[n]!) && ++here > MAX_ASKERS_PER_CALL) return n
    }
    return most
  }

  /** Adds askers whose call has failed at the head of the line, in their order. */
  prepend(taken: readonly Settling[]): void {
    this.#waiting.unshift(...taken)
    if (taken.length > 0) this.#tellSoon()
  }

  async tellAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#options.tell()
  }

  /** Tells Redis of all askers, and waits for calls that are under way. */
  async finish(): Promise<void> {
    clearTimeout(this.#timer)
    await Promise.all([this.#late, this.tellAll()])
  }

  #tellSoon(leastMs = 0): void {
    if (this.#isClosed) return
    const { withinMs, onFailure } = this.#options
    const inMs = Math.max(leastMs, withinMs)
    const atMs = performance.now() + inMs
    if (this.#timer && this.#tellsAtMs <= atMs) return
    clearTimeout(this.#timer)
    this.#tellsAtMs = atMs
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#late = this.tellAll().catch(onFailure)
    }, inMs).unref()
  }
}
