/** A turn that this worker has, and the requests that it has taken of its host. */

import type { HostNews, HostPace, HostState, Lease, Request } from '@webloom/core'
import type { DispatchItem } from '../leasing/lease-dispatcher.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { PackedMarks } from '../leasing/packed-request.ts'
import { drawnDelayMs } from '../politeness/host-pace.ts'
import type { TurnJob } from './turn-jobs.ts'
import type { Standing, Taken } from './turn-scripts.ts'

/** A turn is taken a little before its host may be asked, so that the request is here when it may go. */
export const LEAD_MS = 10
/**
 * Timers and the way to the downloader make a start a little late. The next start does not wait for so much of that delay,
 * as otherwise a host would get less than its delay allows. Two starts are never closer than the delay less this.
 */
const CREDIT_MS = 5
/** A start that is later than this does not count from the one before. */
const LATE_MS_MAX = 50

/**
 * A turn that this worker has: the requests that it holds of its host, and when the next may go. Times are monotonic
 * milliseconds.
 */
export class HostTurn {
  readonly job: TurnJob
  readonly holder: string
  /** The host's name in requests. */
  readonly slot: string
  /** The turn's quota is counted from here. */
  quotaFromMs: number
  /** Requests in flight, by token. */
  readonly held = new Map<string, TurnLease>()
  readonly #pace: HostPace
  lockedUntilMs: number
  /** Priority of the head of the line, as Redis told it last. */
  head: number | undefined
  /** A request that was taken before its host may be asked, and when it may go. */
  spare: { readonly lease: TurnLease; readonly atMs: number } | undefined
  /** Token of the take that is under way; the same one again when no reply came. */
  batch: number | undefined
  /** Requests in flight here that this release cannot read; they are going back. */
  readonly unreadable = new Set<string>()
  taken = 0
  /** Since when the turn could go but was not served. */
  readySinceMs: number | undefined
  /** True when the turn was served since this worker has it: new turns go first. */
  isServed = false
  /** True when other lanes have all that the host may have in flight. */
  isFull = false
  /** Since when nothing more is taken: the turn is left as soon as it holds no request. */
  leavingSinceMs: number | undefined
  isLost = false
  /** Requests that are not handed out, as the lock was not renewed in time. */
  aside: TurnLease[] = []
  /** When the line was last looked at. */
  lookedAtMs: number
  /** What was learned of the host. */
  state: HostState = { delayMs: 0, failures: 0 }
  #lateAtMs = Number.POSITIVE_INFINITY
  #dueAtMs = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #startedAtMs = Number.NEGATIVE_INFINITY
  /** When the request that was taken last may start, in line with the start before it. */
  #slotAtMs = Number.NEGATIVE_INFINITY
  #drawnMs: number
  #isStartTold = true

  constructor(
    job: TurnJob,
    holder: string,
    pace: HostPace,
    { standing, nowMs }: { standing: Standing; nowMs: number },
  ) {
    this.job = job
    this.holder = holder
    this.slot = decodeURIComponent(job.host)
    this.lockedUntilMs = job.lockedUntilMs
    this.quotaFromMs = nowMs
    this.lookedAtMs = nowMs
    this.#pace = pace
    this.#drawnMs = drawnDelayMs(pace, Math.random())
    this.heard(standing, nowMs)
  }

  get isLeaving(): boolean {
    return this.leavingSinceMs !== undefined
  }

  /** True while the lock is valid: requests that the turn holds may go. */
  get isLocked(): boolean {
    return performance.now() < this.lockedUntilMs
  }

  get unit(): string {
    return this.job.unit
  }

  get lockToken(): string {
    return this.job.lockToken
  }

  /** The tokens of all requests in flight here. */
  get tokens(): string[] {
    return [...this.held.keys(), ...this.unreadable]
  }

  get concurrency(): number {
    return this.#pace.concurrency
  }

  /** The delay that settings and chance give, without the floor. */
  get drawnMs(): number {
    return Math.ceil(this.#drawnMs)
  }

  get isPaced(): boolean {
    return this.#pace.delayMs > 0 || this.state.delayMs > 0
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntilMs
  }

  /** The delay with the floor. */
  get #delayMs(): number {
    return Math.max(this.#drawnMs, this.state.delayMs)
  }

  /** How many more requests the host may have in flight here. */
  get room(): number {
    if (this.isFull) return 0
    if (this.isPaced) return this.#mayTakeOne ? Math.min(1, this.#free) : 0
    return this.#free
  }

  get #free(): number {
    return this.concurrency > 0 ? Math.max(0, this.concurrency - this.held.size) : Number.POSITIVE_INFINITY
  }

  /** True unless a request is held that has not started: with a delay there is one at most. */
  get #mayTakeOne(): boolean {
    for (const lease of this.held.values()) if (!lease.hasStarted) return false
    return true
  }

  /** When the spare may go, or the next request may be taken. Infinity: when something has ended or come. */
  get wakeAtMs(): number {
    if (this.isLeaving || this.isLost || !this.isLocked) return Number.POSITIVE_INFINITY
    if (this.spare) return this.spare.atMs
    if (this.room <= 0) return Number.POSITIVE_INFINITY
    const atMs = Math.max(this.#pausedUntilMs, this.isPaced ? this.#dueAtMs - LEAD_MS : 0)
    return this.head === undefined ? Math.max(atMs, this.#lateAtMs) : atMs
  }

  /** When a turn that holds no request may go on. */
  get goesOnAtMs(): number {
    return Math.max(this.dueAtMs, this.head === undefined ? this.#lateAtMs : 0)
  }

  /** When the host may be asked again. */
  get dueAtMs(): number {
    return Math.max(this.#pausedUntilMs, this.isPaced ? this.#dueAtMs : 0)
  }

  /** Takes what Redis says of the host. */
  heard({ waitMs, pausedMs, head, lateInMs, state }: Standing, nowMs: number): void {
    this.head = head
    this.#lateAtMs = lateInMs === undefined ? Number.POSITIVE_INFINITY : nowMs + lateInMs
    this.lookedAtMs = nowMs
    if (pausedMs > 0) this.pause(pausedMs, nowMs)
    const floorBeforeMs = this.state.delayMs
    this.state = state
    // While a request is taken and has not started, Redis counts from when it was taken; this worker will know better.
    if (this.#startedAtMs === Number.NEGATIVE_INFINITY) this.#dueAtMs = nowMs + waitMs
    else if (state.delayMs !== floorBeforeMs) this.#dueAtMs = this.#startedAtMs + this.#delayMs
  }

  /** Lets no request of the host start for so long; a longer pause stays. */
  pause(ms: number, nowMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + ms)
  }

  /** Called when Redis found it too early: its time counts. */
  heldBack(waitMs: number, nowMs: number): void {
    this.#dueAtMs = Math.max(this.#dueAtMs, nowMs + waitMs)
  }

  /** Called when the turn has had its share for now. */
  served(): void {
    this.isServed = true
    this.readySinceMs = undefined
  }

  /** Called when none of the requests is in flight any more. */
  emptied(): void {
    this.held.clear()
    this.unreadable.clear()
    this.aside = []
    this.spare = undefined
    this.isFull = false
    this.startUntold()
  }

  renewQuota(): void {
    this.quotaFromMs = performance.now()
    this.taken = 0
  }

  /** Called when a request has come to the line. */
  arrived(priority: number): void {
    this.head = this.head === undefined ? priority : Math.max(this.head, priority)
  }

  /** Called when the next request of the host was taken. Returns when it may go. */
  slotTaken(nowMs: number): number {
    const isInLine = this.#startedAtMs > Number.NEGATIVE_INFINITY && nowMs - this.#dueAtMs < LATE_MS_MAX
    this.#slotAtMs = isInLine ? this.#dueAtMs : Number.NEGATIVE_INFINITY
    return this.isPaced ? this.#dueAtMs : 0
  }

  /** A request leaves for the host now: the delay is counted from here. */
  started(nowMs: number): void {
    const isInLine = nowMs - this.#slotAtMs < LATE_MS_MAX
    const countedFromMs = isInLine ? Math.max(this.#slotAtMs, nowMs - CREDIT_MS) : nowMs
    this.#startedAtMs = nowMs
    this.#drawnMs = drawnDelayMs(this.#pace, Math.random())
    this.#dueAtMs = countedFromMs + this.#delayMs
    this.#isStartTold = false
  }

  /** Takes news that are under way to Redis. */
  learn({ delayMs = this.state.delayMs, failures = this.state.failures }: HostNews): void {
    const isPacedAnew = delayMs !== this.state.delayMs
    this.state = { delayMs, failures }
    if (!isPacedAnew) return
    this.#dueAtMs = this.#startedAtMs + this.#delayMs
    if (this.spare) this.spare = { ...this.spare, atMs: this.#dueAtMs }
    // Redis is told with them when the next request may start.
    this.startUntold()
  }

  /** Returns how long ago the last start was, and counts it as told; undefined when Redis need not know. */
  tellStart(nowMs: number): number | undefined {
    if (this.#isStartTold) return undefined
    this.#isStartTold = true
    return Math.floor(nowMs - this.#startedAtMs)
  }

  /** Called when the start was not told after all. */
  startUntold(): void {
    this.#isStartTold = this.#startedAtMs === Number.NEGATIVE_INFINITY
  }
}

/**
 * A request that a turn has taken.
 *
 *     spare ──► ready ──► out ──► ending ──► ended
 *                                   │ refused by a full Redis
 *                          out ◄────┘
 *
 * A lease may be lost in any of these states.
 */
export type LeaseState = 'spare' | 'ready' | 'out' | 'ending' | 'ended' | 'lost'

export class TurnLease implements Lease, DispatchItem {
  readonly turn: HostTurn
  readonly token: string
  /** The request as Redis has it. */
  readonly text: string
  readonly id: string
  readonly request: Request
  readonly priority: number
  readonly marks: PackedMarks
  state: LeaseState = 'spare'
  host: HostState
  hasStarted = false
  readonly #lost = new AbortController()
  readonly #onStart: (lease: TurnLease) => void

  /** `request` as made of `text`. */
  constructor(
    turn: HostTurn,
    { token, priority, text }: Taken,
    { id, request, marks }: { id: string; request: Request; marks: PackedMarks },
    onStart: (lease: TurnLease) => void,
  ) {
    this.turn = turn
    this.host = turn.state
    this.token = token
    this.priority = priority
    this.text = text
    this.id = id
    this.request = request
    this.marks = marks
    this.#onStart = onStart
  }

  get slot(): string {
    return this.turn.slot
  }

  get isPaced(): boolean {
    return this.turn.isPaced
  }

  get attempt(): number {
    return this.marks.attempt
  }

  get redelivered(): boolean {
    return this.marks.attempt > 1
  }

  get suspect(): boolean {
    return this.marks.suspect
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** True when there is a history of the request, which is deleted when the request is committed. */
  get hasHistory(): boolean {
    const { attempt, kills, rejections } = this.marks
    return attempt > 1 || kills > 0 || rejections > 0
  }

  started(): void {
    if (this.hasStarted || this.state !== 'out') return
    this.hasStarted = true
    this.#onStart(this)
  }

  lose(reason: string): void {
    this.state = 'lost'
    this.#lost.abort(leaseLost(this.request, reason))
  }
}
