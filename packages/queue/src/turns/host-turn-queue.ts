/**
 * The request queue of a cluster: hosts take turns, and a BullMQ job is a turn.
 *
 * Requests wait packed in Redis, in lines, one a host and priority (`lua/hosts/lines.lua`). BullMQ knows none of them. It has
 * one job for each host with anything to do, its *turn*: the job's lock is the lease of all that the turn has taken, its
 * priority that of the host's most urgent request, BullMQ's delayed set the order in which hosts may be asked again, its
 * stalled check the take-over from a lost worker. A big host without a delay has several turns, its *lanes*, so that
 * several workers share it; a host with a delay has one, and so one worker that knows when the last request started.
 *
 *     a lane  idle ── a request comes ──► owed ── its job is added ──► waits in BullMQ ◄──── left ────┐
 *               ▲      (generation + 1)     │ job lost: added again        │ fetched, begun           │
 *               │                           ◄── by the sweep               ▼                          │
 *               └──── nothing is left: closed by the script that finds it ── held: holder, in flight ──┘
 *
 * A worker has turns (`HeldTurns`), many more than it downloads at once, as most of them wait for their host's next slot:
 *
 *     TurnIntake     fetches and begins turns while somebody waits for requests
 *     TurnExchange   says what has ended and takes what comes next, for all turns with one script at a time
 *     TurnDesk       hands out what was taken; suspects alone
 *     TurnEndings    what comes of a request that was taken: done, changed, back in its line, quarantined
 *     TurnCourse     what comes of a turn: goes on, is left, is over, is lost
 *     TurnCare       renews locks, gives up turns that others should have, finds turns whose job is missing
 *
 * A turn is left, that is, given back to BullMQ, when it holds nothing and its host must wait for longer than it pays to
 * keep it (two seconds), or when other hosts or workers should have the place.
 *
 * This only works if whatever moves requests is one script, and each script finds out for itself whether the turn is still
 * its caller's: a worker may stand still for a minute and go on. So each lane notes its holder, a take has a token under
 * which it can be asked for again, and what was taken back from a lost holder is noted as lost. Every script may be sent
 * twice; `docs/decisions/host-turns.md` lists where a worker can die, and what happens then.
 *
 * Whether a host may be asked is told by Redis's clock where turns change hands, and within a turn by the worker's
 * monotonic clock from the true start of the last request. BullMQ's times only decide when somebody looks.
 *
 * Not chosen: one job a request (`BullJobQueue`, its small sibling), as a job can be told only when it is leased that its
 * host must wait; BullMQ's own worker loop, which takes as many turns as it may, not as it needs.
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
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  /** Opened and closed by whoever gives it. Default: one of its own. */
  readonly channel?: CrawlChannel
  /** Keeps turns while a callback blocks the event loop. Absent: they are lost after some seconds. */
  readonly keeper?: LockKeeper
  readonly order?: QueueOrder
  readonly slots?: HostSlots
  readonly pace: (slot: string) => HostPace
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter?: number
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency?: number
  /** How long a refused request is held back. Default: as `times` has it. */
  readonly rejectedMs?: number
  /** False when no link of another worker is in doubt. Default: there may be one, and Redis is asked each time. */
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
/** Turns a worker may have. */
const TURNS_MIN = 256
const TURNS_MAX = 2048
/** Turns looked at by a script, and scripts by one look at what is in flight; the next look goes on from there. */
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
  /** Where the next look goes on at what is in flight. */
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
      jobs: this.#jobs,
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

  /** Within some seconds, whatever the server does: what cannot be given back in time is taken over later. */
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

  /** One script, which needs no other note than the cursor. */
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

  /** Parts before it may be lost with an older state of Redis. Their page's lease is lost with them, and start() finds a gap. */
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
    // More than one script takes go in before, noted under an asker of their own: the page that runs again adds nothing.
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
    // What was taken ahead stood behind it.
    if (when === 'first') this.#endings.callBack(own.turn)
    await ended
  }

  async requeue(lease: Lease): Promise<void> {
    await this.#endings.requeue(this.#ownOf(lease))
  }

  async reject(lease: Lease, reason: string): Promise<void> {
    await this.#endings.reject(this.#ownOf(lease), reason)
  }

  /** By Redis, not by the turns that this worker has: what nobody takes care of is just what it does not have. */
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
    // This may have been the last of the crawl.
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
   * Redis has come back with an older state. What this worker holds may be unknown there, or parts of it that were queued
   * before their page are gone: all of it is fetched again. The next renewal brings back what only Redis has in flight.
   */
  #onWentBack(error: WentBack): void {
    if (!this.#said.wentBack(error)) return
    // Whoever empties the queue as it leaves knows that nothing of it is there.
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
