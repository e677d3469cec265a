/**
 * Requests that this worker has taken from BullMQ and whose host must not be asked yet.
 *
 * BullMQ's order knows no hosts: that a request must wait is found out by taking it. The next few of a host stay here, about
 * as many as it can be asked for within HOLD_MS, so that none of its turns is lost. What is more is parked: it goes back as
 * delayed, until the moment that is its turn at the host's present pace, each later than the one before.
 *
 * That is the guard against a storm: were they all put back for the same short while, a host with 50 000 queued would
 * have 50 000 taken and put back again and again, and nothing else would go meanwhile. So each is taken once too often, at
 * about 0.2 ms of Redis. What it costs: the queue's order within that host is kept only among the few held here; a
 * host that grows faster is asked at its old pace by those that are parked already, PARK_MS_MAX at the longest.
 */

import { type HostClock, timerMs } from '@webloom/core'

/** What the room needs to know of a request. */
export interface RoomGuest {
  readonly slot: string
  /** Higher goes first. */
  readonly priority: number
}

/** One for which there is no place here, and when its turn will be. */
export interface Parked<Guest> {
  readonly guest: Guest
  readonly delayMs: number
}

interface HostRoom<Guest> {
  /** Those that go first stand first. */
  readonly held: Guest[]
  /** Milliseconds between two of its requests: as measured of late, or a guess. */
  turnMs: number
  isMeasured: boolean
  /** The longest that it was seen to have to wait. */
  waitSeenMs: number
  lastTurnAtMs: number
  /** At the last turn another one waited already: the time to the next is the host's doing. */
  othersWaited: boolean
  /** When the last of those that were parked is due. */
  parkedUntilMs: number
  timer: NodeJS.Timeout | undefined
}

const HOLD_MS = 1000
/** How fast a host is taken for, of which nothing is known yet. */
const GUESS_MS = 50
/** What it must wait is a better guess, but it may be a pause. */
const GUESS_MS_MAX = 10_000
const TURN_MS_MIN = 1
/** At most so many are held of one host. */
const HOST_HELD_MAX = 64
// Parked for longer, they would not notice that the host may be asked faster by now; for less, a long line would be looked at too often.
const PARK_MS_MAX = 15 * 60_000
// Parked ones come back a little faster than the host takes them: late, its turns would be lost, and it would seem slower still.
const EARLY = 0.8
/** A single turn that took longer was held up by something else: a Redis that was away, a crawl that was paused. */
const OUTLIER = 4
/** How much the latest turn counts in `turnMs`. */
const TURN_WEIGHT = 0.2

export class WaitingRoom<Guest extends RoomGuest> {
  readonly #clock: HostClock
  readonly #heldMax: number
  readonly #onTurn: (slot: string) => void
  readonly #hosts = new Map<string, HostRoom<Guest>>()
  #held = 0

  /**
   * @param heldMax how many may be held of all hosts together
   * @param onTurn called when the moment has come at which a host may be asked again
   */
  constructor(options: { clock: HostClock; heldMax: number; onTurn: (slot: string) => void }) {
    this.#clock = options.clock
    this.#heldMax = options.heldMax
    this.#onTurn = options.onTurn
  }

  get size(): number {
    return this.#held
  }

  /** How many more may be held; negative when there are too many. */
  get places(): number {
    return this.#heldMax - this.#held
  }

  /** Everything that is held. */
  *guests(): Generator<Guest> {
    for (const { held } of this.#hosts.values()) yield* held
  }

  enter(guest: Guest): void {
    const { held } = this.#host(guest.slot)
    const before = held.findLastIndex(({ priority }) => priority >= guest.priority)
    held.splice(before + 1, 0, guest)
    this.#held++
  }

  /** Takes one out that is lost, or given back. */
  leave(guest: Guest): void {
    const host = this.#hosts.get(guest.slot)
    const at = host?.held.indexOf(guest) ?? -1
    if (at < 0) return
    host!.held.splice(at, 1)
    this.#held--
  }

  /** The host's next, if it may be asked now; otherwise `onTurn` is called when it may, where the clock knows when. */
  next(slot: string): Guest | undefined {
    const host = this.#hosts.get(slot)
    if (!host) return undefined
    const now = performance.now()
    const guest = host.held[0]
    const waitMs = guest ? this.#clock.waitMs(slot, now) : 0
    clearTimeout(host.timer)
    if (guest && waitMs === 0) {
      this.#noteTurn(host, now)
      this.leave(guest)
      return guest
    }
    if (guest && waitMs < Number.POSITIVE_INFINITY) {
      // Timers may fire up to a millisecond early; rounding up saves a second one.
      host.timer = setTimeout(() => this.#onTurn(slot), timerMs(Math.ceil(waitMs)))
    }
    if (!guest && host.parkedUntilMs < now) this.#hosts.delete(slot)
    return undefined
  }

  /** Takes out those of the host for which there is no place: the last come of the least priority. */
  overflow(slot: string): Parked<Guest>[] {
    const host = this.#hosts.get(slot)
    if (!host) return []
    const now = performance.now()
    const waitMs = this.#clock.waitMs(slot, now)
    const aheadMs = waitMs < Number.POSITIVE_INFINITY ? waitMs : 0
    if (!host.isMeasured && aheadMs > 0) {
      host.waitSeenMs = Math.max(host.waitSeenMs, aheadMs)
      host.turnMs = Math.min(GUESS_MS_MAX, Math.max(TURN_MS_MIN, host.waitSeenMs))
    }
    const heldMax = this.#heldMaxOf(host, aheadMs)
    const surplus = host.held.splice(
      Math.min(heldMax, Math.max(0, host.held.length + Math.min(0, this.places))),
    )
    this.#held -= surplus.length
    return surplus.map((guest) => {
      // Half of those that are held may be gone by then: early, it finds a place; late, the host would have waited.
      const dueMs = now + aheadMs + (heldMax / 2) * host.turnMs
      host.parkedUntilMs = Math.max(dueMs, host.parkedUntilMs + EARLY * host.turnMs)
      return { guest, delayMs: Math.min(PARK_MS_MAX, Math.max(1, host.parkedUntilMs - now)) }
    })
  }

  /** Empties the room. */
  close(): Guest[] {
    const guests = [...this.guests()]
    for (const { timer } of this.#hosts.values()) clearTimeout(timer)
    this.#hosts.clear()
    this.#held = 0
    return guests
  }

  #heldMaxOf({ isMeasured, waitSeenMs, turnMs }: HostRoom<Guest>, aheadMs: number): number {
    // It is paused: the place is for others.
    if (aheadMs > HOLD_MS) return 1
    // A guess that is wrong would park them for too long.
    if (!isMeasured && waitSeenMs === 0) return HOST_HELD_MAX
    return Math.min(HOST_HELD_MAX, Math.max(1, Math.ceil(HOLD_MS / turnMs)))
  }

  #noteTurn(host: HostRoom<Guest>, now: number): void {
    if (host.othersWaited) {
      const tookMsMax = host.isMeasured ? OUTLIER * host.turnMs : GUESS_MS_MAX
      const tookMs = Math.min(tookMsMax, Math.max(TURN_MS_MIN, now - host.lastTurnAtMs))
      host.turnMs += (host.isMeasured ? TURN_WEIGHT : 1) * (tookMs - host.turnMs)
      host.isMeasured = true
    }
    host.lastTurnAtMs = now
    host.othersWaited = host.held.length > 1
  }

  #host(slot: string): HostRoom<Guest> {
    const known = this.#hosts.get(slot)
    if (known) return known
    const host: HostRoom<Guest> = {
      held: [],
      turnMs: GUESS_MS,
      isMeasured: false,
      waitSeenMs: 0,
      lastTurnAtMs: 0,
      othersWaited: false,
      parkedUntilMs: 0,
      timer: undefined,
    }
    this.#hosts.set(slot, host)
    return host
  }
}
