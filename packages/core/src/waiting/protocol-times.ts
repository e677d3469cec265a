/**
 * How long the workers of a crawl wait for each other and for Redis: every lease, heartbeat and retry that several
 * processes must agree on, in milliseconds, with where each comes from.
 *
 * They are one object because they depend on each other: a lock outlives two renewals, a sweep that is missed is noticed
 * before a lock ends, a mark outlives what a Redis may lose. So they are not settings; a test that must see thousands of
 * leases run out scales all of them by one factor. Times that a user chooses (DUPEFILTER_PENDING_STALE, a delay) are
 * settings and not here, nor are bounds of one process alone, as how long it may take to close.
 */
export interface ProtocolTimes {
  /** QUEUE_MODE=turns: turns at buckets of hosts. */
  readonly turns: {
    /** A turn whose lock is not renewed for so long is another worker's. A killed worker must be missed within 10 s. */
    readonly lockMs: number
    /** A third of `lockMs`: two renewals may fail. */
    readonly renewEveryMs: number
    /** BullMQ finds a lost lock at its second look. */
    readonly stalledCheckEveryMs: number
    /** When no worker has looked for this long, locks may have run out because Redis was away. Less than `lockMs` without `renewEveryMs`. */
    readonly stalledGapMs: number
    /**
     * After a time without Redis nobody's turn is given to others for so long. Until then a worker has connected again, and has sent the
     * renewal that it could not send. A try at a server that drops packets sends none for up to two seconds, and the next one begins
     * `redis.reconnectMsMax` after its end.
     */
    readonly backMs: number
    /** The same where another server takes the place of one that is lost: tries are short, and `redis.sparedReconnectMsMax` apart. */
    readonly sparedBackMs: number
    /** How often lost turns are looked for then, until the locks of those that have not come back have run out. */
    readonly stalledSoonMs: number
    /** How long BullMQ blocks while nothing is due; BullMQ itself never blocks for longer than ten seconds. */
    readonly blockMsMax: number
    /** When the answer to a blocking call is so much later, the connection is given up. */
    readonly blockLateMs: number
    /** A bucket that has had nothing to do for so long is left: beginning it again costs as much as some pages. */
    readonly restMs: number
    /** How often a worker looks whether turns are to be left. */
    readonly tendEveryMs: number
    readonly sweepEveryMs: number
    /** When no sweep was heard of for this long, the worker in charge of sweeps is lost. Less than `lockMs`. */
    readonly sweepMissedMs: number
    readonly sweepLookEveryMs: number
    /** Among several workers that would sweep, one does in this time. */
    readonly sweptMsMin: number
    /** A turn whose job BullMQ lacks for so long gets a new one by the next sweep: its adder died, or Redis has lost it. */
    readonly owedMs: number
    /** A turn that could go and is not served for so long goes to another worker. */
    readonly yieldAfterMs: number
    /** A turn without a delay goes behind the others after so long. */
    readonly quotaMs: number
    /** A line that was empty is looked at again, as others may have added to it. */
    readonly lookAgainMs: number
    /** A turn that must wait no longer than this stays with its worker. */
    readonly lingerMs: number
    /** The pause after a refusal by Redis. */
    readonly retryMs: number
    /** The same, for a request that ended before it started. */
    readonly unstartedRetryMs: number
    /** A host that is full with other lanes' requests is tried again after this. */
    readonly fullRetryMs: number
    /** How long a repeated push may be late, once its asker is settled. */
    readonly settledKeptMs: number
    /** A crawl that was told to have requests is taken to have some for so long: a sweep and a half. */
    readonly emptinessHeardMs: number
    /** A rejected request is handed out again after this. */
    readonly rejectedMs: number
    /** When a rejected request comes to the same worker again, others may take it first for this long. */
    readonly othersFirstMs: number
  }
  /** QUEUE_MODE=job: a BullMQ job is a request. */
  readonly jobs: {
    readonly lockMs: number
    readonly renewEveryMs: number
    /** A lease whose lock ends sooner is renewed before it is handed out. */
    readonly lockedMsMin: number
    /** A request that lies ready for so long, and that the engine does not take, is requeued. */
    readonly readyMsMax: number
    /** All workers together look for lost locks no more often than this. */
    readonly reclaimEveryMs: number
    /** When no worker has looked for this long, locks may have run out because Redis was away. Less than `lockMs` without `renewEveryMs`. */
    readonly reclaimGapMs: number
    /** After such a gap no worker looks for this long, so that all can connect again and renew. */
    readonly reclaimPauseMs: number
    readonly settledKeptMs: number
    /** How long BullMQ blocks for news. */
    readonly blockMs: number
    /** A fetch that takes longer hangs: twice as long as BullMQ ever blocks. */
    readonly fetchMsMax: number
    readonly errorPauseMs: number
    readonly rejectedMs: number
    readonly othersFirstMs: number
  }
  /** QUEUE_SHARDS: what goes from one server to another. */
  readonly shards: {
    /** How often one worker of all looks after the outboxes. What is lacking at two looks is sent again. */
    readonly lookEveryMs: number
    /** Between two looks at a crawl that may be over. */
    readonly endLookMs: number
    /** How long a server must have known something to keep it: longer than a replica may lag behind its master, and than an append-only file may lack. */
    readonly keptMs: number
  }
  /** The record of the crawl: who runs start(), who empties queue and filter. */
  readonly record: {
    readonly startLeaseMs: number
    readonly startRenewEveryMs: number
    readonly startPollMs: number
    readonly todoLeaseMs: number
    readonly todoRenewEveryMs: number
    readonly todoPollMs: number
  }
  /** Workers' heartbeats. */
  readonly members: {
    readonly beatEveryMs: number
    /** The interval while other workers' counts matter, or Redis does not answer. */
    readonly beatOftenMs: number
    /** How often a worker tells what stands out among its hosts: with every third heartbeat or so, as people look at it. */
    readonly hostListsEveryMs: number
    /** How often one of all workers keeps what the crawl does: a point of its curves. */
    readonly sampleEveryMs: number
    /** A heartbeat that is unanswered for so long is logged. */
    readonly answerLateMs: number
    /** When no worker has sent a heartbeat for this long, Redis was away. With `beatEveryMs` less than `lostAfterMs`. */
    readonly silenceMs: number
    /** A worker without a heartbeat for so long is lost. */
    readonly lostAfterMs: number
  }
  /** The thread that keeps locks while a callback blocks the event loop. */
  readonly keeper: {
    readonly tellEveryMs: number
    /** A block that is longer than this is logged. */
    readonly blockedToldMs: number
    readonly lookEveryMs: number
    /** A main thread that has told nothing for this long is blocked. Its last renewal is good for as long again. */
    readonly lateMs: number
    readonly renewEveryMs: number
    readonly answerMsMax: number
  }
  /** Start URLs from Redis. */
  readonly seeds: {
    /** How long a message stays with a worker that does not renew it. */
    readonly leaseMs: number
    /** How long a message outlives the queueing of its requests: longer than what a fail-over of the queue's Redis may lose, and than its disk may lack. */
    readonly ripeMs: number
    readonly runIdAgeMs: number
  }
  /** Dupefilters on Redis. */
  readonly filter: {
    /** The longest that a settled asker waits for a question to travel with. */
    readonly settleWithinMs: number
    /** How old a mark must be before it is deleted: more than a fail-over may lose, and than a Redis that writes to disk every second. */
    readonly markKeptMs: number
    readonly runIdEveryMs: number
    /** How long after its commit a page may run again because the queue's Redis has lost that commit. */
    readonly lostCommitMs: number
    /** How long a generation that Redis told is trusted. */
    readonly trustMs: number
    /** The workers of a crawl that was not heard of for this long are gone: other crawls may empty the filter. */
    readonly crawlGoneMs: number
    /** How often a worker that is there says so. */
    readonly crawlNotedEveryMs: number
    /** When no question was noted for this long, the filter's Redis was away or full, and no worker could settle its askers. */
    readonly silenceMs: number
    /** How often a worker has its question noted. */
    readonly heardEveryMs: number
  }
  /** Links that another page was told are new, and that it may not queue. */
  readonly doubts: {
    /** How long a page waits for other pages of its process that hold its links. */
    readonly ownMs: number
    /** How often a worker looks for links in doubt that should be asked about. */
    readonly lookEveryMs: number
    /** How long a link in doubt waits to be asked about: most pages have queued their links by then. */
    readonly waitMs: number
    /** How long a link in doubt is reserved for the worker that took it. */
    readonly heldMs: number
  }
  /** The scheduler: how long it waits for room in the queue, and for servers that are away. */
  readonly scheduler: {
    /** How long links wait for others to make room in a queue that is nearly full. */
    readonly highWaterHoldMs: number
    readonly highWaterLookMs: number
    /** How long links wait for room in a queue that takes nothing more, before their page goes back. */
    readonly fullHoldMs: number
    /** How long that page then waits. */
    readonly postponeMs: number
    /** How long forgetting a page waits for a filter that does not answer. */
    readonly forgetHoldMs: number
    /** The pause between two tries of a step that a server cannot do now: at first, and at most. */
    readonly waitMsMin: number
    readonly waitMsMax: number
  }
  /** An engine with nothing to do: how soon it looks again. */
  readonly engine: {
    /** LEASE_WAIT_MS_MAX. */
    readonly leaseWaitMaxMs: number
    /** How long others wait for a suspect, and it for others, before both go on: most pages end sooner. Four times as long with each further lost worker. */
    readonly suspectPatienceMs: number
    readonly seedsPollMs: number
    readonly roomKeptMs: number
  }
  /** Connections, and commands that wait for one. */
  readonly redis: {
    /** A lost connection is tried again no less often. */
    readonly reconnectMsMax: number
    /** The same where another server takes the place of one that is lost. */
    readonly sparedReconnectMsMax: number
    /** How often a server is asked how full it is. */
    readonly memoryLookEveryMs: number
    /** A server that answers, and has no use for the crawl (a replica now, full of connections), is waited for so long: a fail-over may be under way. */
    readonly troubleMsMax: number
  }
}

/** What every crawl has, unless a test scales it. */
export const PROTOCOL_TIMES: ProtocolTimes = frozen({
  turns: {
    lockMs: 6000,
    renewEveryMs: 2000,
    stalledCheckEveryMs: 2000,
    stalledGapMs: 3000,
    backMs: 4500,
    sparedBackMs: 2500,
    stalledSoonMs: 500,
    blockMsMax: 10_000,
    blockLateMs: 5000,
    restMs: 5000,
    tendEveryMs: 100,
    sweepEveryMs: 4000,
    sweepMissedMs: 4800,
    sweepLookEveryMs: 400,
    sweptMsMin: 3000,
    owedMs: 3000,
    yieldAfterMs: 250,
    quotaMs: 5000,
    lookAgainMs: 500,
    lingerMs: 2000,
    retryMs: 200,
    unstartedRetryMs: 500,
    fullRetryMs: 500,
    settledKeptMs: 30_000,
    emptinessHeardMs: 6000,
    rejectedMs: 5000,
    othersFirstMs: 200,
  },
  jobs: {
    lockMs: 6000,
    renewEveryMs: 1500,
    lockedMsMin: 1000,
    readyMsMax: 3000,
    reclaimEveryMs: 1000,
    reclaimGapMs: 4000,
    reclaimPauseMs: 3500,
    settledKeptMs: 30_000,
    blockMs: 1000,
    fetchMsMax: 20_000,
    errorPauseMs: 1000,
    rejectedMs: 5000,
    othersFirstMs: 200,
  },
  shards: { lookEveryMs: 2000, endLookMs: 150, keptMs: 5000 },
  record: {
    startLeaseMs: 6000,
    startRenewEveryMs: 2000,
    startPollMs: 1000,
    todoLeaseMs: 6000,
    todoRenewEveryMs: 2000,
    todoPollMs: 200,
  },
  members: {
    beatEveryMs: 3000,
    beatOftenMs: 1000,
    hostListsEveryMs: 9000,
    sampleEveryMs: 10_000,
    answerLateMs: 3000,
    silenceMs: 6000,
    lostAfterMs: 10_000,
  },
  keeper: {
    tellEveryMs: 500,
    blockedToldMs: 3000,
    lookEveryMs: 500,
    lateMs: 1500,
    renewEveryMs: 2000,
    answerMsMax: 2000,
  },
  seeds: { leaseMs: 10_000, ripeMs: 5000, runIdAgeMs: 1000 },
  filter: {
    settleWithinMs: 300,
    markKeptMs: 5000,
    runIdEveryMs: 1000,
    lostCommitMs: 20_000,
    trustMs: 1000,
    crawlGoneMs: 600_000,
    crawlNotedEveryMs: 60_000,
    silenceMs: 6000,
    heardEveryMs: 1000,
  },
  doubts: { ownMs: 100, lookEveryMs: 500, waitMs: 400, heldMs: 5000 },
  scheduler: {
    highWaterHoldMs: 3000,
    highWaterLookMs: 250,
    fullHoldMs: 5000,
    postponeMs: 15_000,
    forgetHoldMs: 10_000,
    waitMsMin: 100,
    waitMsMax: 2000,
  },
  engine: { leaseWaitMaxMs: 1000, suspectPatienceMs: 2000, seedsPollMs: 300, roomKeptMs: 1000 },
  redis: { reconnectMsMax: 2000, sparedReconnectMsMax: 500, memoryLookEveryMs: 1000, troubleMsMax: 60_000 },
})

/** Returns all times multiplied by `factor`, in whole milliseconds, none below one: 0.05 makes a lock of 300 ms. */
export function scaledTimes(factor: number): ProtocolTimes {
  const scaled = (times: object): object =>
    Object.fromEntries(
      Object.entries(times).map(([name, ms]) => [name, Math.max(1, Math.round((ms as number) * factor))]),
    )
  const groups = Object.entries(PROTOCOL_TIMES).map(([name, group]) => [name, scaled(group as object)])
  return frozen(Object.fromEntries(groups) as ProtocolTimes)
}

function frozen(times: ProtocolTimes): ProtocolTimes {
  for (const group of Object.values(times)) Object.freeze(group)
  return Object.freeze(times)
}
