/**
 * The request queue of a cluster: hosts take turns, and a BullMQ job is a turn.
 *
 * Requests wait packed in Redis, in lines, one a host and priority (`lua/hosts/lines.lua`). BullMQ knows none of them. It has
 * one job for each host with anything to do, its *turn*: the job's lock is the lease of all that the turn has taken, its
 * priority that of the host's most urgent request, BullMQ's delayed set the order in which hosts may be asked again, its
 * lock that runs out the take-over from a lost worker. A big host without a delay has several turns, its *lanes*, so that
 * several workers share it; a host with a delay has one, and so one worker that knows when the last request started.
 *
 *     a lane  idle ── a request comes ──► owed ── its job is added ──► waits in BullMQ ◄──── left ────┐
 *               ▲      (generation + 1)     │ job lost: added again        │ fetched, begun           │
 *               │                           ◄── by the sweep               ▼                          │
 *               └──── nothing is left: closed by the script that finds it ── held: holder, in flight ──┘
 *
 * A worker has turns (`HeldTurns`), many more than it downloads at once, as most of them wait until their host may be asked:
 *
 *     TurnIntake     fetches and begins turns while the engine waits for requests
 *     TurnExchange   tells what has ended and takes what comes next, for all turns with one script at a time
 *     TurnDesk       hands out requests that were taken; suspects alone
 *     TurnEndings    the outcome of a request that was taken: commit, retry, requeue, reject
 *     TurnCourse     what becomes of a turn: it goes on, is left, is over, is lost
 *     TurnCare       renews locks, leaves turns that others should have, finds turns whose job is missing
 *
 * A worker leaves a turn, which means that its job goes back to BullMQ, when the turn holds no request and its host must
 * wait for longer than it pays to keep the turn (two seconds), or when other hosts or workers should have the place.
 *
 * This only works if each script moves requests in one step, and finds out by itself whether its caller still holds the
 * turn: a worker may stand still for a minute and go on. So each lane notes its holder, a take has a token by which it can
 * be repeated, and requests that were reclaimed from a lost holder are noted as lost. Every script may be sent twice;
 * `docs/decisions/host-turns.md` lists where a worker can die, and what happens then.
 *
 * Redis's clock decides whether a host may be asked where turns change hands. Within a turn the worker's monotonic clock
 * does, from the true start of the last request. BullMQ's times only decide when a turn is looked at.
 *
 * Not chosen: a job for each request (`BullJobQueue`), as a worker learns that the host must wait only after it has leased
 * the job; BullMQ's own worker loop, which takes as many turns as it may, not as it needs.
 */

import {
  type CommitOptions,
  type Crawler,
  type HostNews,
  type HostPace,
  type InFlight,
  type Lease,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueueCounts,
  type QueuedRequest,
  type QueueOrder,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type StartRequest,
  silentLogger,
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { StartSpan } from '../crawl/start-span.ts'
import { Doubts } from '../leasing/doubts.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import { LeftToOthers } from '../leasing/left-to-others.ts'
import { KEPT_BY_NOBODY, type LockKeeper } from '../locks/lock-keeper.ts'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { paceOf } from '../politeness/host-pace.ts'
import { type HostSlots, SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { EmptinessCheck } from './emptiness-check.ts'
import { HeldTurns } from './held-turns.ts'
import { type HostTurn, TurnLease } from './host-turn.ts'
import { SaidNumbers, WentBack } from './said-numbers.ts'
import { TurnCare } from './turn-care.ts'
import { TurnCourse } from './turn-course.ts'
import { TurnDesk } from './turn-desk.ts'
import { TurnEndings } from './turn-endings.ts'
import { explained } from './turn-errors.ts'
import { MAX_REQUESTS_PER_SCRIPT, TurnExchange } from './turn-exchange.ts'
import { TurnIntake } from './turn-intake.ts'
import { TurnJobs } from './turn-jobs.ts'
import { TurnPlacing } from './turn-placing.ts'
import { type PushPart, type Stirred, TurnScripts } from './turn-scripts.ts'

export interface HostTurnQueueOptions {
  /** The queue's Redis, opened and closed by the caller. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  /** Opened and closed by the caller. Default: a channel of its own. */
  readonly channel?: CrawlChannel
  /** Keeps turns while a callback blocks the event loop. Absent: the turns are then lost after some seconds. */
  readonly keeper?: LockKeeper
  readonly order?: QueueOrder
  readonly slots?: HostSlots
  readonly pace: (slot: string) => HostPace
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter?: number
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency?: number
  /** How long a rejected request is held back. Default: that of `times`. */
  readonly rejectedMs?: number
  /** Returns false when no link of another worker is in doubt. Default: one may be, and Redis is asked each time. */
  readonly mayDoubt?: () => boolean
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
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

const CLOSE_MS_MAX = 3000
/** The least bound on how many turns a worker may have. */
const TURNS_MIN = 256
const TURNS_MAX = 2048
/**
 * How many turns a script looks at, and how many scripts one look at requests in flight sends; the next look goes on from
 * there.
 */
const FLIGHT_PAGE = 500
const FLIGHT_PAGES_MAX = 20

export class HostTurnQueue implements RequestQueue {
  readonly #options: HostTurnQueueOptions
  readonly #order: QueueOrder
  readonly #logger: Logger
  readonly #concurrency: number
  readonly #turnsMax: number
  readonly #scripts: TurnScripts
  readonly #said: SaidNumbers
  readonly #jobs: TurnJobs
  readonly #slots: HostSlots
  readonly #placing: TurnPlacing
  readonly #turns: HeldTurns
  readonly #desk: TurnDesk
  readonly #intake: TurnIntake
  readonly #exchange: TurnExchange
  readonly #endings: TurnEndings
  readonly #course: TurnCourse
  readonly #care: TurnCare
  readonly #channel: CrawlChannel
  readonly #emptiness: EmptinessCheck
  readonly doubts: Doubts
  #alarm: NodeJS.Timeout | undefined
  /** Where the next look at requests in flight goes on. */
  #flightCursor = '0'
  #isClosed = false
  #isCleared = false

  constructor(options: HostTurnQueueOptions) {
    const { redis, keys, workerId, order = 'priority', concurrency = 16, logger = silentLogger } = options
    const { times = PROTOCOL_TIMES } = options
    this.#options = options
    this.#order = order
    this.#logger = logger
    this.#concurrency = concurrency > 0 ? concurrency : TURNS_MIN
    this.#turnsMax = Math.min(TURNS_MAX, Math.max(TURNS_MIN, 8 * this.#concurrency))
    const scripts = new TurnScripts({ redis, keys, order, times })
    const turns = new HeldTurns(options.keeper?.locks(scripts.renewal(times.turns.lockMs)) ?? KEPT_BY_NOBODY)
    const said = new SaidNumbers(workerId)
    const common = { scripts, said, turns, workerId, logger, times }
    this.#channel = options.channel ?? new CrawlChannel({ redis, keys })
    this.#emptiness = new EmptinessCheck({ turns, times, counts: () => scripts.counts() })
    this.doubts = new Doubts({
      redis,
      keys,
      times,
      logger,
      ...(options.mayDoubt && { mayDoubt: options.mayDoubt }),
      end: (args, fresh) => this.#endDoubts(args, fresh),
    })
    this.#scripts = scripts
    this.#said = said
    this.#turns = turns
    this.#jobs = new TurnJobs({
      redis,
      queueName: keys.queueName,
      workerId,
      times,
      logger,
      onWoken: () => this.#point('woken'),
    })
    this.#slots = options.slots ?? SLOTS_BY_HOST
    this.#placing = new TurnPlacing({ order, slots: this.#slots, pace: options.pace })
    this.#desk = new TurnDesk({
      turns,
      times,
      beginAlone: (id) => scripts.beginAlone(workerId, id),
      endAlone: () => scripts.endAlone(workerId),
      onDemand: () => this.#serve(),
      onStart: (lease) => this.#onStart(lease),
      onUnreadable: (turn, taken, why) => this.#endings.refuseUnreadable(turn, taken, why),
      leavesToOthers: (lease) => this.#endings.leavesToOthers(lease),
    })
    this.#intake = new TurnIntake({
      ...common,
      jobs: this.#jobs,
      pace: options.pace,
      quarantineAfter: options.quarantineAfter ?? 3,
      wants: (beginning) => this.#wantsTurns(beginning),
      onBegun: (turn, stirred) => this.#onBegun(turn, stirred),
      onDrained: () => this.#serve(),
      onPoint: (name) => this.#point(name),
    })
    this.#exchange = new TurnExchange({
      ...common,
      demand: () => (this.#isClosed ? 0 : this.#desk.demand),
      stockRoom: () => (this.#isClosed ? 0 : this.#desk.stockRoom),
      isLooking: () => this.#intake.isLooking,
      onAnswer: (turn, says, answer) => this.#course.answered(turn, says, answer),
      onStirred: (stirred) => this.#jobs.stir(stirred),
      onWentBack: (error) => this.#onWentBack(error),
      onRunOver: ({ message }) => {
        for (const turn of this.#turns) this.#course.lose(turn, message)
      },
      onIdle: () => this.#arm(),
    })
    this.#endings = new TurnEndings({
      ...options,
      ...common,
      rejectedMs: options.rejectedMs ?? times.turns.rejectedMs,
      leftToOthers: new LeftToOthers(times.turns.othersFirstMs),
      desk: this.#desk,
      exchange: this.#exchange,
      placing: this.#placing,
      isClosed: () => this.#isClosed,
      onEnded: () => this.#point('committed'),
      onLeft: (host, ms) => this.#intake.leave(host, ms),
    })
    this.#course = new TurnCourse({
      turns,
      times,
      desk: this.#desk,
      exchange: this.#exchange,
      endings: this.#endings,
      jobs: this.#jobs,
      onPoint: (name) => this.#point(name),
    })
    this.#care = new TurnCare({
      ...common,
      channel: this.#channel,
      exchange: this.#exchange,
      turnsMax: this.#turnsMax,
      demand: () => this.#desk.demand,
      onDoubt: (turn) => this.#desk.layAside(turn),
      onRenewed: (turn) => this.#desk.putBack(turn),
      onLost: (turn) => this.#course.lose(turn, `its lock on ${turn.slot} ran out`),
      onStirred: (stirred) => this.#jobs.stir(stirred),
      onSwept: ({ workers, requests }) => {
        this.#placing.workers = workers
        this.#emptiness.heard(requests)
      },
      onOwed: (woken) => this.#jobs.stir({ woken, raised: [] }),
      onTended: () => this.#serve(),
    })
    this.#channel.listen({
      onPause: (host, ms) => {
        const turn = turns.of(host)
        if (turn) this.#endings.pause(turn, ms)
      },
    })
  }

  static fromCrawler(
    { settings, logger, times }: Crawler,
    connected: Pick<
      HostTurnQueueOptions,
      'redis' | 'keys' | 'workerId' | 'channel' | 'keeper' | 'slots' | 'mayDoubt'
    >,
  ): HostTurnQueue {
    return new this({
      ...connected,
      order: settings.get('SCHEDULER_QUEUE_CLASS'),
      pace: paceOf(settings),
      quarantineAfter: settings.getInt('QUARANTINE_AFTER'),
      concurrency: settings.getInt('CONCURRENT_REQUESTS'),
      ...(times && { times }),
      logger,
    })
  }

  async open(): Promise<void> {
    const { redis, keys } = this.#options
    this.#said.run = (await redis.hget(keys.record, 'run')) ?? ''
    await this.#jobs.open()
    if (!this.#options.channel) await this.#channel.open()
    await this.#care.open()
    this.#intake.open()
  }

  /** Ends within some seconds, whatever the server does: requests that cannot go back in time are reclaimed later. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#care.close()
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
    for (const turn of this.#turns) this.#course.lose(turn, 'the queue was closed')
    if (!this.#options.channel) this.#channel.close()
    await this.#jobs.close()
  }

  async clear(): Promise<void> {
    await this.#scripts.clear()
    this.#isCleared = true
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'turns', order: this.#order }
  }

  async push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    const element = /^start\/(\d+)$/.exec(asker)?.[1]
    if (element !== undefined) {
      const start = batch.map((queued) => ({ ...queued, element: Number(element) }))
      return this.#pushStart(start, { from: Number(element), to: Number(element) + 1 })
    }
    await this.#slots.prepare(batch)
    let added = 0
    for (let from = 0; from === 0 || from < batch.length; from += MAX_REQUESTS_PER_SCRIPT) {
      const part = batch.slice(from, from + MAX_REQUESTS_PER_SCRIPT)
      added += await this.#pushPart({ asker, isNoting: true, groups: this.#placing.pushed(part) })
    }
    this.doubts.noted(batch)
    this.#serve()
    return added
  }

  pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    return this.#pushStart(batch, { from, to })
  }

  /** Sends one script, which needs no note beside the cursor. */
  async #pushStart(batch: readonly StartRequest[], start: StartSpan): Promise<number> {
    await this.#slots.prepare(batch)
    const groups = this.#placing.pushed(batch, ({ element }) => `${element}`)
    const added = await this.#pushPart({ asker: 'start', isNoting: false, start, groups })
    this.doubts.noted(batch)
    this.#serve()
    return added
  }

  async #pushPart(part: Omit<PushPart, 'said'>): Promise<number> {
    const done = await this.#sayPart(part)
    this.#point('pushed')
    this.#jobs.stir(done)
    for (const group of part.groups) if (group.place === 'end') this.#turns.arrived(group)
    return done.added
  }

  /**
   * Sends one part of a push. Earlier parts may be lost with an older state of Redis. Then the lease of their page is lost
   * as well, and start() finds a gap.
   */
  async #sayPart(part: Omit<PushPart, 'said'>): Promise<Stirred & { added: number }> {
    const said = this.#said.next()
    try {
      const done = await explained(this.#scripts.push({ ...part, said }))
      this.#said.wasAnswered(said)
      return done
    } catch (error) {
      if (!(error instanceof WentBack)) throw error
      this.#onWentBack(error)
      return this.#sayPart(part)
    }
  }

  async settled(asker: string): Promise<void> {
    await this.#scripts.settled(asker)
  }

  lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    return this.#desk.take(max, signal, () => this.isEmpty())
  }

  async commit(lease: Lease, { children = [], host }: CommitOptions = {}): Promise<void> {
    await this.#slots.prepare(children)
    const own = this.#ownOf(lease)
    const asker = `${own.id}/commit`
    // Children beyond what one script takes are pushed before, under an asker of their own: if the page runs again they add
    // nothing.
    const before = Math.max(0, children.length - MAX_REQUESTS_PER_SCRIPT)
    if (before > 0) {
      await this.push(children.slice(0, before), asker)
      this.#ownOf(lease)
    }
    const placed = this.#placing.groups(children.slice(before))
    const adds = children.length - before
    await this.#endings.end(own, { placed, adds, ...(host && { news: host }) })
    this.doubts.noted(children)
    if (before > 0) await this.settled(asker)
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    await this.#slots.prepare([{ request }])
    const own = this.#ownOf(lease)
    const placed = [this.#placing.one({ id: own.id, request }, { attempt: own.attempt }, when)]
    const ended = this.#endings.end(own, { placed, ...(host && { news: host }) })
    // Requests that were taken ahead stood behind it.
    if (when === 'first') this.#endings.callBack(own.turn)
    await ended
  }

  async requeue(lease: Lease): Promise<void> {
    await this.#endings.requeue(this.#ownOf(lease))
  }

  async reject(lease: Lease, reason: string): Promise<void> {
    await this.#endings.reject(this.#ownOf(lease), reason)
  }

  /** Counts by Redis, not by this worker's turns: the requests that no worker has are the ones that matter. */
  async inFlight(): Promise<readonly InFlight[]> {
    const { workerId } = this.#options
    const all: InFlight[] = []
    for (let page = 0; page < FLIGHT_PAGES_MAX; page++) {
      const { cursor, found } = await this.#scripts.inFlight(workerId, this.#flightCursor, FLIGHT_PAGE)
      this.#flightCursor = cursor
      for (const one of found) all.push({ ...one, holder: workerId })
      if (cursor === '0') break
    }
    return all
  }

  counts(): Promise<QueueCounts> {
    return this.#scripts.counts()
  }

  isEmpty(): Promise<boolean> {
    return this.#emptiness.isEmpty()
  }

  async #endDoubts(
    args: readonly (string | number)[],
    requests: readonly QueuedRequest[],
  ): Promise<string[]> {
    await this.#slots.prepare(requests)
    const fresh = this.#placing.pushed(requests)
    const { queued, ...stirred } = await this.#scripts.endDoubts({ args, fresh })
    this.#jobs.stir(stirred)
    for (const group of fresh) this.#turns.arrived(group)
    // This may have been the last request of the crawl.
    this.#emptiness.heard(0)
    this.#serve()
    return queued
  }

  #ownOf(lease: Lease): TurnLease {
    if (lease instanceof TurnLease && lease.state === 'out') return lease
    throw lease.signal.aborted ? lease.signal.reason : leaseLost(lease.request, 'it has ended before')
  }

  #serve(): void {
    if (this.#isClosed) return
    this.#desk.putDueSpares()
    this.#intake.wake()
    this.#exchange.kick()
  }

  #wantsTurns(beginning: number): boolean {
    if (this.#isClosed || this.#desk.demand === 0) return false
    const { size, readyCount } = this.#turns
    return size + beginning < this.#turnsMax && readyCount + beginning < this.#concurrency
  }

  /**
   * Called when Redis has come back with an older state. Requests that this worker holds may be unknown there, or links
   * that were queued before their page may be gone: all of them are fetched again. The next renewal brings back the
   * requests that only Redis has in flight.
   */
  #onWentBack(error: WentBack): void {
    if (!this.#said.wentBack(error)) return
    // A worker that empties the queue as it leaves knows that nothing of it is there.
    if (this.#isClosed && this.#isCleared) return
    let requests = 0
    for (const turn of this.#turns)
      requests += this.#course.startOver(turn, 'the queue’s Redis has come back with an older state')
    this.#logger.warn(
      { requests },
      'the queue’s Redis has come back with an older state; what this worker had in hand, and what it did in the time that Redis has lost, is fetched again',
    )
    void this.#care.renew()
  }

  #onBegun(turn: HostTurn, stirred: Stirred): void {
    this.#jobs.stir(stirred)
    this.#course.begun(turn)
    if (this.#isClosed) this.#exchange.leave(turn)
    this.#serve()
  }

  #onStart(lease: TurnLease): void {
    const { turn } = lease
    if (turn.isLocked) {
      turn.started(performance.now())
      this.#turns.place(turn)
      this.#arm()
      this.#serve()
    } else this.#endings.takeBack(lease, `the lock of ${turn.slot} was not renewed in time`)
  }

  /** Sleeps until the next of the held turns may go. */
  #arm(): void {
    clearTimeout(this.#alarm)
    const { nextAtMs } = this.#turns
    if (this.#isClosed || nextAtMs === Number.POSITIVE_INFINITY) return
    this.#alarm = setTimeout(() => this.#serve(), Math.max(1, Math.ceil(nextAtMs - performance.now())))
  }

  async #giveAllBack(): Promise<void> {
    await this.#intake.settled()
    for (const turn of this.#turns) {
      for (const lease of turn.held.values()) this.#endings.giveBack(lease)
      turn.spare = undefined
      this.#exchange.leave(turn)
    }
    await this.#exchange.settled()
    await this.#jobs.settled()
    await this.#scripts.leave(this.#options.workerId)
  }

  #point(name: TurnPoint): void {
    this.#options.onPoint?.(name)
  }
}
