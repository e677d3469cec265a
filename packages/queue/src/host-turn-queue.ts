/**
 * The request queue of a cluster: hosts take turns, and a BullMQ job is a turn.
 *
 * PROSE
 */

import {
  type CommitOptions,
  type Crawler,
  type HostPace,
  type Lease,
  type Logger,
  type QueueCounts,
  type QueuedRequest,
  type QueueOrder,
  REFUSALS_MAX,
  type Request,
  type RequestQueue,
  silentLogger,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from './crawl-redis-keys.ts'
import { HeldTurns } from './held-turns.ts'
import { paceFrom, slotOf, slotPaces } from './host-pace.ts'
import type { HostTurn } from './host-turn.ts'
import { LeaseDesk } from './lease-desk.ts'
import { remarked, unpackRequest } from './packed-request.ts'
import { fullError, LINGER_MS, lostError, REQUESTS_A_SCRIPT, TurnExchange } from './turn-exchange.ts'
import { TurnIntake } from './turn-intake.ts'
import { TURN_LOCK_MS, TurnJobs } from './turn-jobs.ts'
import { TurnLease } from './turn-lease.ts'
import { TurnPlacing } from './turn-placing.ts'
import {
  type Ended,
  type Placed,
  type Stirred,
  type Taken,
  type TurnAnswer,
  type TurnSays,
  TurnScripts,
} from './turn-scripts.ts'
import { within } from './within.ts'

export interface HostTurnQueueOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  readonly order?: QueueOrder
  readonly slotOf?: (request: Request) => string
  readonly pace: (slot: string) => HostPace
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter?: number
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency?: number
  readonly logger?: Logger
  /** For tests: called at each named point, where a worker may be killed. */
  readonly onPoint?: (name: TurnPoint) => void
}

/** What a worker has just done. */
export type TurnPoint =
  | 'fetched'
  | 'begun'
  | 'taken'
  | 'pushed'
  | 'committed'
  | 'woken'
  | 'left'
  | 'completed'

/** A turn that could go and is not served for so long goes to another worker. */
const YIELD_AFTER_MS = 250
/** Without a delay, a turn goes behind the others after so long, or so many requests. */
const QUOTA_MS = 5000
const QUOTA_REQUESTS = 500
/** A turn whose host is full with other lanes' requests tries again after this. */
const FULL_RETRY_MS = 500
/** A line that was empty is looked at again, as others may have added to it. */
const LOOK_AGAIN_MS = 500
const TEND_EVERY_MS = 100
const RENEW_EVERY_MS = TURN_LOCK_MS / 3
const SWEEP_EVERY_MS = 2000
/** What a worker could not do is handed out again after this. */
const REFUSED_MS = 5000
const CLOSE_MS_MAX = 3000
/** Turns a worker may have; most of them wait for their host's next slot. */
const TURNS_MIN = 256
const TURNS_MAX = 2048
const EVICTED_AT_ONCE = 16

export class HostTurnQueue implements RequestQueue {
  readonly #options: HostTurnQueueOptions
  readonly #order: QueueOrder
  readonly #logger: Logger
  readonly #concurrency: number
  readonly #turnsMax: number
  readonly #scripts: TurnScripts
  readonly #jobs: TurnJobs
  readonly #placing: TurnPlacing
  readonly #desk: LeaseDesk<TurnLease>
  readonly #turns = new HeldTurns()
  readonly #intake: TurnIntake
  readonly #exchange: TurnExchange
  /** What is being said to BullMQ. */
  readonly #saying = new Set<Promise<void>>()
  readonly #timers: NodeJS.Timeout[] = []
  #alarm: NodeJS.Timeout | undefined
  /** Turns wait in BullMQ, as last heard of. */
  #othersWait = false
  #isRenewing = false
  #isClosed = false

  constructor(options: HostTurnQueueOptions) {
    const { redis, keys, workerId, order = 'priority', concurrency = 16, logger = silentLogger } = options
    this.#options = options
    this.#order = order
    this.#logger = logger
    this.#concurrency = concurrency > 0 ? concurrency : TURNS_MIN
    this.#turnsMax = Math.min(TURNS_MAX, Math.max(TURNS_MIN, 8 * this.#concurrency))
    this.#scripts = new TurnScripts({ redis, keys, order })
    this.#jobs = new TurnJobs({ redis, queueName: keys.queueName, workerId, logger })
    this.#placing = new TurnPlacing({ order, slotOf: options.slotOf ?? slotOf, pace: options.pace })
    this.#desk = new LeaseDesk<TurnLease>({
      beginAlone: ({ id }) => this.#scripts.beginAlone(workerId, id),
      endAlone: () => this.#scripts.endAlone(workerId),
    })
    this.#desk.onDemand(() => this.#serve())
    this.#intake = new TurnIntake({
      scripts: this.#scripts,
      jobs: this.#jobs,
      workerId,
      pace: options.pace,
      quarantineAfter: options.quarantineAfter ?? 3,
      logger,
      wants: (beginning) => this.#wantsTurns(beginning),
      hasTurnOf: (host) => this.#turns.of(host) !== undefined,
      onBegun: (turn, stirred) => this.#onBegun(turn, stirred),
      onDrained: () => this.#serve(),
      onPoint: (name) => this.#point(name),
    })
    this.#exchange = new TurnExchange({
      scripts: this.#scripts,
      turns: this.#turns,
      demand: () => (this.#isClosed ? 0 : this.#desk.demand),
      isLooking: () => this.#intake.isLooking,
      onAnswer: (turn, says, answer) => this.#onAnswer(turn, says, answer),
      onStirred: (stirred) => this.#stir(stirred),
      onIdle: () => this.#arm(),
    })
  }

  static fromCrawler(
    { settings, logger }: Crawler,
    connected: Pick<HostTurnQueueOptions, 'redis' | 'keys' | 'workerId'>,
  ): HostTurnQueue {
    const [pace, slots] = [paceFrom(settings), slotPaces(settings)]
    return new HostTurnQueue({
      ...connected,
      order: settings.get('SCHEDULER_QUEUE_CLASS'),
      pace: (slot) => ({ ...pace, ...slots[slot] }),
      quarantineAfter: settings.getInt('QUARANTINE_AFTER'),
      concurrency: settings.getInt('CONCURRENT_REQUESTS'),
      logger,
    })
  }

  async open(): Promise<void> {
    await this.#jobs.open()
    await this.#sweep(0)
    this.#timers.push(
      setInterval(() => this.#tend(), TEND_EVERY_MS),
      setInterval(() => void this.#renew(), RENEW_EVERY_MS),
      setInterval(() => void this.#sweep(SWEEP_EVERY_MS * 0.75), SWEEP_EVERY_MS),
    )
    this.#intake.open()
  }

  /** Within some seconds, whatever the server does: what cannot be given back in time is taken over later. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    clearTimeout(this.#alarm)
    this.#desk.close()
    this.#intake.stop()
    try {
      await within(CLOSE_MS_MAX, 'giving turns back', this.#giveAllBack())
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'turns are not given back; other workers take them over in some seconds',
      )
    }
    for (const turn of this.#turns) this.#lose(turn, 'the queue was closed')
    await this.#jobs.close()
    await this.#intake.ended()
  }

  clear(): Promise<void> {
    return this.#scripts.clear()
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'turns', order: this.#order }
  }

  async push(batch: readonly QueuedRequest[], owner: string): Promise<number> {
    const startIndex = /^start\/(\d+)$/.exec(owner)?.[1]
    let added = 0
    for (let from = 0; from === 0 || from < batch.length; from += REQUESTS_A_SCRIPT) {
      const groups = this.#placing.pushed(batch.slice(from, from + REQUESTS_A_SCRIPT))
      const done = await explained(
        this.#scripts.push({
          owner,
          ...(startIndex !== undefined && { startIndex: Number(startIndex) }),
          // What goes in with one script needs no other note than the cursor.
          isNoting: startIndex === undefined || batch.length > REQUESTS_A_SCRIPT,
          isLast: from + REQUESTS_A_SCRIPT >= batch.length,
          groups,
        }),
      )
      this.#point('pushed')
      added += done.added
      this.#stir(done)
      for (const { host, priority } of groups) this.#arrived(host, priority)
    }
    this.#serve()
    return added
  }

  async settled(owner: string): Promise<void> {
    await this.#scripts.settled(owner)
  }

  async lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    const leases = await this.#desk.take(max, signal, () => this.#nothingCanCome())
    for (const lease of leases) lease.state = 'out'
    return leases
  }

  async commit(lease: Lease, { children = [], delayMs }: CommitOptions = {}): Promise<void> {
    const own = this.#ownOf(lease)
    const owner = `${own.id}/commit`
    // More than one script takes go in before, noted under an owner of their own: the page that runs again adds nothing.
    const before = Math.max(0, children.length - REQUESTS_A_SCRIPT)
    if (before > 0) await this.push(children.slice(0, before), owner)
    const placed = this.#placing.groups(children.slice(before))
    await this.#end(own, {
      placed,
      adds: children.length - before,
      ...(delayMs !== undefined && { floorMs: delayMs }),
    })
    if (before > 0) await this.settled(owner)
  }

  async retry(lease: Lease, request: Request, delayMs: number): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, {
      placed: [this.#placing.one({ id: own.id, request }, { attempt: own.attempt }, delayMs)],
    })
  }

  async release(lease: Lease): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, { placed: [this.#asItWas(own)], keepsHistory: true })
  }

  async refuse(lease: Lease, reason: string): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, { placed: [this.#refused(own, own.marks.refusals + 1)], refusal: reason })
  }

  counts(): Promise<QueueCounts> {
    return this.#scripts.counts()
  }

  async #nothingCanCome(): Promise<boolean> {
    const { waiting, delayed, leased } = await this.counts()
    return waiting + delayed + leased === 0
  }

  #ownOf(lease: Lease): TurnLease {
    if (lease instanceof TurnLease && lease.state === 'out') return lease
    throw lostError('it has ended before, or another worker has it', lease as TurnLease)
  }

  #asItWas({ turn, priority, text }: Pick<TurnLease, 'turn' | 'priority' | 'text'>): Placed {
    return { place: 'head', host: turn.job.host, priority, lanes: 1, texts: [text] }
  }

  #refused(one: Pick<TurnLease, 'turn' | 'priority' | 'text'>, refusals: number): Placed {
    const place = refusals >= REFUSALS_MAX ? 'quarantine' : REFUSED_MS
    return { ...this.#asItWas(one), place, texts: [remarked(one.text, { refusals })] }
  }

  #end(
    lease: TurnLease,
    {
      placed,
      refusal,
      floorMs,
      adds = 0,
      keepsHistory = false,
    }: {
      placed: readonly Placed[]
      refusal?: string
      floorMs?: number
      adds?: number
      keepsHistory?: boolean
    },
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { turn, token, id } = lease
    const isNoted = refusal !== undefined || (lease.hasHistory && !keepsHistory)
    const ended: Ended = { token, placed, ...(isNoted && { id }), ...(refusal !== undefined && { refusal }) }
    lease.state = 'ending'
    this.#exchange.end({
      turn,
      ended,
      lease,
      adds,
      ...(floorMs !== undefined && { floorMs }),
      resolve: () => {
        this.#ended(lease)
        this.#point('committed')
        for (const { host, priority, place } of placed)
          if (place === 'end' || place === 'head') this.#arrived(host, priority)
        resolve()
      },
      reject: (error) => {
        if (lease.state === 'ending') lease.state = 'out'
        reject(error)
      },
    })
    return promise
  }

  #ended(lease: TurnLease): void {
    lease.state = 'ended'
    lease.turn.held.delete(lease.token)
    lease.turn.isFull = false
    this.#desk.ended(lease)
  }

  #serve(): void {
    if (this.#isClosed) return
    this.#putDueSpares()
    this.#intake.wake()
    this.#exchange.kick()
  }

  /** These wait for nothing but their moment, and not for what is being said to Redis. */
  #putDueSpares(): void {
    for (const turn of this.#turns.dueSpares()) {
      if (this.#desk.demand === 0) return
      const { lease } = turn.spare!
      turn.spare = undefined
      turn.isServed = true
      turn.readySinceMs = undefined
      this.#turns.place(turn)
      this.#put(lease)
    }
  }

  #wantsTurns(beginning: number): boolean {
    if (this.#isClosed || this.#desk.demand === 0) return false
    return (
      this.#turns.size + beginning < this.#turnsMax && this.#turns.readyCount + beginning < this.#concurrency
    )
  }

  #onBegun(turn: HostTurn, stirred: Stirred): void {
    this.#stir(stirred)
    this.#turns.add(turn)
    if (this.#isClosed) return this.#exchange.leave(turn)
    this.#maybeLeave(turn)
    this.#serve()
  }

  #onAnswer(turn: HostTurn, says: TurnSays, answer: TurnAnswer): void {
    if (answer.status === 'lost') return this.#lose(turn, `another worker has taken over ${turn.slot}`)
    if (answer.status !== 'held') {
      this.#point('left')
      for (const lease of turn.held.values()) this.#loseLease(lease, 'its turn is over')
      this.#turns.remove(turn)
      this.#say(answer.status === 'left' ? this.#giveBack(turn, answer.standing) : this.#complete(turn))
      if (this.#turns.size === 0) this.#desk.recheck()
      return
    }
    const nowMs = performance.now()
    const { standing, taken } = answer
    const slotAtMs = taken.length > 0 ? turn.slotTaken(nowMs) : 0
    turn.heard(standing, nowMs)
    if (says.most > 0) {
      turn.batch++
      turn.taken += taken.length
      this.#point('taken')
      for (const one of taken) this.#accept(turn, one, slotAtMs)
      if (taken.length === 0 && turn.isPaced) turn.heldBack(standing.waitMs, nowMs)
      if (taken.length < says.most && !turn.isPaced && standing.head !== undefined) turn.isFull = true
    }
    this.#turns.place(turn)
    this.#maybeLeave(turn)
  }

  async #complete(turn: HostTurn): Promise<void> {
    await this.#jobs.complete(turn.job)
    this.#point('completed')
  }

  async #giveBack(
    turn: HostTurn,
    { waitMs, head, lateInMs = 0 }: { waitMs: number; head?: number; lateInMs?: number },
  ): Promise<void> {
    const untilMs = Math.max(waitMs, head === undefined ? lateInMs : 0, turn.isFull ? FULL_RETRY_MS : 0)
    await this.#jobs.giveBack(turn.job, untilMs, head ?? 0)
    this.#point('completed')
  }

  /** One that was taken: to the desk, now or when its host may be asked. */
  #accept(turn: HostTurn, taken: Taken, slotAtMs: number): void {
    const { request, unreadable, ...known } = unpackRequest(taken.text)
    if (request === undefined) return this.#refuseUnreadable(turn, taken, known, unreadable)
    const lease = new TurnLease(turn, taken, { ...known, request }, (started) => this.#onStart(started))
    turn.held.set(lease.token, lease)
    if (slotAtMs <= performance.now()) return this.#put(lease)
    turn.spare = { lease, atMs: slotAtMs }
    this.#turns.hasSpare(turn)
  }

  /** Some other release's: it goes back, and after enough tries to quarantine. */
  #refuseUnreadable(
    turn: HostTurn,
    { token, priority, text }: Taken,
    { id, marks }: Pick<TurnLease, 'id' | 'marks'>,
    refusal: string,
  ): void {
    const placed = [this.#refused({ turn, priority, text }, marks.refusals + 1)]
    this.#logger.warn({ id, reason: refusal }, 'this release cannot read a request; it is given back')
    this.#exchange.end({
      turn,
      ended: { token, id, refusal, placed },
      adds: 0,
      resolve: () => {},
      // It stays in flight, and comes back with its turn.
      reject: () => {},
    })
  }

  #put(lease: TurnLease): void {
    lease.state = 'desk'
    this.#desk.put(lease)
  }

  #onStart(lease: TurnLease): void {
    const { turn } = lease
    if (!turn.isLocked) return this.#loseLease(lease, `the lock of ${turn.slot} was not renewed in time`)
    turn.started(performance.now())
    this.#turns.place(turn)
    this.#arm()
    this.#serve()
  }

  /** Requests have come to a line; the turn that this worker has of it must not sleep on. */
  #arrived(host: string, priority: number): void {
    const turn = this.#turns.of(host)
    if (!turn) return
    const before = turn.head
    turn.arrived(priority)
    if (turn.head !== before) this.#turns.place(turn)
  }

  #stir({ woken, raised }: Stirred): void {
    if (woken.length > 0) this.#say(this.#jobs.add(woken).then(() => this.#point('woken')))
    if (raised.length > 0) this.#say(this.#jobs.raise(raised))
  }

  /** What BullMQ does not hear, the sweep finds. */
  #say(saying: Promise<void>): void {
    const said = saying
      .catch((error: unknown) => this.#logger.debug({ err: error }, 'BullMQ was not told of a turn'))
      .finally(() => this.#saying.delete(said))
    this.#saying.add(said)
  }

  #loseLease(lease: TurnLease, reason: string): void {
    const wasOnDesk = lease.state === 'desk' && this.#desk.withdraw(lease)
    if (lease.state === 'ended') return
    lease.lose(reason)
    if (!wasOnDesk) this.#desk.ended(lease)
  }

  #lose(turn: HostTurn, reason: string): void {
    turn.isLost = true
    this.#turns.remove(turn)
    this.#exchange.lost(turn, lostError(reason))
    for (const lease of turn.held.values()) this.#loseLease(lease, reason)
  }

  /** Gives its turn up when it holds nothing and its host may not be asked for a while. */
  #maybeLeave(turn: HostTurn): void {
    if (turn.isLeaving || turn.held.size > 0) return
    if (turn.goesOnAtMs - performance.now() > LINGER_MS) this.#exchange.leave(turn)
  }

  #tend(): void {
    const nowMs = performance.now()
    const demand = this.#desk.demand
    for (const turn of this.#turns) this.#tendOne(turn, nowMs, demand)
    if (demand > 0 && this.#turns.size >= this.#turnsMax && this.#othersWait) this.#evict(nowMs)
    this.#serve()
  }

  #tendOne(turn: HostTurn, nowMs: number, demand: number): void {
    if (turn.isLeaving) return
    if (!turn.isLocked) return this.#layAside(turn)
    this.#maybeLeave(turn)
    const holdsNothing = turn.held.size === 0
    const isIdle = turn.readySinceMs !== undefined && nowMs - turn.readySinceMs > YIELD_AFTER_MS
    const isOverQuota = nowMs - turn.begunAtMs > QUOTA_MS || turn.taken > QUOTA_REQUESTS
    if (holdsNothing && ((isIdle && this.#placing.workers > 1) || turn.isFull)) this.#exchange.leave(turn)
    else if (isOverQuota && !turn.isPaced && this.#othersWait) this.#exchange.leave(turn)
    else if (nowMs - turn.lookedAtMs > LOOK_AGAIN_MS && demand > 0) this.#lookAgain(turn, nowMs)
  }

  #lookAgain(turn: HostTurn, nowMs: number): void {
    turn.lookedAtMs = nowMs
    turn.isFull = false
    if (turn.head === undefined) turn.arrived(0)
    this.#turns.wake(turn)
  }

  /** Turns at hand go before those that sleep longest. */
  #evict(nowMs: number): void {
    const sleeping = [...this.#turns].filter(
      (turn) => turn.held.size === 0 && !turn.isLeaving && turn.goesOnAtMs - nowMs > TEND_EVERY_MS,
    )
    sleeping.sort((a, b) => b.goesOnAtMs - a.goesOnAtMs)
    for (const turn of sleeping.slice(0, EVICTED_AT_ONCE)) this.#exchange.leave(turn)
  }

  /** Its lock may be another's by now: nothing of it is handed out until that is known. */
  #layAside(turn: HostTurn): void {
    for (const lease of turn.held.values()) {
      if (lease.state !== 'desk' || !this.#desk.withdraw(lease)) continue
      lease.state = 'spare'
      turn.aside.push(lease)
    }
    this.#turns.place(turn)
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#turns.size === 0) return
    this.#isRenewing = true
    const turns = [...this.#turns]
    const sentAtMs = performance.now()
    try {
      const lost = new Set(await this.#scripts.renew(turns, TURN_LOCK_MS))
      for (const turn of turns) {
        if (!this.#turns.has(turn)) continue
        if (lost.has(turn)) this.#lose(turn, `its lock on ${turn.slot} ran out`)
        else this.#renewed(turn, sentAtMs)
      }
    } catch (error) {
      this.#logger.debug({ err: error }, 'locks could not be renewed; it is tried again')
    }
    this.#isRenewing = false
  }

  #renewed(turn: HostTurn, sentAtMs: number): void {
    const wasLocked = turn.isLocked
    turn.lockedUntilMs = sentAtMs + TURN_LOCK_MS
    for (const lease of turn.aside.splice(0)) this.#put(lease)
    if (!wasLocked) this.#turns.place(turn)
  }

  async #sweep(everyMs: number): Promise<void> {
    try {
      const { workers, waiting, woken } = await this.#scripts.sweep(this.#options.workerId, everyMs)
      this.#placing.workers = workers
      this.#othersWait = waiting > 0
      this.#stir({ woken, raised: [] })
    } catch (error) {
      this.#logger.debug({ err: error }, 'turns could not be looked after; it is tried again')
    }
  }

  /** Sleeps until the next of the held turns may go. */
  #arm(): void {
    clearTimeout(this.#alarm)
    const nextAtMs = this.#turns.nextAtMs
    if (this.#isClosed || nextAtMs === Number.POSITIVE_INFINITY) return
    this.#alarm = setTimeout(() => this.#serve(), Math.max(1, Math.ceil(nextAtMs - performance.now())))
  }

  async #giveAllBack(): Promise<void> {
    for (const turn of this.#turns) {
      for (const lease of turn.held.values()) this.#giveLeaseBack(lease)
      turn.spare = undefined
      this.#exchange.leave(turn)
    }
    await this.#exchange.settled()
    await Promise.all(this.#saying)
    await this.#scripts.leave(this.#options.workerId)
  }

  /** What was handed out may have been fetched. */
  #giveLeaseBack(lease: TurnLease): void {
    if (lease.state === 'ending' || lease.state === 'lost') return
    const isOut = lease.state === 'out'
    const text = isOut ? remarked(lease.text, { attempt: lease.attempt + 1 }) : lease.text
    void this.#end(lease, { placed: [this.#asItWas({ ...lease, text })], keepsHistory: true }).catch(() => {})
    if (isOut) lease.lose('the queue was closed')
  }

  #point(name: TurnPoint): void {
    this.#options.onPoint?.(name)
  }
}

async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && error.message.includes('OOM')) throw fullError(error)
    throw error
  }
}
