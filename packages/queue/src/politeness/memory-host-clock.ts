import type { Crawler, HostClock, HostNews, HostPace, HostState } from '@webloom/core'
import { drawnDelayMs, paceFrom, slotPaces } from './host-pace.ts'

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
  /** Floor and failures. */
  learnt: HostState
}

const NOTHING_LEARNT: HostState = { delayMs: 0, failures: 0 }

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
    return new this({ pace: paceFrom(settings), slots: slotPaces(settings) })
  }

  waitMs(slot: string, nowMs: number): number {
    const state = this.#slots.get(slot)
    if (!state) return 0
    const { concurrency } = state.pace
    if (concurrency > 0 && state.inFlight >= concurrency) return Number.POSITIVE_INFINITY
    if (state.starting > 0 && this.isPaced(slot)) return Number.POSITIVE_INFINITY
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
    state.startedAtMs = nowMs
    state.drawnDelayMs = drawnDelayMs(state.pace, this.#random())
  }

  ended(slot: string, hadStarted: boolean): void {
    const state = this.#state(slot)
    state.inFlight--
    if (!hadStarted) state.starting--
  }

  learn(slot: string, { delayMs, failures, pauseMs }: HostNews, nowMs: number): void {
    const state = this.#state(slot)
    state.learnt = {
      delayMs: delayMs ?? state.learnt.delayMs,
      failures: failures ?? state.learnt.failures,
    }
    if (pauseMs !== undefined) state.pausedUntilMs = Math.max(state.pausedUntilMs, nowMs + pauseMs)
  }

  isPaced(slot: string): boolean {
    const known = this.#slots.get(slot)
    const { delayMs } = known?.pace ?? { ...this.#pace, ...this.#paces[slot] }
    return delayMs > 0 || (known?.learnt.delayMs ?? 0) > 0
  }

  stateOf(slot: string): HostState {
    return this.#slots.get(slot)?.learnt ?? NOTHING_LEARNT
  }

  forgetIdle(nowMs: number): void {
    if (this.#slots.size < this.#forgetAt) return
    for (const [slot, state] of this.#slots) {
      const { delayMs, failures } = state.learnt
      const isWorthKeeping = state.inFlight > 0 || delayMs > 0 || failures > 0 || nextAtMs(state) > nowMs
      if (!isWorthKeeping) this.#slots.delete(slot)
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
      learnt: NOTHING_LEARNT,
    }
    this.#slots.set(slot, state)
    return state
  }
}

function nextAtMs({ pausedUntilMs, startedAtMs, drawnDelayMs, learnt }: SlotState): number {
  return Math.max(pausedUntilMs, startedAtMs + Math.max(drawnDelayMs, learnt.delayMs))
}
