/**
 * One policy over dupefilter and queue.
 *
 * A page's links travel as one batch: one question to the filter, and the new ones go to the queue in the commit
 * that removes the page. The order of writes, and what a crash between two of them costs:
 *
 *     ask the filter (owner: the page)     crash after it: the page runs again, asks as the same owner, and is
 *                                          told "new" again for the same links. Nothing is lost.
 *     commit: children in, page out        one step; a crash before or after it is one of the other two cases.
 *     settle the owner                     crash before it: the links stay noted as the page's; they are queued, so
 *                                          nobody needs to be told "new" for them. Nothing is lost or repeated.
 *
 * A page that goes back instead (no room, a retry, another worker's) gives back what it was told is new before it is queued
 * again: the next time it may yield other links, and whoever meets the first ones must be told "new". Crash after it: as above.
 *
 * start() and seeds have no page to commit; their requests are pushed under an owner of their own, `start/<n>` or
 * `seed/<id>`:
 *
 *     ask the filter                       crash after it: start() is run on from element n, the seed's message is
 *                                          handed out again: the same owner asks, and is told "new" again.
 *     push                                 one step, which notes the ids under the owner; for elements of start(), some
 *                                          hundred together, it moves the start cursor. Crash after it: what is pushed
 *                                          again is noted, or lies before the cursor, and is skipped.
 *     settle the owner                     crash before it: as above; the request is queued.
 *     acknowledge the seed (the engine)    crash before it: the message comes again, as above.
 *
 * Filter and queue may be on two servers that lose their last second each on its own: the filter keeps its notes of an
 * owner until the queue's server has run on for some seconds (dupefilter package), and seeds are removed only then.
 *
 * A page that could not be had is forgotten where DUPEFILTER_RELEASE_ON_FAILURE asks for it:
 *
 *     commit: page out                     the queue knows a request by its id; while the page is in it, a second one met
 *                                          elsewhere would count as the same and be gone with it.
 *     forget it                            crash before it: the page stays "seen", as without that setting. The worker
 *                                          whose commit was taken is the only one that forgets, so it happens once.
 *
 * A server that is away or full is waited for; nothing is dropped for it. When the queue is nearly full, links wait for a
 * while before they are let in, so that pages without new links make room; a page whose links find none at all goes back
 * and is fetched again later.
 */

import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CommitOptions,
  type Crawler,
  type DupeFilter,
  type Fingerprinter,
  type HostNews,
  type InFlight,
  InvalidUrl,
  type Lease,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  putUnderRules,
  type QueueCounts,
  type QueuedRequest,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type Signals,
  type SpiderLike,
  type StatsCollector,
  type UrlRules,
  urlRulesOf,
} from '@webloom/core'
import { isPassing, patiently } from './patience.ts'

/** What follows the owner in the id of a request of start() or a seed that goes past the filter. */
const START_PAGE = '/page'

/** Empties the queue, and the filter unless what was met is to stay. */
export type Empty = (keepsMet: boolean) => Promise<void>

export interface SchedulerParts {
  readonly filter: DupeFilter
  readonly queue: RequestQueue
  /** Gives requests their ids. The filter has its own, which may follow other rules. */
  readonly fingerprinter: Fingerprinter
  /** Called before anything is queued, with what empties queue and filter, to be called where that is asked for. */
  readonly emptyOnOpen?: (empty: Empty) => Promise<void>
  /** The same when this process leaves the crawl. */
  readonly emptyOnClose?: (empty: Empty) => Promise<void>
  /** REDIS_HIGH_WATER: whether what keeps the queue is nearly full. */
  readonly isNearlyFull?: () => Promise<boolean>
}

export interface SchedulerOptions extends SchedulerParts {
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  readonly spider: SpiderLike
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** DUPEFILTER_DEBUG: every filtered request is logged, not only the first. */
  readonly logEveryDuplicate?: boolean
}

export class Scheduler {
  readonly #filter: DupeFilter
  readonly #queue: RequestQueue
  readonly #fingerprinter: Fingerprinter
  readonly #stats: StatsCollector
  readonly #signals: Signals
  readonly #logger: Logger
  readonly #spider: SpiderLike
  readonly #logEveryDuplicate: boolean
  readonly #times: ProtocolTimes['scheduler']
  readonly #keys: Readonly<Record<'enqueued' | 'dequeued', readonly string[]>>
  readonly #emptyOnOpen: SchedulerParts['emptyOnOpen']
  readonly #emptyOnClose: SchedulerParts['emptyOnClose']
  readonly #isNearlyFull: () => Promise<boolean>
  #duplicateLogged = false

  constructor(options: SchedulerOptions) {
    this.#times = (options.times ?? PROTOCOL_TIMES).scheduler
    this.#filter = options.filter
    this.#queue = options.queue
    this.#fingerprinter = options.fingerprinter
    this.#emptyOnOpen = options.emptyOnOpen
    this.#emptyOnClose = options.emptyOnClose
    this.#isNearlyFull = options.isNearlyFull ?? (async () => false)
    this.#stats = options.stats
    this.#signals = options.signals
    this.#logger = options.logger
    this.#spider = options.spider
    this.#logEveryDuplicate = options.logEveryDuplicate ?? false
    const { name } = options.queue.describe()
    this.#keys = {
      enqueued: ['scheduler/enqueued', `scheduler/enqueued/${name}`],
      dequeued: ['scheduler/dequeued', `scheduler/dequeued/${name}`],
    }
  }

  static fromCrawler(
    { settings, stats, signals, logger, spider, times }: Crawler,
    parts: SchedulerParts,
  ): Scheduler {
    const logEveryDuplicate = settings.getBool('DUPEFILTER_DEBUG')
    return new Scheduler({
      ...parts,
      stats,
      signals,
      logger,
      spider,
      logEveryDuplicate,
      ...(times && { times }),
    })
  }

  async open(): Promise<void> {
    await this.#filter.open()
    await this.#queue.open()
    await this.#emptyOnOpen?.((keepsMet) => this.#empty(keepsMet))
    const { waiting, delayed } = await this.#queue.counts()
    if (waiting + delayed > 0)
      this.#logger.info(`going on with a crawl that has ${waiting + delayed} requests queued`)
  }

  async close(): Promise<void> {
    await this.#emptyOnClose?.((keepsMet) => this.#empty(keepsMet))
    await this.#queue.close()
    await this.#filter.close()
  }

  async #empty(keepsMet: boolean): Promise<void> {
    await this.#queue.clear()
    if (!keepsMet) await this.#filter.clear()
  }

  /**
   * Queues a request of `start()` or a seed; answers how many were new, 0 or 1.
   *
   * With `dontFilter` it goes past the filter, but leaves its mark there: otherwise a page that links back to it would
   * have it fetched a second time, as Scrapy does. Its id is not the owner's: the page asks about its links under its
   * own id, and a link to itself, asked about by the owner who first brought it, would count as new.
   */
  async enqueueStart(request: Request, owner: string): Promise<number> {
    return this.#push(
      await this.#fresh([request], owner, { marksAll: true, idOf: () => owner + START_PAGE }),
      owner,
    )
  }

  /**
   * The same for elements of start(), the first of which has the number `from`; undefined stands for one that is no request.
   * Each asks the filter as an owner of its own, so that it does not matter how they were put together when start() is run
   * again: all questions travel together, and what is new goes to the queue in one step.
   */
  async enqueueStarts(elements: readonly (Request | undefined)[], from: number): Promise<number> {
    const ownerOf = (n: number) => `start/${from + n}`
    const fresh = await Promise.all(
      elements.map(async (request, n) => {
        if (!request) return []
        const idOf = () => ownerOf(n) + START_PAGE
        const found = await this.#fresh([request], ownerOf(n), { marksAll: true, idOf })
        return found.map((queued) => ({ ...queued, element: from + n }))
      }),
    )
    const added = await patiently(() => this.#queue.pushStart(fresh.flat(), from, from + elements.length), {
      logger: this.#logger,
      times: this.#times,
      what: 'queueing requests',
    })
    await Promise.all(elements.map((request, n) => request && this.#filter.settled(ownerOf(n))))
    this.#count('enqueued', added)
    return added
  }

  /** Queues the new ones of `requests`, a part of what one page yields; answers how many there were. */
  async enqueue(requests: readonly Request[], owner: string): Promise<number> {
    return this.#push(await this.#fresh(requests, owner), owner)
  }

  async #push(fresh: readonly QueuedRequest[], owner: string): Promise<number> {
    const added = await patiently(() => this.#queue.push(fresh, owner), {
      logger: this.#logger,
      times: this.#times,
      what: 'queueing requests',
    })
    await this.#settle(owner)
    this.#count('enqueued', added)
    return added
  }

  /** Up to `max` requests to fetch now; none when nothing may go for a while or nothing can come any more. */
  async next(max: number, signal?: AbortSignal): Promise<Lease[]> {
    const leases = await patiently(() => this.#queue.lease(max, signal), {
      logger: this.#logger,
      times: this.#times,
      what: 'taking requests',
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      // Whoever asks for the end does not wait for a server that is away.
      if (signal?.aborted && isPassing(error)) return []
      throw error
    })
    this.#count('dequeued', leases.length)
    for (const { redelivered, request } of leases) {
      if (redelivered) this.#stats.inc('scheduler/redelivered')
      putUnderRules(request, this.#urlRules)
    }
    return leases
  }

  /**
   * The page is done: its new links are queued and it is removed, in one step.
   *
   * @param options `marksAll`: those with `dontFilter` leave their mark in the filter too, as a redirect's target should
   */
  async commit(
    lease: Lease,
    requests: readonly Request[],
    { marksAll = false, ...options }: Omit<CommitOptions, 'children'> & { marksAll?: boolean } = {},
  ): Promise<void> {
    if (requests.length === 0) return this.#queue.commit(lease, options)
    const children = await this.#fresh(requests, lease.id, { marksAll, signal: lease.signal })
    if (children.length > 0) await this.#highWater(lease.signal)
    const patience = {
      logger: this.#logger,
      times: this.#times,
      signal: lease.signal,
      what: 'queueing links',
    }
    try {
      await patiently(() => this.#queue.commit(lease, { ...options, children }), {
        ...patience,
        forMs: this.#times.fullHoldMs,
      })
    } catch (error) {
      await this.#filter.givenBack?.(lease.id)
      if (!isPassing(error)) throw error
      this.#stats.inc('scheduler/postponed')
      return patiently(() => this.#queue.retry(lease, lease.request, this.#times.postponeMs), patience)
    }
    await this.#filter.settled(lease.id)
    this.#count('enqueued', children.length)
  }

  /** Links wait here for others to make room, for a while: then they may use the rest. */
  async #highWater(signal: AbortSignal): Promise<void> {
    const until = performance.now() + this.#times.highWaterHoldMs
    while (!signal.aborted && performance.now() < until && (await this.#isNearlyFull())) {
      this.#stats.inc('scheduler/high_water_waits')
      await sleep(this.#times.highWaterLookMs, undefined, { signal }).catch(() => {})
    }
  }

  /** The same request will be handed out again, changed, no earlier than `delayMs` from now. */
  async retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    await this.#filter.givenBack?.(lease.id)
    await this.#queue.retry(lease, request, when, host)
    this.#count('enqueued', 1)
  }

  async release(lease: Lease): Promise<void> {
    await this.#filter.givenBack?.(lease.id)
    await this.#queue.release(lease)
  }

  /**
   * The next link to the committed page of `lease` will be told "new". Only what left its mark in the filter is taken out
   * of it: a filter that counts would otherwise forget others.
   */
  async forget({ id, request }: Lease): Promise<void> {
    const isMarked = id === this.#fingerprinter.fingerprint(request) || id.endsWith(START_PAGE)
    if (!isMarked || !this.#filter.forget) return
    try {
      await patiently(async () => this.#filter.forget?.(request), {
        logger: this.#logger,
        times: this.#times,
        what: 'forgetting a page that could not be had',
        forMs: this.#times.forgetHoldMs,
      })
      this.#stats.inc('dupefilter/forgotten')
    } catch (error) {
      if (!isPassing(error)) throw error
      this.#stats.inc('dupefilter/not_forgotten')
      this.#logger.warn({ url: request.url, err: error }, 'the page could not be forgotten and stays seen')
    }
  }

  /** This worker cannot do the request; another may. */
  async refuse(lease: Lease, reason: string): Promise<void> {
    await this.#filter.givenBack?.(lease.id)
    await this.#queue.refuse(lease, reason)
    this.#stats.inc('scheduler/refused')
  }

  /** Whether `start()` and seeds may bring more: fewer than `mark` requests wait, and what keeps them is not nearly full. */
  async hasRoom(mark: number): Promise<boolean> {
    const { waiting } = await this.counts()
    return waiting < mark && !(await this.#isNearlyFull())
  }

  /** What the queue has in flight in this worker's name; none where it cannot differ from what this worker has. */
  async inFlight(): Promise<readonly InFlight[]> {
    return (await this.#queue.inFlight?.()) ?? []
  }

  /** Waits for a queue that cannot tell now. */
  async counts(): Promise<QueueCounts> {
    return patiently(() => this.#queue.counts(), {
      logger: this.#logger,
      times: this.#times,
      what: 'counting requests',
    })
  }

  /** Whether nothing is left to do, for anybody. Waits for a queue that cannot tell now, until `signal` fires. */
  async isEmpty(signal: AbortSignal): Promise<boolean> {
    return patiently(() => this.#queue.isEmpty(), {
      logger: this.#logger,
      times: this.#times,
      what: 'looking whether anything is left',
      signal,
    })
  }

  /** Those the filter has not met, and those that go past it (`dontFilter`), with their ids, in order. */
  async #fresh(
    found: readonly Request[],
    owner: string,
    {
      marksAll = false,
      idOf = derivedId,
      signal,
    }: { marksAll?: boolean; idOf?: typeof derivedId; signal?: AbortSignal } = {},
  ): Promise<QueuedRequest[]> {
    const requests = found.filter((request) => this.#hasFingerprint(request))
    const asked = marksAll ? requests : requests.filter(({ dontFilter }) => !dontFilter)
    const seen = asked.length > 0 ? await this.#seen(asked, owner, signal) : []
    const fresh: QueuedRequest[] = []
    const met: Request[] = []
    let next = 0
    for (let ordinal = 0; ordinal < requests.length; ordinal++) {
      const request = requests[ordinal]!
      const isMet = marksAll || !request.dontFilter ? seen[next++] : false
      if (request.dontFilter || this.#filter.letsAllPass) fresh.push({ id: idOf(owner, ordinal), request })
      else if (isMet) met.push(request)
      else fresh.push({ id: this.#fingerprinter.fingerprint(request), request })
    }
    if (met.length > 0) this.#drop(met)
    if (this.#signals.listened('requestScheduled')) {
      for (const { request } of fresh)
        await this.#signals.send('requestScheduled', { request, spider: this.#spider })
    }
    return fresh
  }

  #seen(requests: readonly Request[], owner: string, signal: AbortSignal | undefined): Promise<boolean[]> {
    return patiently(() => this.#filter.requestsSeen(requests, owner), {
      logger: this.#logger,
      times: this.#times,
      what: 'asking the dupefilter',
      ...(signal && { signal }),
    })
  }

  /** Whose rules this crawl goes by: its filter may have been begun by others than the newest. */
  get #urlRules(): UrlRules {
    return this.#fingerprinter.urlRules?.current ?? urlRulesOf(undefined)
  }

  /**
   * False for a request on which a FINGERPRINTER of the user's own throws, or whose URL the crawl's rules refuse: it is
   * given up, the others are not.
   */
  #hasFingerprint(request: Request): boolean {
    try {
      putUnderRules(request, this.#urlRules)
      this.#fingerprinter.fingerprint(request)
      return true
    } catch (error) {
      this.#stats.inc('scheduler/no_fingerprint_count')
      const why = error instanceof InvalidUrl ? 'URL_RULES refuse this URL' : 'FINGERPRINTER threw'
      this.#logger.error({ url: request.url, err: error }, `${why}; the request is not made`)
      return false
    }
  }

  async #settle(owner: string): Promise<void> {
    await this.#filter.settled(owner)
    await this.#queue.settled(owner)
  }

  #drop(met: readonly Request[]): void {
    this.#stats.inc('dupefilter/filtered', met.length)
    if (this.#signals.listened('requestDropped')) {
      for (const request of met) void this.#signals.send('requestDropped', { request, spider: this.#spider })
    }
    if (this.#logEveryDuplicate) {
      for (const { url, method } of met) this.#logger.debug({ url, method }, 'filtered duplicate request')
    } else if (!this.#duplicateLogged) {
      this.#duplicateLogged = true
      const { url, method } = met[0]!
      this.#logger.debug(
        { url, method },
        'filtered duplicate request; further ones are only counted (DUPEFILTER_DEBUG=true shows all)',
      )
    }
  }

  #count(what: 'enqueued' | 'dequeued', count: number): void {
    if (count === 0) return
    for (const key of this.#keys[what]) this.#stats.inc(key, count)
  }
}

/** The id of a request that has no fingerprint of its own: the same again when its parent's callback runs again. */
function derivedId(owner: string, ordinal: number): string {
  return hash('sha1', `${owner}#${ordinal}`)
}
