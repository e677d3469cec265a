import type { Crawler, HostClock, HostPace, Request } from '@webloom/core'
import { paceFrom, slotOf, slotPaces } from './host-pace.ts'

interface SlotState {
  readonly pace: HostPace
  startedAtMs: number
  /** What chance made of the delay at the last start. */
  drawnDelayMs: number
  /** No start before this moment, whatever the delay (Retry-After). */
  pausedUntilMs: number
  inFlight: number
  /** Handed out, but not yet started or ended. */
  starting: number
  /** Least delay that was asked for from outside; chance never goes below it. */
  floorMs: number
}

export interface MemoryHostClockOptions {
  /** The pace of hosts that `slots` does not name. */
  readonly pace: HostPace
  /** DOWNLOAD_SLOTS: parts of the pace of single hosts. */
  readonly slots?: Readonly<Record<string, Partial<HostPace>>>
  /** 0 ≤ answer < 1. For tests; Math.random otherwise. */
  readonly random?: () => number
}

// Idle hosts are forgotten when this many are known, and again whenever their number has doubled.
const FORGET_FROM = 4096

/** The hosts' pace within one process. */
export class MemoryHostClock implements HostClock {
  readonly #pace: HostPace
  readonly #paces: Readonly<Record<string, Partial<HostPace>>>
  readonly #random: () => number
  readonly #slots = new Map<string, SlotState>()
  #forgetAt = FORGET_FROM

  constructor({ pace, slots = {}, random = Math.random }: MemoryHostClockOptions) {
    this.#pace = pace
    this.#paces = slots
    this.#random = random
  }

  static fromCrawler({ settings }: Crawler): MemoryHostClock {
    return new MemoryHostClock({ pace: paceFrom(settings), slots: slotPaces(settings) })
  }

  slotOf(request: Request): string {
    return slotOf(request)
  }

  waitMs(slot: string, nowMs: number): number {
    const state = this.#slots.get(slot)
    if (!state) return 0
    const { concurrency, delayMs } = state.pace
    if (concurrency > 0 && state.inFlight >= concurrency) return Number.POSITIVE_INFINITY
    if (state.starting > 0 && (delayMs > 0 || state.floorMs > 0)) return Number.POSITIVE_INFINITY
    return Math.max(0, nextAtMs(state) - nowMs)
  }

  taken(slot: string): void {
    const state = this.#state(slot)
    state.inFlight++
    state.starting++
  }

  started(slot: string, nowMs: number): void {
    const state = this.#state(slot)
    state.starting--
    const { delayMs, randomize } = state.pace
    state.startedAtMs = nowMs
    state.drawnDelayMs = randomize ? delayMs * (0.5 + this.#random()) : delayMs
  }

  ended(slot: string, hadStarted: boolean): void {
    const state = this.#state(slot)
    state.inFlight--
    if (!hadStarted) state.starting--
  }

  pace(slot: string, delayMs: number): void {
    this.#state(slot).floorMs = delayMs
  }

  pause(slot: string, untilMs: number): void {
    const state = this.#state(slot)
    state.pausedUntilMs = Math.max(state.pausedUntilMs, untilMs)
  }

  forgetIdle(nowMs: number): void {
    if (this.#slots.size < this.#forgetAt) return
    for (const [slot, state] of this.#slots) {
      if (state.inFlight === 0 && state.floorMs === 0 && nextAtMs(state) <= nowMs) this.#slots.delete(slot)
    }
    this.#forgetAt = Math.max(FORGET_FROM, this.#slots.size * 2)
  }

  #state(slot: string): SlotState {
    const known = this.#slots.get(slot)
    if (known) return known
    const state: SlotState = {
      pace: { ...this.#pace, ...this.#paces[slot] },
      startedAtMs: Number.NEGATIVE_INFINITY,
      drawnDelayMs: 0,
      pausedUntilMs: 0,
      inFlight: 0,
      starting: 0,
      floorMs: 0,
    }
    this.#slots.set(slot, state)
    return state
  }
}

function nextAtMs({ pausedUntilMs, startedAtMs, drawnDelayMs, floorMs }: SlotState): number {
  return Math.max(pausedUntilMs, startedAtMs + Math.max(drawnDelayMs, floorMs))
}
