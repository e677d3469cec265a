import type { Crawler, HostClock, HostNews, HostOrders, HostPace, HostState } from '@webloom/core'
import { drawnDelayMs, paceFrom, slotPaces } from './host-pace.ts'
import { newPauseMs, OrderedHosts } from './ordered-hosts.ts'
import { RestingHosts } from './resting-hosts.ts'

interface SlotState {
  pace: HostPace
  startedAtMs: number
  /** What chance made of the delay at the last start. */
  drawnDelayMs: number
  /** No start before this moment, whatever the delay (Retry-After). */
  pausedUntilMs: number
  inFlight: number
  /** Handed out, but not yet started or ended. */
  starting: number
  /** Those of them that ask as documents do before they leave. */
  standingBy: number
  /** Documents that wait for their time. */
  documents: number
  /** Floor and failures. */
  learned: HostState
  /** Its delay may have been forgotten: one request at a time until the first has ended, as that brings it again. */
  isUnsure: boolean
}

const NOTHING_LEARNED: HostState = { delayMs: 0, failures: 0 }

export interface MemoryHostClockOptions {
  /** The pace of hosts that `slots` does not name. */
  readonly pace: HostPace
  /** DOWNLOAD_SLOTS: parts of the pace of single hosts. */
  readonly slots?: Readonly<Record<string, Partial<HostPace>>>
  /** 0 ≤ answer < 1. For tests; Math.random otherwise. */
  readonly random?: () => number
  /** How many hosts are kept in full before idle ones are put to rest. */
  readonly hostsMax?: number
  /** How much memory resting hosts may take. */
  readonly restingBytesMax?: number
}

// Hosts that have nothing in flight are put to rest when a quarter of this are known, and again whenever their number has
// doubled; past it, those that must wait, too. A host takes about 400 bytes.
const HOSTS_MAX = 16_384
// 2 ** 24, 16 MiB: 838 860 hosts.
const RESTING_BYTES_MAX = 16_777_216

/**
 * The hosts' pace within one process. Hosts that have nothing in flight are kept in 20 bytes (`resting-hosts.ts`), or forgotten
 * when nothing was learned of them, so memory is bounded however many hosts are met.
 */
export class MemoryHostClock implements HostClock {
  readonly #pace: HostPace
  readonly #paces: Readonly<Record<string, Partial<HostPace>>>
  readonly #random: () => number
  readonly #slots = new Map<string, SlotState>()
  readonly #ordered = new OrderedHosts()
  readonly #resting: RestingHosts
  readonly #hostsMax: number
  #restAt: number

  constructor(options: MemoryHostClockOptions) {
    const { pace, slots = {}, random = Math.random, hostsMax = HOSTS_MAX } = options
    this.#pace = pace
    this.#paces = slots
    this.#random = random
    this.#resting = new RestingHosts(options.restingBytesMax ?? RESTING_BYTES_MAX)
    this.#hostsMax = hostsMax
    this.#restAt = hostsMax / 4
  }

  static fromCrawler({ settings }: Crawler): MemoryHostClock {
    return new this({ pace: paceFrom(settings), slots: slotPaces(settings) })
  }

  waitMs(slot: string, nowMs: number): number {
    const state = this.#slots.get(slot)
    if (!state) return Math.max(0, (this.#resting.get(slot)?.nextAtMs ?? this.#resting.unknownFromMs) - nowMs)
    if (state.documents > 0) return Number.POSITIVE_INFINITY
    if (state.isUnsure && state.inFlight > 0) return Number.POSITIVE_INFINITY
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
    this.#leaves(state, nowMs)
  }

  #leaves(state: SlotState, nowMs: number): void {
    state.startedAtMs = nowMs
    state.drawnDelayMs = drawnDelayMs(state.pace, this.#random())
  }

  left(slot: string, nowMs: number): void {
    const state = this.#slots.get(slot)
    if (state) state.startedAtMs = nowMs
  }

  ended(slot: string, hadStarted: boolean): void {
    const state = this.#state(slot)
    state.inFlight--
    if (hadStarted) state.isUnsure = false
    else state.starting--
  }

  documentWaitMs(slot: string, nowMs: number): number {
    const state = this.#slots.get(slot)
    if (!state) return this.waitMs(slot, nowMs)
    if (state.starting > state.standingBy && this.isPaced(slot)) return Number.POSITIVE_INFINITY
    return Math.max(0, nextAtMs(state) - nowMs)
  }

  documentWaits(slot: string, isWaiting: boolean): void {
    this.#state(slot).documents += isWaiting ? 1 : -1
  }

  documentLeft(slot: string, nowMs: number): void {
    if (this.isPaced(slot)) this.#leaves(this.#state(slot), nowMs)
  }

  standsBy(slot: string, isStandingBy: boolean): void {
    this.#state(slot).standingBy += isStandingBy ? 1 : -1
  }

  learn(slot: string, { delayMs, failures, pauseMs }: HostNews, nowMs: number): void {
    const state = this.#state(slot)
    state.learned = {
      delayMs: delayMs ?? state.learned.delayMs,
      failures: failures ?? state.learned.failures,
    }
    if (pauseMs !== undefined) state.pausedUntilMs = Math.max(state.pausedUntilMs, nowMs + pauseMs)
  }

  order(orders: HostOrders, nowMs: number): readonly string[] {
    const changed = this.#ordered.take(orders)
    for (const [slot, before] of changed) {
      const state = this.#state(slot)
      state.pace = this.#paceOf(slot)
      // Counted from the last start, the new delay holds at once.
      state.drawnDelayMs = state.pace.delayMs
      const pauseMs = newPauseMs(before, orders.get(slot))
      if (pauseMs !== undefined) state.pausedUntilMs = nowMs + pauseMs
    }
    return [...changed.keys()]
  }

  boostOf(slot: string): number {
    return this.#ordered.boostOf(slot)
  }

  isPaced(slot: string): boolean {
    const { delayMs, isOrdered } = this.#slots.get(slot)?.pace ?? this.#paceOf(slot)
    return delayMs > 0 || (!isOrdered && this.stateOf(slot).delayMs > 0)
  }

  stateOf(slot: string): HostState {
    return (this.#slots.get(slot) ?? this.#resting.get(slot))?.learned ?? NOTHING_LEARNED
  }

  forgetIdle(nowMs: number): void {
    if (this.#slots.size < this.#restAt) return
    this.#rest(nowMs, (state) => nextAtMs(state) <= nowMs)
    if (this.#slots.size >= this.#hostsMax) this.#rest(nowMs, () => true)
    const twice = this.#slots.size * 2
    const next = this.#slots.size < this.#hostsMax ? Math.min(twice, this.#hostsMax) : twice
    this.#restAt = Math.max(this.#hostsMax / 4, next)
  }

  /** Puts those to rest that have nothing in flight and that `which` names. */
  #rest(nowMs: number, which: (state: SlotState) => boolean): void {
    for (const [slot, state] of this.#slots) {
      if (state.inFlight > 0 || state.documents > 0 || !which(state)) continue
      const { learned } = state
      const isWorthKeeping = learned.delayMs > 0 || learned.failures > 0 || nextAtMs(state) > nowMs
      if (isWorthKeeping) this.#resting.set(slot, { learned, nextAtMs: nextAtMs(state) }, nowMs)
      this.#slots.delete(slot)
    }
  }

  #state(slot: string): SlotState {
    const known = this.#slots.get(slot)
    if (known) return known
    const resting = this.#resting.get(slot)
    if (resting) this.#resting.delete(slot)
    const state: SlotState = {
      pace: this.#paceOf(slot),
      startedAtMs: Number.NEGATIVE_INFINITY,
      drawnDelayMs: 0,
      pausedUntilMs: resting?.nextAtMs ?? this.#resting.unknownFromMs,
      inFlight: 0,
      starting: 0,
      standingBy: 0,
      documents: 0,
      learned: resting?.learned ?? NOTHING_LEARNED,
      isUnsure: !resting && this.#resting.hasForgottenDelays,
    }
    this.#slots.set(slot, state)
    return state
  }

  #paceOf(slot: string): HostPace {
    const set = Object.hasOwn(this.#paces, slot) ? { ...this.#pace, ...this.#paces[slot] } : this.#pace
    return this.#ordered.pace(slot, set)
  }
}

function nextAtMs({ pace, pausedUntilMs, startedAtMs, drawnDelayMs, learned }: SlotState): number {
  const delayMs = pace.isOrdered ? drawnDelayMs : Math.max(drawnDelayMs, learned.delayMs)
  return Math.max(pausedUntilMs, startedAtMs + delayMs)
}
