import { laterNews, PassingMap } from '@webloom/core'
import { unpackRequest } from '../leasing/packed-request.ts'
import { RecentCount } from '../structures/recent-count.ts'
import type { Endings } from './endings.ts'
import type { Effect, Outcome } from './frontier-effects.ts'
import { LEAD_MS } from './frontier-message.ts'
import type { FrontierSchedule } from './frontier-schedule.ts'
import { BucketLease, type HeldSlot, type HeldTurn, type LeaseEvents } from './held-turn.ts'
import type { HeldTurns } from './held-turns.ts'
import type { Ended, Placed, Taken } from './turn-protocol.ts'

/** How many requests lie at a worker at the most, without those taken ahead for a slot's next time, and how many bytes, with these. */
const LYING_REQUESTS_MAX = 1000
const LYING_BYTES_MAX = 8 * 2 ** 20
/** One request lies ready for so many that are out, so that a free place need not wait for Redis. */
const STOCK_PART = 8
/** What may go within that time makes no room for others. */
const SOON_MS = 1000
/** A note is taken away, at the next look, when its request has not left so long after it was noted or was due, whichever is later. Looks are 0.1 s apart at the most. */
const NOTED_MS = 20

export interface HeldRequestsOptions extends LeaseEvents {
  readonly turns: HeldTurns
  readonly schedule: FrontierSchedule
  readonly endings: Endings
  readonly effects: Effect[]
  /** How many requests lie here at the most. Default: LYING_REQUESTS_MAX. */
  readonly lyingMax?: number
}

/** The requests that a worker has: those that lie here, are handed out, or are on their way back. */
export class HeldRequests {
  readonly #turns: HeldTurns
  readonly #schedule: FrontierSchedule
  readonly #endings: Endings
  readonly #effects: Effect[]
  readonly #events: LeaseEvents
  readonly #lyingMax: number
  /** Requests that lie here and are not spares. */
  #lying = 0
  #bytes = 0
  /** Those that lie here and are noted as started, and since when they may leave. */
  readonly #noted = new PassingMap<BucketLease, number>()
  readonly #left = new RecentCount(NOTED_MS)

  constructor(options: HeldRequestsOptions) {
    const { turns, schedule, endings, effects, onStart, documentsOf } = options
    this.#turns = turns
    this.#schedule = schedule
    this.#endings = endings
    this.#effects = effects
    this.#events = { onStart, documentsOf }
    this.#lyingMax = options.lyingMax ?? LYING_REQUESTS_MAX
  }

  /**
   * Returns how many more may come, so that `demand` can be handed out at once, and a stock lies ready beyond that.
   *
   * @param out how many are handed out
   */
  room(demand: number, out: number): { demand: number; stock: number; bytes: number } {
    const ready = this.#schedule.goingCount
    const most = Math.max(0, this.#lyingMax - this.#lying)
    const stock = Math.floor(out / STOCK_PART)
    return {
      demand: Math.min(Math.max(0, demand - ready), most),
      // What lies ready beyond the demand is stock already: else each message that goes anyhow would bring the stock again.
      stock: Math.min(Math.max(0, stock - Math.max(0, ready - demand)), most),
      bytes: Math.max(0, LYING_BYTES_MAX - this.#bytes),
    }
  }

  get hasRoom(): boolean {
    return this.#lying < this.#lyingMax && this.#bytes < LYING_BYTES_MAX
  }

  /**
   * Sends back what lies here and may not go soon, where it is all that a worker bears, and places are free: others could have these. What comes to
   * such a slot is left behind until it may go.
   *
   * @param demand how many requests would be handed out at once
   */
  makeRoom(demand: number, nowMs: number): void {
    if (this.hasRoom || demand <= this.#schedule.goingCount) return
    for (const turn of this.#turns)
      for (const slot of turn.slots.values()) {
        if (slot.queue.length === 0 || slot.goesAtMs() <= nowMs + SOON_MS) continue
        slot.leavesBehind = true
        this.callBack(slot, nowMs)
      }
  }

  /** Takes up to so many requests that go now, the most urgent first. */
  handOut(max: number, nowMs: number): BucketLease[] {
    this.#schedule.wake(nowMs)
    const leases: BucketLease[] = []
    while (leases.length < max) {
      const slot = this.#schedule.going.next()
      if (!slot) break
      if (!slot.turn.isLocked(nowMs) || slot.goesAtMs() > nowMs) {
        this.#schedule.place(slot, nowMs)
        continue
      }
      const lease = slot.queue.shift()!
      this.#lies(lease, -1)
      lease.state = 'out'
      lease.host = slot.state
      slot.out.add(lease)
      slot.handedOut(nowMs)
      leases.push(lease)
      this.#schedule.place(slot, nowMs)
    }
    if (leases.length > 0) this.#left.add(leases.length, nowMs)
    return leases
  }

  /** Returns how many are expected to leave in the next 10 ms: half of what left in the 20 ms before. Fewer than may leave, as a note in vain costs as much as one that is sent. */
  leavingSoon(nowMs: number): number {
    return this.#left.before(nowMs) >> 1
  }

  /**
   * Returns the names of those that are about to leave: as a message goes anyhow, they are noted with it.
   *
   * @param free how many places are free: where some are, those leave next whose time comes next
   */
  noteAhead(free: number, nowMs: number): string[] {
    return free > 0 ? this.#noteNext(free, nowMs) : this.#noteReady(nowMs)
  }

  #noteNext(free: number, nowMs: number): string[] {
    const most = free - this.#noted.size
    if (most <= 0) return []
    const names: string[] = []
    for (const slot of this.#schedule.goingBy(nowMs + NOTED_MS, nowMs)) {
      const lease = slot.queue[0]!
      if (lease.isNoted || lease.suspect) continue
      this.#note(lease, slot.goesAtMs())
      names.push(lease.startedName)
      if (names.length === most) break
    }
    return names
  }

  #noteReady(nowMs: number): string[] {
    const names: string[] = []
    const most = this.leavingSoon(nowMs) - this.#noted.size
    for (const slot of [...this.#schedule.going])
      for (const lease of slot.queue.slice(0, slot.going)) {
        if (names.length >= most) return names
        if (lease.isNoted) continue
        this.#note(lease, nowMs)
        names.push(lease.startedName)
        this.#schedule.place(slot, nowMs)
      }
    return names
  }

  /** Returns the names of those that were noted as started and have not left: their notes are to be taken away. */
  notesInVain(nowMs: number): string[] {
    const names: string[] = []
    for (const [lease, sinceMs] of this.#noted) {
      if (sinceMs + NOTED_MS > nowMs) continue
      this.#noted.delete(lease)
      lease.isNoted = false
      names.push(lease.startedName)
    }
    return names
  }

  /**
   * A request leaves now. Returns false when it must not, as the lock was not renewed in time: it is out no more, and its place at
   * its host is the next one's.
   */
  started(lease: BucketLease, nowMs: number): boolean {
    if (!lease.turn.isLocked(nowMs)) {
      lease.heldSlot.out.delete(lease)
      return false
    }
    lease.heldSlot.started(nowMs)
    this.#schedule.place(lease.heldSlot, nowMs)
    // What waits behind a lane is its turn's, and with a delay it is due by when this one left.
    if (!lease.turn.isBucket && lease.isPaced) this.#schedule.placeTurn(lease.turn, nowMs)
    return true
  }

  /** A request that was told to leave is on its way: the program may have stood still between the two. */
  left({ heldSlot }: BucketLease, nowMs: number): void {
    if (heldSlot.isPaced) heldSlot.left(nowMs)
  }

  /** A request has ended; Redis is told with the next message. */
  end(lease: BucketLease, outcome: Outcome, nowMs: number): void {
    const { heldSlot: slot, token, id } = lease
    const { placed, refusal, news, adds = 0, keepsHistory, done } = outcome
    const isNoted = refusal !== undefined || (lease.hasHistory && !keepsHistory)
    lease.state = 'ending'
    const ended: Ended = {
      token,
      placed,
      ...(isNoted && { id }),
      ...(refusal !== undefined && { refusal }),
    }
    this.#endings.add({ slot, ended, lease, adds, ...(done && { done }) })
    if (!news) return
    slot.news = laterNews(slot.news, news)
    slot.turn.told.add(slot)
    for (const held of this.#turns.heldAs(slot.key)) held.learn(news)
    if (news.pauseMs !== undefined) this.paused(slot.key, news.pauseMs, nowMs)
    this.#schedule.place(slot, nowMs)
  }

  /** Ends a request that has not started: it was not handed out, or its lock ran out before. */
  endUnstarted(slot: HeldSlot, ended: Ended, done: (error?: unknown) => void): void {
    this.#endings.add({ slot, ended, adds: 0, done })
  }

  /** Sends back the slot's requests that lie here, as another request goes before them. */
  callBack(slot: HeldSlot, nowMs: number): void {
    this.sendBack(slot)
    this.#schedule.place(slot, nowMs)
  }

  /** Lets no request of the slot start for so long: another worker with a lane of it has said so. */
  paused(slot: string, ms: number, nowMs: number): void {
    for (const held of this.#turns.heldAs(slot)) {
      held.pause(ms, nowMs)
      this.sendBack(held)
      this.#schedule.place(held, nowMs)
    }
  }

  /**
   * Takes an order for the slot; `pace` and `boostOf` of the options know it.
   *
   * @param pauseMs from now on; undefined: as it is
   */
  ordered(slot: string, pauseMs: number | undefined, nowMs: number): void {
    for (const held of this.#turns.heldAs(slot)) {
      held.ordered(this.#turns.orderOf(held.name), pauseMs, nowMs)
      if (pauseMs) this.sendBack(held)
      this.#schedule.place(held, nowMs)
      this.#schedule.placeTurn(held.turn, nowMs)
    }
  }

  /** Returns the slot of a request that Redis has handed out. */
  take(turn: HeldTurn, one: Taken, nowMs: number): HeldSlot {
    const slot = this.#turns.slotOf(turn, one.slot)
    if (one.known) slot.heard(one.known, nowMs)
    slot.waiting = turn.isBucket ? one.waiting : 0
    slot.head = one.head ?? 0
    turn.tokens.add(one.token)
    const { request, unreadable, id, tries } = unpackRequest(one.text)
    if (request === undefined) {
      this.#effects.push({ kind: 'unreadable', slot, taken: one, why: unreadable })
      return slot
    }
    const lease = new BucketLease(slot, one, { id, request, tries }, this.#events)
    lease.isTakenAhead = slot.isPaced && slot.goesAtMs() > nowMs + LEAD_MS
    slot.queue.push(lease)
    this.#lies(lease, 1)
    if (one.isNoted) this.#note(lease, nowMs)
    return slot
  }

  /** @param leavesAtMs when it may leave */
  #note(lease: BucketLease, leavesAtMs: number): void {
    lease.isNoted = true
    this.#noted.set(lease, leavesAtMs)
  }

  /** Counts a request that has come to lie here, or lies here no more. */
  #lies(lease: BucketLease, by: 1 | -1): void {
    if (!lease.isTakenAhead) this.#lying += by
    this.#bytes += by * lease.text.length
    if (by < 0) this.#noted.delete(lease)
  }

  /** Nothing of the slot is here any more: Redis has come back older, or its turn is lost. */
  drop(slot: HeldSlot, reason: string): void {
    for (const lease of slot.queue) this.#lies(lease, -1)
    for (const lease of [...slot.queue, ...slot.out]) {
      if (lease.state === 'ended' || lease.state === 'lost') continue
      lease.lose(reason)
      this.#effects.push({ kind: 'lost', lease })
    }
    slot.emptied()
  }

  /** Sends back what lies here of the slot, to the head of its line. */
  sendBack(slot: HeldSlot): void {
    for (let lease = slot.queue.shift(); lease; lease = slot.queue.shift()) {
      this.#lies(lease, -1)
      lease.state = 'ending'
      slot.out.add(lease)
      this.#endings.add({
        slot,
        ended: { token: lease.token, placed: [this.asItWas(slot, lease)] },
        lease,
        adds: 0,
      })
    }
  }

  /** Returns a request of a held slot, unchanged, for the head of its line. */
  asItWas({ key: slot }: HeldSlot, { priority, text }: Pick<BucketLease, 'priority' | 'text'>): Placed {
    return { place: 'head', bucket: this.#turns.bucketOf(slot), slot, priority, texts: [text] }
  }
}
