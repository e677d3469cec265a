/** What a queue of buckets is made of, put together. */

import { PROTOCOL_TIMES, silentLogger } from '@webloom/core'
import { RedisFailures } from '../failures/redis-failures.ts'
import { FrontierMachine } from '../frontier/frontier-machine.ts'
import type { BucketLease } from '../frontier/held-turn.ts'
import { Doubts } from '../leasing/doubts.ts'
import { KEPT_BY_NOBODY } from '../locks/lock-keeper.ts'
import { CrawlChannel } from '../members/crawl-channel.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'
import { DocumentLine } from '../politeness/document-line.ts'
import { SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import { BucketVisits } from '../visits/bucket-visits.ts'
import { BucketPlacing } from './bucket-placing.ts'
import { EmptinessCheck } from './emptiness-check.ts'
import { FrontierSync } from './frontier-sync.ts'
import { HeldJobs } from './held-jobs.ts'
import { LeaseOutcomes } from './lease-outcomes.ts'
import { NewRequests } from './new-requests.ts'
import { OrderedSlots } from './ordered-slots.ts'
import type { BucketPoint, BucketQueueOptions } from './queue-options.ts'
import { RejectedRequests } from './rejected-requests.ts'
import { RequestHandout } from './request-handout.ts'
import { BucketScripts } from './scripts/bucket-scripts.ts'
import { CommandNumbers, type WentBack } from './scripts/command-numbers.ts'
import { QueuedAskers } from './scripts/queued-askers.ts'
import { TurnFetcher } from './turn-fetcher.ts'
import { TurnJobs } from './turn-jobs.ts'
import { TurnMaintenance } from './turn-maintenance.ts'

/** A script costs Redis as much as three pages in it. While enough requests lie ready, outcomes gather for so long. */
const GATHER_MS = 3
/**
 * The same of a shard, while others bring what is wanted: each shard has its turn before that, where there is much to do. Less while
 * another worker has nothing to do, as it may wait for these links.
 */
const SHARD_GATHER_MS = 50
const HUNGRY_GATHER_MS = 20

/** What parts tell the queue. */
export interface QueueEvents {
  readonly isClosed: () => boolean
  /** A request may be handed out, or more may be taken from Redis. */
  readonly serve: () => void
  /** The machine may have something to do. */
  readonly carryOut: () => void
  readonly onStart: (lease: BucketLease) => void
  /** What may be handed out has changed. */
  readonly serveSoon: () => void
  readonly onWentBack: (error: WentBack) => void
}

export type QueueParts = ReturnType<typeof queueParts>

export function queueParts(options: BucketQueueOptions, events: QueueEvents) {
  const { redis, keys, workerId, hosts, givingUp = {} } = options
  const { order = 'priority', logger = silentLogger, times = PROTOCOL_TIMES } = options
  const onPoint = (name: BucketPoint) => options.onPoint?.(name)
  const { shard } = options
  const scripts = new BucketScripts({
    redis,
    keys,
    order,
    times,
    isShard: shard !== undefined,
    revisits: options.visits !== undefined,
  })
  const commands = new CommandNumbers(workerId)
  const queued = new QueuedAskers()
  const ordered = new OrderedSlots(hosts.pace, hosts.namedSlots ?? [], shard?.buckets ?? (() => BUCKETS))
  const slots = hosts.slots ?? SLOTS_BY_HOST
  const placing = new BucketPlacing({
    order,
    slots,
    boostOf: (slot) => ordered.boostOf(slot),
    addressOf: shard?.addressOf ?? ((slot) => bucketOf(slot, BUCKETS)),
  })
  const channel = options.channel ?? new CrawlChannel({ redis, keys })
  const onWoken = () => {
    machine.others.woke()
    events.serve()
    onPoint('woken')
  }
  const jobs = new TurnJobs({
    ...{ redis, keys, workerId, times, logger, onWoken },
    ...(shard && { wakes: shard.wakes }),
  })
  const machine = new FrontierMachine({
    ...ordered.forMachine,
    times: times.turns,
    onStart: events.onStart,
    documentsOf: (lease) => documents.of(lease),
  })
  const documents: DocumentLine = new DocumentLine({
    clock: machine.documents,
    slots,
    ...(shard && { lineOf: shard.documentsOf }),
    onChange: (slot) => {
      machine.documents.changed(slot, performance.now())
      events.serveSoon()
    },
  })
  const locks = options.keeper?.locks(scripts.renewal(times.turns.lockMs)) ?? KEPT_BY_NOBODY
  const tellRedis = () => sync.kick()
  const demand = () => (events.isClosed() ? 0 : handout.demand)
  const common = {
    ...{ redis, keys, workerId, times, logger, onPoint },
    ...{ machine, scripts, commands, queued, jobs, ordered, slots, placing, channel, demand },
    ...{
      tellRedis,
      onWentBack: events.onWentBack,
      onSent: shard?.onSent,
      workers: shard?.workers ?? options.workers,
    },
  }
  const held = new HeldJobs({ jobs, locks, onPoint })
  const rejected = new RejectedRequests({
    ...common,
    rejectedMs: givingUp.rejectedMs ?? times.turns.rejectedMs,
    ...(shard && { workersKey: shard.home.workers }),
    onLeft: (unit, ms) => fetcher.leave(unit, ms),
  })
  const handout = new RequestHandout({
    ...common,
    rejected,
    waitMsMax: times.engine.leaseWaitMaxMs,
    patienceMs: times.engine.suspectPatienceMs,
    onDemand: events.serve,
    ...(shard && { dispatching: shard.dispatching }),
  })
  const resetting = () => maintenance.resetting
  const fresh = new NewRequests({
    ...common,
    resetting,
    onAdded: (jobChanges, groups) => {
      jobs.changeJobs(jobChanges)
      machine.states.arrived(groups, performance.now())
    },
  })
  const fetcher = new TurnFetcher({
    ...common,
    quarantineAfter: givingUp.quarantineAfter ?? 3,
    onDrained: events.serve,
    onBegun: ({ job, bull, holder, unitStatus, jobChanges }) => {
      jobs.changeJobs(jobChanges)
      held.begun(machine.states.begun(job, holder, unitStatus, performance.now()), bull)
      if (events.isClosed()) sync.kick()
      events.serve()
    },
  })
  const sync: FrontierSync = new FrontierSync({
    ...common,
    unreserved: () => (events.isClosed() ? 0 : handout.unreserved),
    reserve: (count) => handout.reserve(count),
    gatherMs: () =>
      !shard ? GATHER_MS : machine.others.isHungry(performance.now()) ? HUNGRY_GATHER_MS : SHARD_GATHER_MS,
    out: () => (events.isClosed() ? 0 : handout.out.size),
    isLooking: () => fetcher.isLooking,
    resetting,
    onTrimmed: givingUp.onTrimmed ?? (() => {}),
    onEffects: events.carryOut,
  })
  const emptiness = new EmptinessCheck({
    turns: activityOf(machine, handout),
    times,
    counts: () => scripts.counts(),
    isQuiet: () => shard?.rest.isQuiet ?? false,
  })
  const maintenance = new TurnMaintenance({
    ...common,
    rest: shard?.rest,
    onSwept: ({ requests }) => emptiness.heard(requests),
    onTended: () => {
      if (fetcher.isDrained) fetcher.sayHungry()
      events.carryOut()
    },
  })
  const { mayDoubt } = options
  const doubts = new Doubts({
    ...common,
    ...(mayDoubt && { mayDoubt }),
    end: async (args, requests) => {
      const ended = await fresh.endDoubts(args, requests)
      // This may have been the last request of the crawl.
      emptiness.heard(0)
      events.serve()
      return ended
    },
  })
  const failures = new RedisFailures({
    redis,
    keys,
    retry: async (retried) => {
      const again = await fresh.retryFailed(retried)
      if (again === 'ended') return again
      // This may have been what the crawl had left.
      emptiness.heard(again.length)
      events.serve()
      return again
    },
  })
  const visits =
    options.visits &&
    new BucketVisits({
      redis,
      keys,
      ...options.visits,
      queue: async (read, pages) => {
        const count = await fresh.queueDue(read, pages)
        if (count === 'ended') return 0
        emptiness.heard(count)
        events.serve()
        return count
      },
    })
  const outcomes = new LeaseOutcomes({
    ...common,
    ...{ handout, rejected, fresh, sync, doubts, failures, visits },
    failedMax: givingUp.failedMax ?? 0,
  })
  return {
    ...{
      scripts,
      commands,
      queued,
      ordered,
      channel,
      jobs,
      machine,
      held,
      rejected,
      handout,
      fresh,
      fetcher,
      sync,
    },
    ...{ emptiness, maintenance, documents, doubts, failures, visits, outcomes, times },
  }
}

function activityOf(machine: FrontierMachine, handout: RequestHandout) {
  return {
    get size() {
      return machine.isIdle ? 0 : 1
    },
    get removedAtMs() {
      return handout.endedAtMs
    },
  }
}
