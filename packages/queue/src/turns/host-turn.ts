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
 * Timers and the way to the downloader make a start a little late. So much of it the next start does not wait for, as
 * otherwise a host would get less than its delay allows; two starts are never closer than the delay less this.
 */
const CREDIT_MS = 5
/** A start that was later than this is the beginning of something new. */
const LATE_MS_MAX = 50

/** A turn that this worker has: what it holds of its host, and when the next may go. Times are monotonic milliseconds. */
export class HostTurn {
  readonly job: TurnJob
  readonly holder: string
  /** The host's name, as requests know it. */
  readonly slot: string
  /** Its quota is counted from here. */
  quotaFromMs: number
  /** In flight, by token. */
  readonly held = new Map<string, TurnLease>()
  readonly #pace: HostPace
  lockedUntilMs: number
  /** Priority of the head of its line, as last heard of. */
  head: number | undefined
  /** Taken for a host that may not be asked before that moment. */
  spare: { readonly lease: TurnLease; readonly atMs: number } | undefined
  /** Token of the take that is under way; the same again when no answer came. */
  batch: number | undefined
  /** In flight here as well: this release cannot read them, and they are going back. */
  readonly unreadable = new Set<string>()
  taken = 0
  /** Since when it could go, and was not served. */
  readySinceMs: number | undefined
  /** Served since this worker has it: others that come go first. */
  isServed = false
  /** Other lanes have all that the host may have in flight. */
  isFull = false
  /** Since when nothing more is taken: it goes as soon as it holds nothing. */
  leavingSinceMs: number | undefined
  isLost = false
  /** Laid back by the worker: its lock was not renewed in time. */
  aside: TurnLease[] = []
  /** When its line was last looked at. */
  lookedAtMs: number
  /** What was learnt of its host. */
  state: HostState = { delayMs: 0, failures: 0 }
  #lateAtMs = Number.POSITIVE_INFINITY
  #dueAtMs = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  #startedAtMs = Number.NEGATIVE_INFINITY
  /** When the last that was taken may start, in line with the start before it. */
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

  /** Its lock was renewed in time: what it holds may go. */
  get isLocked(): boolean {
    return performance.now() < this.lockedUntilMs
  }

  get unit(): string {
    return this.job.unit
  }

  get lockToken(): string {
    return this.job.lockToken
  }

  /** Of all that is in flight here. */
  get tokens(): string[] {
    return [...this.held.keys(), ...this.unreadable]
  }

  get concurrency(): number {
    return this.#pace.concurrency
  }

  /** The delay as the settings and chance have it. */
  get drawnMs(): number {
    return Math.ceil(this.#drawnMs)
  }

  get isPaced(): boolean {
    return this.#pace.delayMs > 0 || this.state.delayMs > 0
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntilMs
  }

  /** With the floor. */
  get #delayMs(): number {
    return Math.max(this.#drawnMs, this.state.delayMs)
  }

  /** How many more the host may have in flight here. */
  get room(): number {
    if (this.isFull) return 0
    if (this.isPaced) return this.#mayTakeOne ? Math.min(1, this.#free) : 0
    return this.#free
  }

  get #free(): number {
    return this.concurrency > 0 ? Math.max(0, this.concurrency - this.held.size) : Number.POSITIVE_INFINITY
  }

  /** With a delay, no more than one is held that has not started. */
  get #mayTakeOne(): boolean {
    for (const lease of this.held.values()) if (!lease.hasStarted) return false
    return true
  }

  /** When the spare may go, or the next be taken; Infinity: when something has ended or come. */
  get wakeAtMs(): number {
    if (this.isLeaving || this.isLost || !this.isLocked) return Number.POSITIVE_INFINITY
    if (this.spare) return this.spare.atMs
    if (this.room <= 0) return Number.POSITIVE_INFINITY
    const atMs = Math.max(this.#pausedUntilMs, this.isPaced ? this.#dueAtMs - LEAD_MS : 0)
    return this.head === undefined ? Math.max(atMs, this.#lateAtMs) : atMs
  }

  /** When it may go on, for one that holds nothing. */
  get goesOnAtMs(): number {
    return Math.max(this.dueAtMs, this.head === undefined ? this.#lateAtMs : 0)
  }

  /** When its host may be asked again. */
  get dueAtMs(): number {
    return Math.max(this.#pausedUntilMs, this.isPaced ? this.#dueAtMs : 0)
  }

  /** What Redis says of its host. */
  heard({ waitMs, pausedMs, head, lateInMs, state }: Standing, nowMs: number): void {
    this.head = head
    this.#lateAtMs = lateInMs === undefined ? Number.POSITIVE_INFINITY : nowMs + lateInMs
    this.lookedAtMs = nowMs
    if (pausedMs > 0) this.pause(pausedMs, nowMs)
    const floorBeforeMs = this.state.delayMs
    this.state = state
    // While one is taken and has not started, Redis counts from when it was taken, and this worker will know better.
    if (this.#startedAtMs === Number.NEGATIVE_INFINITY) this.#dueAtMs = nowMs + waitMs
    else if (state.delayMs !== floorBeforeMs) this.#dueAtMs = this.#startedAtMs + this.#delayMs
  }

  /** Nothing of its host starts for so long; a longer pause stays. */
  pause(ms: number, nowMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + ms)
  }

  /** Redis found it too early; its word counts. */
  heldBack(waitMs: number, nowMs: number): void {
    this.#dueAtMs = Math.max(this.#dueAtMs, nowMs + waitMs)
  }

  /** It had its share, for now. */
  served(): void {
    this.isServed = true
    this.readySinceMs = undefined
  }

  /** Nothing of what was in flight is any more. */
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

  /** Something has come to its line. */
  arrived(priority: number): void {
    this.head = this.head === undefined ? priority : Math.max(this.head, priority)
  }

  /** The next of its host was taken. Returns when it may go. */
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

  /** News that is on its way to Redis. */
  learn({ delayMs = this.state.delayMs, failures = this.state.failures }: HostNews): void {
    const isPacedAnew = delayMs !== this.state.delayMs
    this.state = { delayMs, failures }
    if (!isPacedAnew) return
    this.#dueAtMs = this.#startedAtMs + this.#delayMs
    if (this.spare) this.spare = { ...this.spare, atMs: this.#dueAtMs }
    // With it goes when the next may start.
    this.startUntold()
  }

  /** How long ago the last start was, if Redis is not to know yet. It counts as told from now on. */
  tellStart(nowMs: number): number | undefined {
    if (this.#isStartTold) return undefined
    this.#isStartTold = true
    return Math.floor(nowMs - this.#startedAtMs)
  }

  /** It was not told, after all. */
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
 * and lost from any of them.
 */
export type LeaseState = 'spare' | 'ready' | 'out' | 'ending' | 'ended' | 'lost'

export class TurnLease implements Lease, DispatchItem {
  readonly turn: HostTurn
  readonly token: string
  /** As it stands in Redis. */
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

  /** Something is noted of it that must go when it ends well. */
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
