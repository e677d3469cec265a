/**
 * What a worker does at the home of a crawl of several shards: requests of start(), of seeds and of imports come in here, and go on from
 * the home's outbox; here it learns of its run and of other workers.
 */

import type { Logger, ProtocolTimes, QueuedRequest, QueueOrder, StartRequest } from '@webloom/core'
import type { Redis } from 'ioredis'
import { BucketPlacing } from '../buckets/bucket-placing.ts'
import { NewRequests } from '../buckets/new-requests.ts'
import { BucketScripts } from '../buckets/scripts/bucket-scripts.ts'
import { CommandNumbers, type WentBack } from '../buckets/scripts/command-numbers.ts'
import { QueuedAskers } from '../buckets/scripts/queued-askers.ts'
import { CRAWL_LOST } from '../crawl/crawl-leaving.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import { Doubts } from '../leasing/doubts.ts'
import { stopCrawl } from '../outside/crawl-control.ts'
import { readPresence } from '../outside/crawl-view.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import { type CrawlShards, HOME } from '../shards/crawl-shards.ts'
import type { SentEntries } from '../shards/outbox-entry.ts'

/** As in shards, whose sweeps do it there. */
const HEARD_KEPT_MS = 86_400_000

/** Looks after outboxes; looks whether the crawl is over, as nothing was left at the look before. */
export type OneWorkersTask = 'tender' | 'ender'

export interface ShardsHomeOptions {
  readonly redis: Redis
  readonly shards: CrawlShards
  readonly workerId: string
  readonly order: QueueOrder
  readonly slots: HostSlots
  /** By how much requests of a slot are more urgent than they say. */
  readonly boostOf: (slot: string) => number
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** Returns false when no link of another worker is in doubt at the home. Default: one may be. */
  readonly mayDoubt?: (() => boolean) | undefined
  readonly onSent: (groups: readonly Placed[], sent: readonly SentEntries[]) => void
}

export class ShardsHome {
  readonly #options: ShardsHomeOptions
  readonly #fresh: NewRequests
  readonly #commands: CommandNumbers
  readonly #queued = new QueuedAskers()
  readonly scripts: BucketScripts
  readonly doubts: Doubts
  #workers = 1

  constructor(options: ShardsHomeOptions) {
    const { redis, shards, workerId, order, slots, boostOf, times, logger, mayDoubt, onSent } = options
    this.#options = options
    this.#commands = new CommandNumbers(workerId)
    this.scripts = new BucketScripts({ redis, keys: shards.home, order, times, isShard: true })
    const placing = new BucketPlacing({ order, slots, boostOf, addressOf: shards.addressing(HOME) })
    this.#fresh = new NewRequests({
      ...{ scripts: this.scripts, commands: this.#commands, queued: this.#queued, slots, placing, onSent },
      onAdded: () => {},
      onPoint: () => {},
      onWentBack: (error) => this.#onWentBack(error),
    })
    this.doubts = new Doubts({
      ...{ redis, keys: shards.home, times, logger },
      ...(mayDoubt && { mayDoubt }),
      end: (args, requests) => this.#fresh.endDoubts(args, requests),
    })
  }

  /** The run that this worker takes part in; '' where there is no record of one. */
  get run(): string {
    return this.#commands.run
  }

  /** How many workers the crawl had when this worker last looked, this one too. */
  get workers(): number {
    return this.#workers
  }

  async open(): Promise<void> {
    const { redis, shards } = this.#options
    const [run, format] = await redis.hmget(shards.home.record, 'run', 'format')
    this.#commands.run = run ?? ''
    shards.takeForm(format)
    await this.look()
  }

  /** Looks how many workers there are. */
  async look(): Promise<void> {
    const { redis, shards } = this.#options
    const { present } = await readPresence({ redis, keys: shards.home })
    this.#workers = Math.max(1, present.length)
  }

  push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    this.doubts.noted(batch)
    return this.#fresh.push(batch, asker)
  }

  pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    this.doubts.noted(batch)
    return this.#fresh.pushStart(batch, { from, to })
  }

  async settled(asker: string): Promise<void> {
    await this.scripts.settled(asker)
  }

  onAskersLost(listener: (askers: readonly string[]) => void): void {
    this.#queued.listen(listener)
  }

  /** Resolves to true while this worker's run goes on and all shards have been told of it. */
  async owesNothing(): Promise<boolean> {
    const { redis, shards } = this.#options
    const [run, state, todo] = await redis.hmget(shards.home.record, 'run', 'state', 'todo')
    return run === this.run && state === 'running' && !todo
  }

  /** Ends the crawl for all workers, as these shards have lost all that they had: unless the run is over, which empties them, too. */
  async endLost(lost: readonly string[]): Promise<void> {
    const { redis, shards, logger } = this.#options
    if (!(await this.owesNothing())) return
    logger.error({ shards: lost }, SHARDS_LOST)
    await stopCrawl({ redis, keys: shards.home }, CRAWL_LOST)
  }

  /** Resolves to true in one worker of all, for so long; then it is to take the task again. */
  async takes(task: OneWorkersTask, ms: number): Promise<boolean> {
    const { redis, workerId } = this.#options
    const key = this.#keyOf(task)
    const holder = await redis.get(key)
    if (holder === null) return (await redis.set(key, workerId, 'PX', ms, 'NX')) === 'OK'
    if (holder !== workerId) return false
    await redis.pexpire(key, ms)
    return true
  }

  /** Resolves to whether another worker has that task just now. */
  async isOfAnother(task: OneWorkersTask): Promise<boolean> {
    const { redis, workerId } = this.#options
    const holder = await redis.get(this.#keyOf(task))
    return holder !== null && holder !== workerId
  }

  async letsGo(task: OneWorkersTask): Promise<void> {
    if (!(await this.isOfAnother(task))) await this.#options.redis.del(this.#keyOf(task))
  }

  /** Keeps what workers have told the home, and forgets askers that nobody settles. */
  async keep(): Promise<void> {
    const { redis, shards } = this.#options
    const { frontier } = shards.home
    await Promise.all([
      redis.pexpire(`${frontier}:heard`, HEARD_KEPT_MS),
      redis.zremrangebyscore(`${frontier}:owners`, '-inf', String(Date.now() - HEARD_KEPT_MS)),
    ])
  }

  #keyOf(task: OneWorkersTask): string {
    return `${this.#options.shards.home.frontier}:${task}`
  }

  #onWentBack(error: WentBack): void {
    if (!this.#commands.wentBack(error)) return
    this.#options.logger.warn(
      'the Redis of the crawl’s home has come back with an older state; what start() and seeds brought in the time that it has lost is looked for again',
    )
    this.#queued.wentBack(error.heard)
  }
}

const SHARDS_LOST =
  'shards of the crawl are gone from Redis: a server was emptied, or came back without its data, and no replica had them. The crawl ends with crawl_lost, as the requests that were queued there are lost'
