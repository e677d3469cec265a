/**
 * The request queue of a cluster. Requests wait packed in Redis, in lines, one a politeness slot; the slots are hashed into
 * buckets, and BullMQ has one job for each bucket with anything to do: the job's lock is the lease of all that its holder has taken,
 * its priority that of the bucket's most urgent request, its delay until the first of its slots may be asked, a lock that has run out
 * the take-over from a lost worker. A slot that one worker cannot serve gets a job of its own, with several lanes.
 *
 *     FrontierMachine    what this worker holds, and what is to be done: all decisions
 *     TurnFetcher        fetches and begins turns; HeldJobs: their jobs and locks, until they are left
 *     FrontierSync       one script at a time: what has ended, what goes back, what is taken next
 *     TurnMaintenance    renews locks, finds turns whose job is missing
 *     NewRequests        what comes to lines: pushed, no longer in doubt, tried once more
 *     RequestHandout     hands requests to the engine; suspects alone
 *     RejectedRequests   what this worker cannot do
 *     OrderedSlots       how fast slots may be asked, by settings and by hand
 *
 * This class connects them: it carries events to the machine, and does what the machine says.
 */

import {
  type CommitOptions,
  type Crawler,
  type HostOrders,
  type InFlight,
  type KeptVisits,
  type Lease,
  type Logger,
  type QueueCounts,
  type QueuedRequest,
  type QueuedSlot,
  type QueueHeld,
  type QueueOrder,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type StartRequest,
  silentLogger,
  type VisitedPage,
  within,
} from '@webloom/core'
import type { RedisFailures } from '../failures/redis-failures.ts'
import type { Effect } from '../frontier/frontier-effects.ts'
import type { BucketLease } from '../frontier/held-turn.ts'
import { heldHostsOf, mostQueuedOf } from '../frontier/most-queued.ts'
import type { Nudge, ShardChanges } from '../frontier/turn-protocol.ts'
import type { Doubts } from '../leasing/doubts.ts'
import { withTries } from '../leasing/packed-request.ts'
import type { DocumentLine } from '../politeness/document-line.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import { slotKey } from '../politeness/slot-key.ts'
import { Alarm } from '../structures/alarm.ts'
import { type BucketQueueOptions, queueOptionsOf } from './queue-options.ts'
import { type QueueParts, queueParts } from './queue-parts.ts'
import type { WentBack } from './scripts/command-numbers.ts'
import { HUNGRY_MS } from './turn-fetcher.ts'

const CLOSE_MS_MAX = 3000
/** How many turns a script looks at, and how many scripts one look at requests in flight sends. */
const MAX_TURNS_PER_SCRIPT = 500
const MAX_SCRIPTS_PER_LOOK = 20

export class BucketQueue implements RequestQueue {
  readonly #options: BucketQueueOptions
  readonly #logger: Logger
  readonly #parts: QueueParts
  readonly doubts: Doubts
  readonly failures: RedisFailures
  readonly visits?: KeptVisits
  /** Rings when something may go, or be taken. */
  readonly #alarm = new Alarm(() => {
    this.#parts.machine.wake(performance.now())
    this.#serve()
  })
  /** Where the next look at requests in flight goes on. */
  #flightCursor = '0'
  #willServe = false
  #isClosed = false
  #isCleared = false

  constructor(options: BucketQueueOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.#parts = queueParts(options, {
      isClosed: () => this.#isClosed,
      serve: () => this.#serve(),
      carryOut: () => this.#carryOut(),
      onStart: (lease) => this.#onStart(lease),
      serveSoon: () => this.#serveSoon(),
      onWentBack: (error) => this.#onWentBack(error),
    })
    this.doubts = this.#parts.doubts
    this.failures = this.#parts.failures
    if (this.#parts.visits) this.visits = this.#parts.visits
    this.#listen()
  }

  static fromCrawler(
    crawler: Crawler,
    {
      slots,
      ...connected
    }: Pick<
      BucketQueueOptions,
      'redis' | 'keys' | 'workerId' | 'channel' | 'keeper' | 'mayDoubt' | 'workers'
    > & {
      readonly slots?: HostSlots
    },
  ): BucketQueue {
    return new this({ ...connected, ...queueOptionsOf(crawler, slots) })
  }

  async open(): Promise<void> {
    const { redis, keys, shard } = this.#options
    this.#parts.commands.run = shard ? shard.run() : ((await redis.hget(keys.record, 'run')) ?? '')
    await this.#parts.jobs.open()
    if (!this.#options.channel) await this.#parts.channel.open()
    await this.#parts.maintenance.open()
    this.#parts.fetcher.open()
  }

  /** Ends within some seconds, whatever the server does: requests that cannot go back in time are reclaimed later. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#parts.maintenance.close()
    this.#alarm.clear()
    this.#parts.handout.close()
    this.#parts.rejected.close()
    this.#parts.fetcher.stop()
    const [held] = this.#parts.machine.turns
    try {
      await within(CLOSE_MS_MAX, 'giving turns back', this.#giveAllBack())
    } catch (error) {
      // A command has none.
      this.#logger[held ? 'warn' : 'debug'](
        { err: error },
        'this worker could not give its turns back; other workers take them over in a few seconds',
      )
    }
    for (const turn of this.#parts.machine.turns)
      this.#parts.machine.states.lose(turn, 'the queue was closed')
    this.#carryOut()
    if (!this.#options.channel) this.#parts.channel.close()
    await this.#parts.jobs.close()
  }

  async clear(): Promise<void> {
    await this.#parts.scripts.clear()
    this.#isCleared = true
  }

  async crawlEnded(): Promise<void> {
    await this.#parts.scripts.tidy()
  }

  onAskersLost(listener: (askers: readonly string[]) => void): void {
    this.#parts.queued.listen(listener)
  }

  /** Takes note of what has come to this shard from others. */
  changed({ nudged, ...jobChanges }: ShardChanges): void {
    this.#parts.jobs.changeJobs(jobChanges)
    if (nudged.length > 0) this.#nudged(nudged)
  }

  /** Where documents wait that pages in browsers open at hosts of this queue. */
  get documents(): DocumentLine {
    return this.#parts.documents
  }

  get othersAreHungry(): boolean {
    return this.#parts.machine.others.isHungry(performance.now())
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'turns', order: this.#options.order ?? 'priority' }
  }

  async push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    const added = await this.#parts.fresh.push(batch, asker)
    this.doubts.noted(batch)
    this.#serve()
    return added
  }

  async pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    const added = await this.#parts.fresh.pushStart(batch, { from, to })
    this.doubts.noted(batch)
    this.#serve()
    return added
  }

  async settled(asker: string): Promise<void> {
    await this.#parts.scripts.settled(asker)
  }

  lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    return this.#parts.handout.take(max, signal, () => this.isEmpty())
  }

  confirm(lease: Lease): (() => Promise<void>) | undefined {
    const { turn } = this.#parts.handout.ownOf(lease)
    if (turn.isLocked(performance.now())) return undefined
    return async () => {
      await this.#parts.maintenance.confirm(turn)
      lease.signal.throwIfAborted()
    }
  }

  commit(lease: Lease, options: CommitOptions = {}): Promise<void> {
    return this.#parts.outcomes.commit(lease, options)
  }

  retry(lease: Lease, request: Request, when: RetryWhen, host?: CommitOptions['host']): Promise<void> {
    return this.#parts.outcomes.retry(lease, request, when, host)
  }

  requeue(lease: Lease): Promise<void> {
    return this.#parts.outcomes.requeue(lease)
  }

  reject(lease: Lease, reason: string, visit?: VisitedPage): Promise<boolean> {
    return this.#parts.outcomes.reject(lease, reason, visit)
  }

  /**
   * Counts by Redis, not by this worker's turns: the requests that no worker has are the ones that matter. None while something waits here
   * for its time: a delay may be a minute.
   */
  async inFlight(): Promise<readonly InFlight[]> {
    const { workerId } = this.#options
    const { scripts, machine } = this.#parts
    if (machine.waits(performance.now())) return []
    const all: InFlight[] = []
    for (let sent = 0; sent < MAX_SCRIPTS_PER_LOOK; sent++) {
      const { cursor, found } = await scripts.inFlight(workerId, this.#flightCursor, MAX_TURNS_PER_SCRIPT)
      this.#flightCursor = cursor
      for (const one of found) all.push({ ...one, holder: workerId })
      if (cursor === '0') break
    }
    return all
  }

  counts(): Promise<QueueCounts> {
    return this.#parts.scripts.counts()
  }

  async steer(orders: HostOrders): Promise<void> {
    this.#parts.ordered.take(orders, this.#parts.machine)
    this.#carryOut()
    const { shard } = this.#options
    const here = shard ? new Map([...orders].filter(([slot]) => shard.has(slotKey(slot)))) : orders
    await this.#parts.ordered.tell(here, this.#parts.scripts, this.#parts.jobs)
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return mostQueuedOf(this.#parts.machine.turns, most)
  }

  held(): QueueHeld {
    return { ...heldHostsOf(this.#parts.machine.turns), suspects: this.#parts.handout.suspects }
  }

  isEmpty(): Promise<boolean> {
    return this.#parts.emptiness.isEmpty()
  }

  #listen(): void {
    const { workerId } = this.#options
    const machine = this.#parts.machine
    this.#parts.channel.listen({
      onPause: (slot, ms) => {
        machine.requests.paused(slot, ms, performance.now())
        this.#carryOut()
      },
      onHungry: (worker, hunger) => {
        if (worker !== workerId) machine.others.hungry(performance.now() + HUNGRY_MS, hunger)
      },
      onNudged: (worker, nudge) => {
        if (worker === workerId) this.#nudged([nudge])
      },
    })
  }

  #nudged(nudges: readonly Nudge[]): void {
    for (const nudge of nudges) this.#parts.machine.states.nudged(nudge, performance.now())
    this.#serve()
  }

  /** Hands out what may go, and looks for more. */
  #serve(): void {
    if (this.#isClosed) return
    const { handout, machine } = this.#parts
    handout.handOut()
    this.#parts.fetcher.wake()
    if (handout.demand > 0) {
      if (machine.hasSources) this.#parts.sync.kick()
      else if (this.#options.shard) this.#parts.sync.hurry()
    }
    this.#alarm.set(machine.wakeAtMs)
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

  /** Does what the machine says, and goes on. */
  #carryOut(): void {
    const { machine, handout, sync } = this.#parts
    let isPageOver = false
    for (const effect of machine.effects()) {
      this.#do(effect)
      isPageOver ||= effect.kind === 'done'
    }
    // Its turns stay a while, and may have more. If that was the crawl's last page, nothing else would say so.
    if (isPageOver && machine.isIdle) handout.mayBeOver()
    if (!this.#isClosed) this.#serve()
    if (machine.mustTellRedis) sync.kick()
  }

  #do(effect: Effect): void {
    if (effect.kind === 'done') effect.ending.done?.(effect.error)
    else if (effect.kind === 'lost') this.#parts.handout.lost(effect.lease)
    else if (effect.kind === 'unreadable')
      this.#parts.rejected.refuseUnreadable(effect.slot, effect.taken, effect.why)
    else if (this.#parts.held.end(effect)) this.#parts.handout.mayBeOver()
  }

  #onStart(lease: BucketLease): void {
    const { requests } = this.#parts.machine
    if (requests.started(lease, performance.now())) {
      this.#parts.handout.started(lease)
      // It is written before this runs.
      if (lease.heldSlot.isPaced) queueMicrotask(() => requests.left(lease, performance.now()))
      this.#serveSoon()
      return
    }
    lease.lose(`the lock of ${lease.turn.job.unit} was not renewed in time`)
    this.#parts.handout.ended(lease)
    this.#parts.rejected.endUnstarted(lease.heldSlot, {
      token: lease.token,
      placed: [this.#parts.machine.requests.asItWas(lease.heldSlot, lease)],
    })
  }

  /**
   * Called when Redis has come back with an older state. Requests that this worker holds may be unknown there, or links
   * that were queued before their page may be gone: all of them are fetched again. The next renewal brings back the
   * requests that only Redis has in flight.
   */
  #onWentBack(error: WentBack): void {
    if (!this.#parts.commands.wentBack(error)) return
    // A worker that empties the queue as it leaves knows that nothing of it is there.
    if (this.#isClosed && this.#isCleared) return
    const requests = this.#parts.machine.states.startOver(
      'the queue’s Redis has come back with an older state',
      performance.now(),
    )
    this.#logger.warn(
      { requests },
      'the queue’s Redis has come back with an older state; what this worker had in hand, and what it did in the time that Redis has lost, is fetched again',
    )
    this.#parts.maintenance.reset()
    this.#carryOut()
    this.#parts.queued.wentBack(error.heard)
  }

  async #giveAllBack(): Promise<void> {
    const { requests } = this.#parts.machine
    await this.#parts.fetcher.drained()
    for (const lease of this.#parts.handout.out) {
      if (lease.state !== 'out') continue
      // It may have been fetched.
      const text = withTries(lease.text, { attempt: Math.max(2, lease.attempt) })
      const placed = [requests.asItWas(lease.heldSlot, { priority: lease.priority, text })]
      requests.end(lease, { placed, keepsHistory: true }, performance.now())
      lease.lose('the queue was closed')
    }
    this.#parts.machine.states.close(performance.now())
    this.#parts.sync.kick()
    await this.#parts.sync.drained()
    await this.#parts.jobs.drained()
    await this.#parts.scripts.leave(this.#options.workerId)
  }
}
