/**
 * The queue of a crawl that is spread over several shards of a Redis Cluster: a `BucketQueue` for each, and a home for what belongs to
 * the crawl as a whole. docs/decisions/shards.md says what lives where, and why it holds.
 *
 *     SharedDispatcher   hands out the requests of all shards
 *     ShardsHome         requests of start() and of seeds, the run, how many workers there are
 *     OutboxDelivery     brings to a shard what was written for it in another
 *     ShardsTending      outboxes of lost workers, and whether the crawl is over
 *     ShardWakes         when a worker looks for turns of a shard
 *
 * Each lease belongs to the shard that its slot is in; which one that is, is asked of the queue that has handed it out.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CommitOptions,
  type Crawler,
  type HostOrders,
  type InFlight,
  type Lease,
  type Logger,
  PROTOCOL_TIMES,
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
  within,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { BucketQueue } from '../buckets/bucket-queue.ts'
import { type BucketQueueOptions, queueOptionsOf } from '../buckets/queue-options.ts'
import { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import { RedisFailures } from '../failures/redis-failures.ts'
import { partOf, ShardedFailures } from '../failures/sharded-failures.ts'
import type { ShardChanges } from '../frontier/turn-protocol.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { CrawlChannel } from '../members/crawl-channel.ts'
import { type HostSlots, SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import { BOOST } from '../politeness/ordered-hosts.ts'
import { slotKey } from '../politeness/slot-key.ts'
import { CrawlShards, HOME } from '../shards/crawl-shards.ts'
import { deliveriesOf } from '../shards/outbox-entry.ts'
import { ShardRest } from '../shards/shard-rest.ts'
import { OutboxDelivery } from './outbox-delivery.ts'
import { QuietCounts } from './quiet-counts.ts'
import { ShardWakes } from './shard-wakes.ts'
import { ShardedDoubts } from './sharded-doubts.ts'
import { ShardsHome } from './shards-home.ts'
import { ShardsTending } from './shards-tending.ts'
import { SharedDispatcher } from './shared-dispatcher.ts'

/** How long a beginning waits until replicas have that a shard is empty; without one nothing is waited for. */
const REPLICA_MS_MAX = 5000
const REPLICA_LOOK_MS = 20
const CLOSE_MS_MAX = 3000
/** Less than a heartbeat waits for: orders come with it. */
const STEER_MS_MAX = 1000

export interface ShardedQueueOptions extends Omit<BucketQueueOptions, 'channel' | 'shard'> {
  /** QUEUE_SHARDS. */
  readonly shards: number
  /** The home's, opened and closed by the caller, after this queue is made. */
  readonly channel: CrawlChannel
}

export class ShardedQueue implements RequestQueue {
  readonly #options: ShardedQueueOptions
  readonly #logger: Logger
  readonly #shards: CrawlShards
  readonly #queues = new Map<string, BucketQueue>()
  readonly #scripts: ReadonlyMap<string, ShardScripts>
  readonly #dispatcher: SharedDispatcher
  readonly #home: ShardsHome
  readonly #delivery: OutboxDelivery
  readonly #tending: ShardsTending
  readonly #counts: readonly QuietCounts[]
  readonly #rests: ReadonlyMap<string, ShardRest>
  readonly #handedOutBy = new WeakMap<Lease, BucketQueue>()
  readonly doubts: ShardedDoubts
  readonly failures: ShardedFailures
  #orders: HostOrders = new Map()
  /** The one that has said last that it is not empty. */
  #hadSome: BucketQueue | undefined
  #isClosed = false

  constructor(options: ShardedQueueOptions) {
    const { keys: home, shards, redis, workerId, order = 'priority', hosts, channel, mayDoubt } = options
    const { givingUp, logger = silentLogger, times = PROTOCOL_TIMES } = options
    this.#options = options
    this.#logger = logger
    this.#shards = new CrawlShards(home, shards)
    this.#dispatcher = new SharedDispatcher(times.engine)
    const all = [...this.#shards.names, HOME]
    this.#scripts = new Map(
      all.map((shard) => [shard, new ShardScripts({ redis, keys: this.#shards.keysOf(shard), order })]),
    )
    this.#delivery = new OutboxDelivery({
      logger,
      isShort: () => this.#dispatcher.isShort || this.othersAreHungry,
      apply: (shard, deliveries) => this.#scripts.get(shard)!.apply(workerId, this.#home.run, deliveries),
      onChanges: (shard, changes) => this.#changed(shard, changes),
    })
    const onSent =
      (shard: string): NonNullable<BucketQueueOptions['shard']>['onSent'] =>
      (groups, sent) => {
        if (sent.length > 0) this.#delivery.gather(deliveriesOf(shard, groups, sent))
      }
    const slots = hosts.slots ?? SLOTS_BY_HOST
    this.#home = new ShardsHome({
      ...{ redis, shards: this.#shards, workerId, order, slots, times, logger, mayDoubt },
      boostOf: (slot) => (this.#orders.get(slot)?.isBoosted ? BOOST : 0),
      onSent: onSent(HOME),
    })
    const wakes = new Map<string, ShardWakes>()
    const rests = new Map(all.map((shard) => [shard, new ShardRest()]))
    this.#rests = rests
    channel.listen(rests.get(HOME)!.hears)
    for (const shard of this.#shards.names) {
      const keys = this.#shards.keysOf(shard)
      const ofShard = channel.ofShard(keys)
      const restOf = rests.get(shard)!
      ofShard.listen(restOf.hears)
      const wakesOf = new ShardWakes(() => channel.turnsCame(shard), restOf)
      wakes.set(shard, wakesOf)
      // In the place of a message that was lost.
      ofShard.listen({ onSwept: ({ waiting }) => (waiting > 0 ? wakesOf.heard() : undefined) })
      const queue: BucketQueue = new BucketQueue({
        ...{ ...options, keys, order, channel: ofShard },
        mayDoubt: () => restOf.mayDoubt,
        ...(givingUp && { givingUp: partOf(givingUp, shards) }),
        shard: {
          home: this.#shards.home,
          ...{ buckets: () => this.#shards.buckets, addressOf: this.#shards.addressing(shard) },
          has: (slot) => this.#shards.shardOf(slot) === shard,
          documentsOf: (slot) => this.#queues.get(this.#shards.shardOf(slotKey(slot)))!.documents,
          dispatching: this.#dispatcher.of((lease) => void this.#handedOutBy.set(lease, queue)),
          wakes: wakesOf,
          rest: restOf,
          run: () => this.#home.run,
          workers: () => this.#home.workers,
          onSent: onSent(shard),
        },
      })
      this.#queues.set(shard, queue)
    }
    channel.listen({
      onTurns: (shard) => {
        rests.get(shard)?.stirred()
        wakes.get(shard)?.heard()
      },
    })
    this.#tending = new ShardsTending({
      onMissed: (shard) => channel.turnsCame(shard),
      ...{ scripts: this.#scripts, rests, home: this.#home, delivery: this.#delivery, times, logger },
    })
    const countsOf = (shard: string) => this.#queues.get(shard)?.counts() ?? this.#home.scripts.counts()
    this.#counts = all.map((shard) => new QuietCounts(rests.get(shard)!, () => countsOf(shard)))
    const queues = [...this.#queues.values()]
    this.doubts = new ShardedDoubts([this.#home.doubts, ...queues.map((queue) => queue.doubts)])
    this.failures = new ShardedFailures(queues.map((queue) => queue.failures))
  }

  static fromCrawler(
    crawler: Crawler,
    {
      slots,
      ...connected
    }: Pick<
      ShardedQueueOptions,
      'redis' | 'workerId' | 'keeper' | 'keys' | 'shards' | 'channel' | 'mayDoubt'
    > & {
      readonly slots?: HostSlots
    },
  ): ShardedQueue {
    return new this({ ...connected, ...queueOptionsOf(crawler, slots) })
  }

  get othersAreHungry(): boolean {
    return this.#all((queue) => queue.othersAreHungry).includes(true)
  }

  async open(): Promise<void> {
    await this.#home.open()
    await Promise.all(this.#all((queue) => queue.open()))
    this.#tending.open()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#tending.close()
    // What a delivery brings is told to BullMQ by the shard's queue, as long as that is open.
    await this.#untilDelivered(this.#delivery.drained())
    await Promise.all(this.#all((queue) => queue.close()))
    await this.#untilDelivered(this.#leave())
  }

  async #untilDelivered(delivering: Promise<void>): Promise<void> {
    try {
      await within(CLOSE_MS_MAX, 'delivering links', delivering)
    } catch (error) {
      this.#logger.debug(
        { err: error },
        'links for other shards are not delivered; another worker sends them',
      )
    }
  }

  /** Each shard knows the crawl's run first, so that nothing of another run comes to it any more. */
  async clear(): Promise<void> {
    // What this worker is just bringing would come after it.
    await this.#untilDelivered(this.#delivery.drained())
    const { redis } = this.#options
    const [run, state, persists] = await redis.hmget(this.#shards.home.record, 'run', 'state', 'persists')
    for (const { record, ...keys } of this.#shards.queues) {
      if (run && state === 'running') {
        const isNew = (await redis.hget(record, 'run')) !== run
        // As at the home of a crawl that begins: lua/crawl/begin.lua.
        if (isNew && persists !== '1') await new RedisFailures({ redis, keys: { record, ...keys } }).clear()
        await tellShard(redis, record, run)
      } else {
        // What failed is not queued again here (lua/failures/crawl-ended.lua) until the shard knows of a run.
        await redis.hset(record, 'emptied', 1)
        await redis.hdel(record, 'run')
      }
    }
    await Promise.all([...this.#all((queue) => queue.clear()), this.#home.scripts.clear()])
    await Promise.all([...this.#scripts.values()].map((one) => one.clear(this.#shards.names)))
    if (state === 'running') await this.#untilReplicated()
  }

  /** Tells shards of the crawl's run that know of none, or of another. */
  async tellShards(): Promise<void> {
    const { redis } = this.#options
    const run = await redis.hget(this.#shards.home.record, 'run')
    if (run === null) return
    for (const { record } of this.#shards.queues)
      if ((await redis.hget(record, 'run')) !== run) await tellShard(redis, record, run)
    await this.#untilReplicated()
  }

  async crawlEnded(): Promise<void> {
    await Promise.all(this.#all((queue) => queue.crawlEnded()))
  }

  onAskersLost(listener: (askers: readonly string[]) => void): void {
    this.#home.onAskersLost(listener)
    for (const queue of this.#queues.values()) queue.onAskersLost(listener)
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'turns', order: this.#options.order ?? 'priority' }
  }

  push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    return this.#home.push(batch, asker)
  }

  pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    return this.#home.pushStart(batch, from, to)
  }

  settled(asker: string): Promise<void> {
    return this.#home.settled(asker)
  }

  lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    return this.#dispatcher.take(max, signal, () => this.isEmpty())
  }

  confirm(lease: Lease): (() => Promise<void>) | undefined {
    return this.#of(lease).confirm(lease)
  }

  async commit(lease: Lease, options: CommitOptions = {}): Promise<void> {
    await this.#of(lease).commit(lease, options)
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: CommitOptions['host']): Promise<void> {
    await this.#of(lease).retry(lease, request, when, host)
  }

  async requeue(lease: Lease): Promise<void> {
    await this.#of(lease).requeue(lease)
  }

  reject(lease: Lease, reason: string): Promise<boolean> {
    return this.#of(lease).reject(lease, reason)
  }

  async inFlight(): Promise<readonly InFlight[]> {
    const awake = [...this.#queues].filter(([shard]) => !this.#rests.get(shard)!.isQuiet)
    return (await Promise.all(awake.map(([, queue]) => queue.inFlight()))).flat()
  }

  /** What is on its way from one shard to another is counted in neither. */
  async counts(): Promise<QueueCounts> {
    const all = await Promise.all(this.#counts.map((one) => one.now()))
    const sum = (of: keyof QueueCounts) => all.reduce((total, one) => total + one[of], 0)
    return {
      waiting: sum('waiting'),
      delayed: sum('delayed'),
      leased: sum('leased'),
      quarantined: sum('quarantined'),
    }
  }

  /** Waits for no shard that is away: that one is told as soon as it is back. */
  async steer(orders: HostOrders): Promise<void> {
    this.#orders = orders
    const telling = Promise.all(this.#all((queue) => queue.steer(orders)))
    // Not `waitAtMost`, which keeps to itself that a shard has refused.
    await Promise.race([telling, sleep(STEER_MS_MAX, undefined, { ref: false })])
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return [...this.#queues.values()]
      .flatMap((queue) => queue.mostQueued(most))
      .sort((a, b) => b.waiting - a.waiting)
      .slice(0, most)
  }

  held(): QueueHeld {
    const all = [...this.#queues.values()].map((queue) => queue.held())
    const longest = all.reduce((a, b) => (b.longestMs > a.longestMs ? b : a))
    return { ...longest, heldHosts: all.reduce((sum, one) => sum + one.heldHosts, 0) }
  }

  /** Shards are asked one by one, first the one that has said no: when none does, what is between them is looked for. */
  async isEmpty(): Promise<boolean> {
    const queues = [...this.#queues.values()]
    for (const queue of this.#hadSome ? [this.#hadSome, ...queues] : queues) {
      if (await queue.isEmpty()) continue
      this.#hadSome = queue
      return false
    }
    this.#hadSome = undefined
    return this.#tending.isNothingLeft()
  }

  /**
   * When nothing can come any more, whatever a server may still lose, resolves to how many entries the home had sent; else to undefined.
   * The record asks before it says finished.
   */
  isOver(): Promise<number | undefined> {
    return this.#tending.isOver()
  }

  async #leave(): Promise<void> {
    await this.#delivery.drained()
    await this.#home.scripts.leave(this.#options.workerId)
  }

  #of(lease: Lease): BucketQueue {
    const queue = this.#handedOutBy.get(lease)
    if (!queue) throw leaseLost(lease.request, 'this queue has not handed it out')
    return queue
  }

  #all<T>(act: (queue: BucketQueue) => T): T[] {
    return [...this.#queues.values()].map(act)
  }

  #changed(shard: string, changes: ShardChanges): void {
    this.#queues.get(shard)!.changed(changes)
  }

  /** A replica that took its master's place with an older state would bring back what was there before. */
  async #untilReplicated(): Promise<void> {
    const until = performance.now() + REPLICA_MS_MAX
    const first = await Promise.all([...this.#scripts.values()].map((one) => one.shardState()))
    for (const [n, one] of [...this.#scripts.values()].entries())
      while (performance.now() < until) {
        const { replid, replicaOffset } = await one.shardState()
        if (replicaOffset === undefined || replid !== first[n]!.replid || replicaOffset >= first[n]!.offset)
          break
        await sleep(REPLICA_LOOK_MS)
      }
    if (performance.now() >= until)
      this.#logger.warn('replicas lag: one that takes its master’s place just now may know of an earlier run')
  }
}

async function tellShard(redis: Redis, record: string, run: string): Promise<void> {
  await redis.hset(record, 'run', run, 'done', 0)
  await redis.hdel(record, 'emptied')
}
