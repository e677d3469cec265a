/**
 * Requests that this worker has taken from BullMQ and whose host must not be asked yet.
 *
 * BullMQ's order knows no hosts: a worker finds out by taking a request that it must wait. The next few of a host stay here,
 * about as many as the host takes within HOLD_MS, so that the host is never idle for want of a request. The others are
 * parked: each goes back to BullMQ as delayed, until the moment at which its host will take it at the present pace.
 *
 * Parking prevents a storm. If all were put back for the same short while, a host with 50 000 queued would have 50 000 taken
 * and put back again and again, and nothing else would go meanwhile. Parked, each is taken once too often, which costs about
 * 0.2 ms of Redis. The price: the queue's order within a host holds only among the few that are held here, and a host that
 * may be asked faster keeps its old pace until its parked requests are due, PARK_MS_MAX at the longest.
 */

import { type HostClock, highest, type QueuedSlot, timerMs } from '@webloom/core'

/** What the backlog needs to know of a request. */
export interface BacklogItem {
  readonly slot: string
  /** Higher goes first. */
  readonly priority: number
}

/** One for which there is no place here, and when its host will take it. */
export interface Parked<Item> {
  readonly item: Item
  readonly delayMs: number
}

interface HeldOfHost<Item> {
  /** Those that go first stand first. */
  readonly held: Item[]
  /** Milliseconds between two of its requests: as measured of late, or a guess. */
  gapMs: number
  /** The first gaps, until there are enough of them to be believed. */
  readonly firstGapsMs: number[]
  isMeasured: boolean
  /** The longest wait that its clock has asked for. */
  waitSeenMs: number
  lastWentAtMs: number
  /** Another request waited already when the last one went: the time until the next one is the host's own. */
  othersWaited: boolean
  /** When the last of those that were parked is due. */
  parkedUntilMs: number
  timer: NodeJS.Timeout | undefined
}

const HOLD_MS = 1000
/** The gap between two requests that is assumed for a host of which nothing is known yet. */
const GUESS_MS = 50
/** The time that a host must wait is a better guess, but may be a pause: no guess is longer than this. */
const GUESS_MS_MAX = 10_000
const GAP_MS_MIN = 1
/** At most so many are held of one host. */
const HOST_HELD_MAX = 64
// Parked for longer, they would not notice that the host may be asked faster by now; for less, a long line would be looked at too often.
const PARK_MS_MAX = 15 * 60_000
// Parked ones come back a little faster than the host takes them: if they came late, the host would be idle, and would seem slower still.
const EARLY = 0.8
/** Of the first gaps the shortest is believed: any of the others may have seen a Redis that was away. */
const FIRST_GAPS = 3
/** A single gap that is so many times longer has another cause: a Redis that was away, a crawl that was paused. */
const OUTLIER = 4
/** How much the latest gap counts in `gapMs`. */
const GAP_WEIGHT = 0.2

export class HostBacklog<Item extends BacklogItem> {
  readonly #clock: HostClock
  readonly #heldMax: number
  readonly #onMayGo: (slot: string) => void
  readonly #hosts = new Map<string, HeldOfHost<Item>>()
  #held = 0

  /**
   * @param heldMax how many may be held of all hosts together
   * @param onMayGo called when the moment has come at which a host may be asked again
   */
  constructor(options: { clock: HostClock; heldMax: number; onMayGo: (slot: string) => void }) {
    this.#clock = options.clock
    this.#heldMax = options.heldMax
    this.#onMayGo = options.onMayGo
  }

  get size(): number {
    return this.#held
  }

  /** How many more may be held; negative when there are too many. */
  get places(): number {
    return this.#heldMax - this.#held
  }

  /** All requests that are held. */
  *items(): Generator<Item> {
    for (const { held } of this.#hosts.values()) yield* held
  }

  /** The slots of which something is held, those with the most first. */
  mostQueued(most: number): QueuedSlot[] {
    return highest(this.#hosts, most, ([, { held }]) => held.length)
      .map(([slot, { held }]) => ({ slot, waiting: held.length }))
      .filter(({ waiting }) => waiting > 0)
  }

  enter(item: Item): void {
    const { held } = this.#host(item.slot)
    const before = held.findLastIndex(({ priority }) => priority >= item.priority)
    held.splice(before + 1, 0, item)
    this.#held++
  }

  /** Takes out a request that is lost or goes back. */
  leave(item: Item): void {
    const host = this.#hosts.get(item.slot)
    const at = host?.held.indexOf(item) ?? -1
    if (at < 0) return
    host!.held.splice(at, 1)
    this.#held--
  }

  /** The host's next, if it may be asked now; otherwise `onMayGo` is called when it may, where the clock knows when. */
  next(slot: string): Item | undefined {
    const host = this.#hosts.get(slot)
    if (!host) return undefined
    const now = performance.now()
    const item = host.held[0]
    const waitMs = item ? this.#clock.waitMs(slot, now) : 0
    clearTimeout(host.timer)
    if (item && waitMs === 0) {
      this.#noteGap(host, now)
      this.leave(item)
      return item
    }
    if (item && waitMs < Number.POSITIVE_INFINITY) {
      // Timers may fire up to a millisecond early; rounding up saves a second one.
      host.timer = setTimeout(() => this.#onMayGo(slot), timerMs(Math.ceil(waitMs)))
    }
    if (!item && host.parkedUntilMs < now) this.#hosts.delete(slot)
    return undefined
  }

  /** Takes out the requests of the host for which there is no place: those of the lowest priority, the latest first. */
  overflow(slot: string): Parked<Item>[] {
    const host = this.#hosts.get(slot)
    if (!host) return []
    const now = performance.now()
    const waitMs = this.#clock.waitMs(slot, now)
    const aheadMs = waitMs < Number.POSITIVE_INFINITY ? waitMs : 0
    if (!host.isMeasured && aheadMs > 0) {
      host.waitSeenMs = Math.max(host.waitSeenMs, aheadMs)
      host.gapMs = Math.min(GUESS_MS_MAX, Math.max(GAP_MS_MIN, host.waitSeenMs))
    }
    const heldMax = this.#heldMaxOf(host, aheadMs)
    const surplus = host.held.splice(
      Math.min(heldMax, Math.max(0, host.held.length + Math.min(0, this.places))),
    )
    this.#held -= surplus.length
    return surplus.map((item) => {
      // Half of those that are held may be gone by then: early, it finds a place; late, the host would have waited.
      const dueMs = now + aheadMs + (heldMax / 2) * host.gapMs
      host.parkedUntilMs = Math.max(dueMs, host.parkedUntilMs + EARLY * host.gapMs)
      return { item, delayMs: Math.min(PARK_MS_MAX, Math.max(1, host.parkedUntilMs - now)) }
    })
  }

  /** Empties the backlog. */
  close(): Item[] {
    const items = [...this.items()]
    for (const { timer } of this.#hosts.values()) clearTimeout(timer)
    this.#hosts.clear()
    this.#held = 0
    return items
  }

  #heldMaxOf({ isMeasured, waitSeenMs, gapMs }: HeldOfHost<Item>, aheadMs: number): number {
    // It is paused: the place is for others.
    if (aheadMs > HOLD_MS) return 1
    // A guess that is wrong would park them for too long.
    if (!isMeasured && waitSeenMs === 0) return HOST_HELD_MAX
    return Math.min(HOST_HELD_MAX, Math.max(1, Math.ceil(HOLD_MS / gapMs)))
  }

  #noteGap(host: HeldOfHost<Item>, now: number): void {
    if (host.othersWaited) {
      const tookMs = Math.max(GAP_MS_MIN, now - host.lastWentAtMs)
      if (host.isMeasured) host.gapMs += GAP_WEIGHT * (Math.min(OUTLIER * host.gapMs, tookMs) - host.gapMs)
      else if (host.firstGapsMs.push(Math.min(GUESS_MS_MAX, tookMs)) === FIRST_GAPS) {
        host.gapMs = Math.min(...host.firstGapsMs)
        host.isMeasured = true
      }
    }
    host.lastWentAtMs = now
    host.othersWaited = host.held.length > 1
  }

  #host(slot: string): HeldOfHost<Item> {
    const known = this.#hosts.get(slot)
    if (known) return known
    const host: HeldOfHost<Item> = {
      held: [],
      gapMs: GUESS_MS,
      firstGapsMs: [],
      isMeasured: false,
      waitSeenMs: 0,
      lastWentAtMs: 0,
      othersWaited: false,
      parkedUntilMs: 0,
      timer: undefined,
    }
    this.#hosts.set(slot, host)
    return host
  }
}
