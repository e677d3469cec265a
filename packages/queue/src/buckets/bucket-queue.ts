/**
 * The request queue of a cluster. Requests wait packed in Redis, in lines, one a politeness slot; the slots are hashed into
 * buckets, and BullMQ has one job for each bucket with anything to do: the job's lock is the lease of all that its holder has taken,
 * its priority that of the bucket's most urgent request, its delay until the first of its slots may be asked, a lock that has run out
 * the take-over from a lost worker. A slot that one worker cannot serve gets a job of its own, with several lanes.
 *
 *     FrontierMachine    what this worker holds, and what is to be done: all decisions
 *     BucketIntake       fetches and begins turns
 *     BucketExchange     one script at a time: what has ended, what goes back, what is taken next
 *     BucketCare         renews locks, finds turns whose job is missing
 *     LeaseDispatcher    hands requests to the engine; suspects alone
 *
 * This class connects them: it carries events to the machine, and does what the machine says.
 */

import {
  type CommitOptions,
  type Crawler,
  type GivenUp,
  type HostOrder,
  type HostOrders,
  type HostPace,
  type InFlight,
  type Lease,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueueCounts,
  type QueuedRequest,
  type QueuedSlot,
  type QueueOrder,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type StartRequest,
  silentLogger,
  WebloomError,
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { StartSpan } from '../crawl/start-span.ts'
import { failureText, newFailure } from '../failures/failed-entry.ts'
import { failureBounds } from '../failures/failure-bounds.ts'
import { RedisFailures, type Retried } from '../failures/redis-failures.ts'
import type { Effect, Outcome } from '../frontier/frontier-effects.ts'
import { FrontierMachine } from '../frontier/frontier-machine.ts'
import { MAX_REQUESTS_PER_SCRIPT } from '../frontier/frontier-message.ts'
import { BucketLease, type HeldSlot, type HeldTurn } from '../frontier/held-turn.ts'
import { mostQueuedOf } from '../frontier/most-queued.ts'
import type { Ended, Placed, Stirred, Taken } from '../frontier/turn-protocol.ts'
import { Doubts } from '../leasing/doubts.ts'
import { LeaseDispatcher } from '../leasing/lease-dispatcher.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import { LeftToOthers } from '../leasing/left-to-others.ts'
import { jsonOf, remarked, unpackRequest } from '../leasing/packed-request.ts'
import { nobodyCanDo } from '../leasing/rejections.ts'
import { KEPT_BY_NOBODY, type KeptLocks, type LockKeeper } from '../locks/lock-keeper.ts'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'
import { paceOf } from '../politeness/host-pace.ts'
import { type HostSlots, SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import { BOOST, newPauseMs, OrderedHosts } from '../politeness/ordered-hosts.ts'
import { ownDelays } from '../politeness/own-delays.ts'
import { slotKey } from '../politeness/slot-key.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketCare } from './bucket-care.ts'
import { BucketExchange } from './bucket-exchange.ts'
import { type Begun, BucketIntake } from './bucket-intake.ts'
import { BucketPlacing } from './bucket-placing.ts'
import { EmptinessCheck } from './emptiness-check.ts'
import { BucketScripts, lockArgs } from './scripts/bucket-scripts.ts'
import type { PushPart } from './scripts/placed-lines.ts'
import { SaidNumbers, WentBack } from './scripts/said-numbers.ts'
import { explained } from './turn-errors.ts'
import { type TurnJob as BullTurn, TurnJobs } from './turn-jobs.ts'

export interface BucketQueueOptions {
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
  /** Slots whose pace is their own: those that DOWNLOAD_SLOTS names. Default: none. */
  readonly namedSlots?: readonly string[]
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter?: number
  /** FAILED_MAX. Default: 0, no failure is kept. */
  readonly failedMax?: number
  /** Called with how many failures were removed for it. */
  readonly onTrimmed?: (count: number) => void
  /** How long a rejected request is held back. Default: that of `times`. */
  readonly rejectedMs?: number
  /** Returns false when no link of another worker is in doubt. Default: one may be, and Redis is asked each time. */
  readonly mayDoubt?: () => boolean
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  readonly logger?: Logger
  /** For tests: called at each named point, where a worker may be killed. */
  readonly onPoint?: (name: BucketPoint) => void
}

/** What a worker has just done. */
export type BucketPoint =
  | 'fetched'
  | 'begun'
  | 'taken'
  | 'pushed'
  | 'committed'
  | 'woken'
  | 'left'
  | 'completed'

const CLOSE_MS_MAX = 3000
/** One request lies ready for so many that are out, so that a free place need not wait for Redis. */
const STOCK_PART = 8
/** How long it is remembered that another worker has nothing to do. */
const HUNGRY_MS = 2000
/** All workers with nothing to do together say so about once in this time, and each no more often than twice in HUNGRY_MS. */
const HUNGRY_GAP_MS = 50
/** How many turns a script looks at, and how many scripts one look at requests in flight sends. */
const FLIGHT_PAGE = 500
const FLIGHT_PAGES_MAX = 20
/** As `webloom status` shows why a host is paused. */
const PAUSED_BY_HAND = 'paused by hand'
/** The pace of a slot that no setting names: no host has such a name. */
const NAMED_BY_NOBODY = ''

export class BucketQueue implements RequestQueue {
  readonly #options: BucketQueueOptions
  readonly #times: ProtocolTimes
  readonly #order: QueueOrder
  readonly #logger: Logger
  readonly #scripts: BucketScripts
  readonly #said: SaidNumbers
  readonly #jobs: TurnJobs
  readonly #slots: HostSlots
  readonly #placing: BucketPlacing
  readonly #machine: FrontierMachine
  readonly #dispatcher: LeaseDispatcher<BucketLease>
  readonly #intake: BucketIntake
  readonly #exchange: BucketExchange
  readonly #care: BucketCare
  readonly #channel: CrawlChannel
  readonly #emptiness: EmptinessCheck
  readonly #locks: KeptLocks
  readonly #leftToOthers: LeftToOthers
  readonly #ordered = new OrderedHosts()
  /** The orders that what waits in Redis has been changed by. */
  readonly #steered = new Map<string, HostOrder>()
  /** By bucket: slots with a longer delay than others. */
  #delays: ReturnType<typeof ownDelays>
  /** The jobs of held turns, as BullMQ has them. */
  readonly #bulls = new Map<HeldTurn, BullTurn>()
  readonly #out = new Set<BucketLease>()
  readonly doubts: Doubts
  readonly failures: RedisFailures
  #alarm: NodeJS.Timeout | undefined
  #hungrySaidAtMs = Number.NEGATIVE_INFINITY
  #endedAtMs = Number.NEGATIVE_INFINITY
  /** Where the next look at requests in flight goes on. */
  #flightCursor = '0'
  #willServe = false
  #isClosed = false
  #isCleared = false

  constructor(options: BucketQueueOptions) {
    const { redis, keys, workerId, order = 'priority', logger = silentLogger } = options
    const { times = PROTOCOL_TIMES } = options
    this.#options = options
    this.#times = times
    this.#order = order
    this.#logger = logger
    const scripts = new BucketScripts({ redis, keys, order, times })
    const said = new SaidNumbers(workerId)
    this.#scripts = scripts
    this.#said = said
    this.#locks = options.keeper?.locks(scripts.renewal(times.turns.lockMs)) ?? KEPT_BY_NOBODY
    this.#leftToOthers = new LeftToOthers(times.turns.othersFirstMs)
    this.#slots = options.slots ?? SLOTS_BY_HOST
    const boostOf = (slot: string) => this.#ordered.boostOf(slot)
    const pace = (slot: string) => this.#ordered.pace(slot, options.pace(slot))
    this.#placing = new BucketPlacing({ order, slots: this.#slots, boostOf })
    this.#channel = options.channel ?? new CrawlChannel({ redis, keys })
    this.#jobs = new TurnJobs({
      redis,
      queueName: keys.queueName,
      workerId,
      times,
      logger,
      onWoken: () => this.#point('woken'),
    })
    const machine = new FrontierMachine({
      times: times.turns,
      pace,
      boostOf,
      usualPace: pace(NAMED_BY_NOBODY),
      bucketOf,
      buckets: BUCKETS,
      onStart: (lease) => this.#onStart(lease),
    })
    this.#machine = machine
    const activity = this.#activity()
    this.#emptiness = new EmptinessCheck({ turns: activity, times, counts: () => scripts.counts() })
    this.doubts = new Doubts({
      redis,
      keys,
      times,
      logger,
      ...(options.mayDoubt && { mayDoubt: options.mayDoubt }),
      end: (args, fresh) => this.#endDoubts(args, fresh),
    })
    this.failures = new RedisFailures({ redis, keys, retry: (retried) => this.#retryFailed(retried) })
    this.#dispatcher = new LeaseDispatcher({
      waitMsMax: times.engine.leaseWaitMaxMs,
      beginAlone: ({ id }) => scripts.beginAlone(workerId, id),
      endAlone: () => scripts.endAlone(workerId),
    })
    this.#dispatcher.onDemand(() => this.#serve())
    const delayOf = (unit: string) =>
      pace(unit.startsWith('#') ? NAMED_BY_NOBODY : decodeURIComponent(unit)).delayMs
    this.#delays = this.#ownDelays()
    const common = { machine, scripts, said, workerId, times, logger, jobs: this.#jobs, delayOf }
    this.#intake = new BucketIntake({
      ...common,
      ownDelaysOf: (unit) => this.#delays.get(unit),
      quarantineAfter: options.quarantineAfter ?? 3,
      wants: (beginning) => machine.wantsTurn(beginning, this.#demand),
      hasUnit: (unit) => machine.turns.of(unit) !== undefined,
      onDrained: () => this.#onDrained(),
      onBegun: (begun) => this.#onBegun(begun),
      onPoint: (name) => this.#point(name),
    })
    this.#exchange = new BucketExchange({
      ...common,
      demand: () => this.#demand,
      stock: () => (this.#isClosed ? 0 : Math.floor(this.#out.size / STOCK_PART)),
      isLooking: () => this.#intake.isLooking,
      onStirred: (stirred) => this.#jobs.stir(stirred),
      onWentBack: (error) => this.#onWentBack(error),
      onRunOver: ({ message }) => {
        for (const turn of machine.turns) machine.states.lose(turn, message)
      },
      onTaken: () => this.#point('taken'),
      onTrimmed: options.onTrimmed ?? (() => {}),
      onEffects: () => this.#settle(),
    })
    this.#care = new BucketCare({
      ...common,
      channel: this.#channel,
      demand: () => this.#demand,
      onStirred: (stirred) => this.#jobs.stir(stirred),
      onSwept: ({ requests }) => this.#emptiness.heard(requests),
      onOwed: (woken) => this.#jobs.stir({ woken, raised: [] }),
      onTended: () => {
        if (this.#intake.isDrained) this.#sayHungry()
        this.#settle()
      },
    })
    this.#channel.listen({
      onPause: (slot, ms) => {
        machine.requests.paused(slot, ms, performance.now())
        this.#settle()
      },
      onHungry: (worker) => {
        if (worker !== workerId) machine.others.hungry(performance.now() + HUNGRY_MS)
      },
      onNudged: (worker, unit, priority) => {
        if (worker !== workerId) return
        machine.states.nudged(unit, priority, performance.now())
        this.#serve()
      },
    })
  }

  static fromCrawler(
    { settings, stats, logger, times }: Crawler,
    connected: Pick<
      BucketQueueOptions,
      'redis' | 'keys' | 'workerId' | 'channel' | 'keeper' | 'slots' | 'mayDoubt'
    >,
  ): BucketQueue {
    return new this({
      ...connected,
      order: settings.get('SCHEDULER_QUEUE_CLASS'),
      pace: paceOf(settings),
      namedSlots: Object.keys(settings.getDict('DOWNLOAD_SLOTS')),
      quarantineAfter: settings.getInt('QUARANTINE_AFTER'),
      ...failureBounds({ settings, stats }),
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
    this.#dispatcher.close()
    this.#intake.stop()
    try {
      await within(CLOSE_MS_MAX, 'giving turns back', this.#giveAllBack())
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'turns are not given back; other workers take them over in some seconds',
      )
    }
    for (const turn of this.#machine.turns) this.#machine.states.lose(turn, 'the queue was closed')
    this.#settle()
    if (!this.#options.channel) this.#channel.close()
    await this.#jobs.close()
  }

  async clear(): Promise<void> {
    await this.#scripts.clear()
    this.#isCleared = true
  }

  async crawlEnded(): Promise<void> {
    await this.#scripts.tidy()
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
    this.#machine.states.arrived(part.groups, performance.now())
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
    return this.#dispatcher.take(max, signal, () => this.isEmpty())
  }

  async commit(lease: Lease, { children = [], host, failure }: CommitOptions = {}): Promise<void> {
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
    if (failure) placed.push(...this.#failed(own, failure))
    await this.#end(own, { placed, adds: children.length - before, ...(host && { news: host }) })
    this.doubts.noted(children)
    if (failure?.snapshot) void this.failures.keepSnapshot(failure).catch(() => {})
    if (before > 0) await this.settled(asker)
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: CommitOptions['host']): Promise<void> {
    await this.#slots.prepare([{ request }])
    const own = this.#ownOf(lease)
    const placed = [this.#placing.one({ id: own.id, request }, { attempt: own.attempt }, when)]
    const ended = this.#end(own, { placed, ...(host && { news: host }) })
    // Requests that were taken ahead stood behind it.
    if (when === 'first') this.#machine.requests.callBack(own.heldSlot, performance.now())
    await ended
  }

  async requeue(lease: Lease): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, { placed: [asItWas(own.heldSlot, own)], keepsHistory: true })
  }

  async reject(lease: Lease, reason: string): Promise<void> {
    const own = this.#ownOf(lease)
    const placed = await this.#rejected(own.heldSlot, own, own.marks.rejections + 1)
    await this.#end(own, { placed: [placed], refusal: reason })
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

  async steer(orders: HostOrders): Promise<void> {
    const nowMs = performance.now()
    const changed = this.#ordered.take(orders)
    this.#delays = this.#ownDelays()
    for (const [slot, before] of changed)
      this.#machine.requests.ordered(slotKey(slot), newPauseMs(before, orders.get(slot)), nowMs)
    this.#settle()
    for (const slot of new Set([...this.#steered.keys(), ...orders.keys()]))
      await this.#steerWaiting(slot, orders.get(slot))
  }

  /** What waits in Redis. */
  async #steerWaiting(slot: string, order: HostOrder | undefined): Promise<void> {
    const before = this.#steered.get(slot)
    if (before?.at === order?.at) return
    const [key, pauseMs] = [slotKey(slot), newPauseMs(before, order)]
    const ordered = {
      ...(pauseMs !== undefined && { pauseMs, why: PAUSED_BY_HAND }),
      ...(order?.delayMs !== undefined && { delayMs: order.delayMs }),
    }
    const isBoosted = order?.isBoosted ?? false
    this.#jobs.stir(
      await this.#scripts.steer({ bucket: bucketOf(key), slot: key, ...ordered, boost: BOOST, isBoosted }),
    )
    if (order) this.#steered.set(slot, order)
    else this.#steered.delete(slot)
  }

  #ownDelays(): ReturnType<typeof ownDelays> {
    const { pace, namedSlots = [] } = this.#options
    const ordered = this.#ordered
    return ownDelays({
      named: [...namedSlots, ...ordered.paced],
      pace: (slot) => ordered.pace(slot, pace(slot)),
      usualPace: pace(NAMED_BY_NOBODY),
      bucketOf,
    })
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return mostQueuedOf(this.#machine.turns, most)
  }

  isEmpty(): Promise<boolean> {
    return this.#emptiness.isEmpty()
  }

  get #demand(): number {
    return this.#isClosed ? 0 : this.#dispatcher.demand
  }

  #activity(): { readonly size: number; readonly removedAtMs: number } {
    const [machine, endedAtMs] = [this.#machine, () => this.#endedAtMs]
    return {
      get size() {
        return machine.isIdle ? 0 : 1
      },
      get removedAtMs() {
        return endedAtMs()
      },
    }
  }

  async #endDoubts(
    args: readonly (string | number)[],
    requests: readonly QueuedRequest[],
  ): Promise<string[]> {
    await this.#slots.prepare(requests)
    const fresh = this.#placing.pushed(requests)
    const { queued, ...stirred } = await this.#scripts.endDoubts({ args, fresh })
    this.#jobs.stir(stirred)
    this.#machine.states.arrived(fresh, performance.now())
    // This may have been the last request of the crawl.
    this.#emptiness.heard(0)
    this.#serve()
    return queued
  }

  /** A failure travels as requests do, in the message that ends the page. */
  #failed(own: BucketLease, failure: GivenUp): Placed[] {
    const { failedMax = 0, workerId } = this.#options
    if (failedMax === 0) return []
    const json = jsonOf(own.text)
    const text = failureText(newFailure(own, failure, { worker: workerId, json }), failedMax)
    return [{ place: 'failed', bucket: '', slot: '', priority: 0, texts: [text] }]
  }

  async #retryFailed(retried: readonly Retried[]): Promise<readonly string[] | 'ended'> {
    await this.#slots.prepare(retried)
    const groups = this.#placing.retried(retried)
    const done = await this.#scripts.retryFailed(groups)
    if (done === 'ended') return done
    const { queued, ...stirred } = done
    this.#jobs.stir(stirred)
    this.#machine.states.arrived(
      groups.map((group) => ({ ...group, place: 'end' as const })),
      performance.now(),
    )
    // This may have been what the crawl had left.
    this.#emptiness.heard(queued.length)
    this.#serve()
    return queued
  }

  #ownOf(lease: Lease): BucketLease {
    if (lease instanceof BucketLease && lease.state === 'out') return lease
    throw lease.signal.aborted ? lease.signal.reason : leaseLost(lease.request, 'it has ended before')
  }

  #end(lease: BucketLease, outcome: Omit<Outcome, 'done'>): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: unknown) => {
        if (error !== undefined) return reject(error as Error)
        this.#ended(lease)
        this.#point('committed')
        resolve()
      }
      this.#machine.requests.end(lease, { ...outcome, done }, performance.now())
      this.#exchange.kick()
    })
  }

  #ended(lease: BucketLease): void {
    this.#out.delete(lease)
    this.#endedAtMs = performance.now()
    this.#dispatcher.ended(lease)
  }

  /** It may lie here still, as suspects do until all others have ended; nobody would end it once it is handed out. */
  #lost(lease: BucketLease): void {
    this.#dispatcher.remove(lease)
    this.#ended(lease)
  }

  async #rejected(
    slot: HeldSlot,
    one: { readonly id: string; readonly priority: number; readonly text: string },
    rejections: number,
  ): Promise<Placed> {
    this.#leftToOthers.rejected(one.id)
    const isForNobody = await nobodyCanDo({ ...this.#options, id: one.id, rejections })
    const place = isForNobody ? 'quarantine' : (this.#options.rejectedMs ?? this.#times.turns.rejectedMs)
    // While this worker has the turn, no other worker can try.
    if (this.#machine.others.workers > 1) this.#machine.states.leave(slot.turn, performance.now())
    return { ...asItWas(slot, one), place, texts: [remarked(one.text, { rejections })] }
  }

  /** Returns true for a request that this worker has rejected before: it goes back, and its turn with it, for others to try. */
  #leavesToOthers(turn: HeldTurn, id: string): boolean {
    if (this.#machine.others.workers <= 1) return false
    const ms = this.#leftToOthers.waitMs(id)
    if (ms === 0) return false
    this.#machine.states.leave(turn, performance.now())
    this.#intake.leave(turn.job.unit, ms)
    return true
  }

  /** Rejects a request of another release. After enough rejections it is quarantined. */
  #refuseUnreadable(slot: HeldSlot, { token, priority, text }: Taken, refusal: string): void {
    const { id, marks } = unpackRequest(text)
    const one = { id, priority, text }
    if (this.#leavesToOthers(slot.turn, id)) {
      this.#putBack(slot, { token, placed: [asItWas(slot, one)] })
      return
    }
    this.#logger.warn({ id, reason: refusal }, 'this release cannot read a request; it is rejected')
    this.#rejected(slot, one, marks.rejections + 1).then(
      (placed) => this.#putBack(slot, { token, id, refusal, placed: [placed] }),
      (error: unknown) => {
        // The next renewal finds the request in flight but not held, and puts it back into its line, where it is tried
        // again.
        slot.turn.tokens.delete(token)
        this.#logger.warn({ id, err: error }, 'a request could not be given back')
      },
    )
  }

  /** Puts a request back without a caller that waits. */
  #putBack(slot: HeldSlot, ended: Ended): void {
    const done = (error?: unknown) => {
      const isLost = error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
      if (error === undefined || isLost || this.#isClosed) return
      setTimeout(() => this.#putBack(slot, ended), this.#times.turns.putBackRetryMs).unref()
    }
    this.#machine.requests.putBack(slot, ended, done)
    this.#exchange.kick()
  }

  /** Hands out what may go, and looks for more. */
  #serve(): void {
    if (this.#isClosed) return
    this.#handOut()
    this.#intake.wake()
    if (this.#demand > 0 && this.#machine.hasSources) this.#exchange.kick()
    this.#arm()
  }

  /** The request that has just started is on its way first: the delay to the next one is counted from now. */
  #serveSoon(): void {
    if (this.#willServe) return
    this.#willServe = true
    queueMicrotask(() => {
      this.#willServe = false
      this.#serve()
    })
  }

  #handOut(): void {
    const leases = this.#machine.requests.handOut(this.#demand, performance.now())
    const going = leases.filter((lease) => !this.#goesToOthers(lease))
    if (going.length === 0) return
    for (const lease of going) this.#out.add(lease)
    // On its way to Redis before the first of them leaves; nobody waits for the answer.
    void this.#scripts
      .started(
        this.#options.workerId,
        going.map(({ startedName }) => startedName),
      )
      .catch(() => {})
    for (const lease of going) this.#dispatcher.put(lease)
  }

  #goesToOthers(lease: BucketLease): boolean {
    if (!this.#leavesToOthers(lease.turn, lease.id)) return false
    this.#machine.requests.end(
      lease,
      { placed: [asItWas(lease.heldSlot, lease)], keepsHistory: true, done: () => {} },
      performance.now(),
    )
    this.#exchange.kick()
    return true
  }

  /** Does what the machine says, and goes on. */
  #settle(): void {
    for (const effect of this.#machine.effects()) this.#do(effect)
    if (!this.#isClosed) this.#serve()
    if (this.#machine.mustTellRedis) this.#exchange.kick()
  }

  #do(effect: Effect): void {
    if (effect.kind === 'done') effect.ending.done(effect.error)
    else if (effect.kind === 'lost') this.#lost(effect.lease)
    else if (effect.kind === 'unreadable') this.#refuseUnreadable(effect.slot, effect.taken, effect.why)
    else {
      const { turn } = effect
      const bull = this.#bulls.get(turn)
      this.#bulls.delete(turn)
      this.#locks.drop(turn.holder)
      if (!bull) return
      this.#point('left')
      const telling =
        effect.kind === 'complete'
          ? this.#jobs.complete(bull)
          : this.#jobs.giveBack(bull, effect.ms, effect.priority)
      this.#jobs.tell(telling.then(() => this.#point('completed')))
      this.#endedAtMs = performance.now()
      this.#dispatcher.recheck()
    }
  }

  /** BullMQ has no more turns at hand. */
  #onDrained(): void {
    this.#sayHungry()
    this.#serve()
  }

  /** Others that have more than they serve are told, again and again, that this worker has nothing to do. */
  #sayHungry(): void {
    const nowMs = performance.now()
    const gapMs = Math.max(HUNGRY_MS / 2, HUNGRY_GAP_MS * this.#machine.others.workers)
    if (this.#isClosed || !this.#machine.isHungry(this.#demand) || nowMs - this.#hungrySaidAtMs < gapMs)
      return
    this.#hungrySaidAtMs = nowMs
    this.#channel.hungry(this.#options.workerId)
  }

  #onBegun({ job, bull, holder, standing, stirred }: Begun): void {
    this.#jobs.stir(stirred)
    const turn = this.#machine.states.begun(job, holder, standing, performance.now())
    this.#bulls.set(turn, bull)
    this.#locks.keep(holder, lockArgs({ job: job.job, lockToken: job.lockToken, holder }))
    if (this.#isClosed) this.#exchange.kick()
    this.#serve()
  }

  #onStart(lease: BucketLease): void {
    if (this.#machine.requests.started(lease, performance.now())) {
      this.#serveSoon()
      return
    }
    lease.lose(`the lock of ${lease.turn.job.unit} was not renewed in time`)
    this.#ended(lease)
    this.#putBack(lease.heldSlot, { token: lease.token, placed: [asItWas(lease.heldSlot, lease)] })
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
    const requests = this.#machine.states.startOver('the queue’s Redis has come back with an older state')
    this.#logger.warn(
      { requests },
      'the queue’s Redis has come back with an older state; what this worker had in hand, and what it did in the time that Redis has lost, is fetched again',
    )
    this.#care.reset()
    this.#settle()
  }

  /** Sleeps until something may go, or be taken. */
  #arm(): void {
    clearTimeout(this.#alarm)
    const { wakeAtMs } = this.#machine
    if (this.#isClosed || wakeAtMs === Number.POSITIVE_INFINITY) return
    const inMs = Math.max(1, Math.ceil(wakeAtMs - performance.now()))
    this.#alarm = setTimeout(() => this.#onAlarm(), inMs)
  }

  #onAlarm(): void {
    this.#machine.wake(performance.now())
    this.#serve()
  }

  async #giveAllBack(): Promise<void> {
    await this.#intake.settled()
    for (const lease of this.#out) {
      if (lease.state !== 'out') continue
      // It may have been fetched.
      const text = remarked(lease.text, { attempt: lease.attempt + 1 })
      const placed = [asItWas(lease.heldSlot, { priority: lease.priority, text })]
      this.#machine.requests.end(lease, { placed, keepsHistory: true, done: () => {} }, performance.now())
      lease.lose('the queue was closed')
    }
    this.#machine.states.close(performance.now())
    this.#exchange.kick()
    await this.#exchange.settled()
    await this.#jobs.settled()
    await this.#scripts.leave(this.#options.workerId)
  }

  #point(name: BucketPoint): void {
    this.#options.onPoint?.(name)
  }
}

function asItWas(
  slot: HeldSlot,
  { priority, text }: { readonly priority: number; readonly text: string },
): Placed {
  return { place: 'head', bucket: bucketOf(slot.key), slot: slot.key, priority, texts: [text] }
}
