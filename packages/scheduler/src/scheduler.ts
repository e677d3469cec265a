/**
 * One policy over dupefilter and queue.
 *
 * A page's links travel as one batch: one question to the filter, and the new ones go to the queue in the commit that removes the
 * page. The order of writes, and what a crash between two of them costs:
 *
 *     ask the filter (asker: the page)     crash after it: the page runs again, asks as the same asker, and is
 *                                          told "new" again for the same links. Nothing is lost.
 *     commit: children in, page out        one step; a crash before or after it is one of the other two cases.
 *     settle the asker                     crash before it: the links stay noted as the page's; they are queued, so
 *                                          nobody needs to be told "new" for them. Nothing is lost or repeated.
 *
 * A page that goes back instead (no room, a retry, another worker's) frees the links that it was told are new before it is queued
 * again: the next time it may yield other links, and the next asker of the first ones must be told "new". A crash: as above.
 *
 * start() and seeds have no page to commit; their requests are pushed under an asker of their own, `start/<n>` or `seed/<id>`:
 *
 *     ask the filter                       crash after it: start() is run on from element n, the seed's message is
 *                                          handed out again: the same asker asks, and is told "new" again.
 *     push                                 one step, which notes the ids under the asker; for elements of start(), some
 *                                          hundred together, it moves the start cursor. Crash after it: what is pushed
 *                                          again is noted, or lies before the cursor, and is skipped.
 *     settle the asker in the filter       crash before it: as above; the request is queued.
 *     acknowledge the seed (the engine)    crash before it: the message comes again, as above. A seed goes past the filter, as
 *                                          a rule, so the queue keeps its note until the message is removed, and is
 *                                          settled by whoever removes it.
 *
 * Filter and queue may be on two servers that lose their last second each on its own: the filter keeps its notes of an
 * asker until the queue's server has run on for some seconds (dupefilter package), and seeds are removed only then.
 * A queue that has come back older while links were on their way to it may lack what another page has queued, and this page was
 * told "seen" for. So it asks once more, and queues the rest (`#pushOutdated`). A crash before that loses a link only where the other
 * page, which runs again, does not show it any more.
 *
 * A worker that has stood still for as long as a lock lasts makes sure that it still has the page, before it asks the filter.
 * A page may stand in the queue twice: see handing-on.ts. What the filter says is in doubt is set aside and asked about again: see
 * links-in-doubt.ts. A page that could not be fetched may be forgotten: see page-forgetting.ts.
 *
 * A server that is away or full is waited for; nothing is dropped for it. When the queue is nearly full, links wait a while, so
 * that pages without new links make room; a page whose links find none at all goes back and is fetched again later.
 */

import {
  type CommitOptions,
  type Crawler,
  type DupeFilter,
  type HostNews,
  type InFlight,
  isPromise,
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
  type StatsCollector,
} from '@webloom/core'
import { HandingOn } from './handing-on.ts'
import { HighWater } from './high-water.ts'
import { LinkSieve } from './link-sieve.ts'
import { LinksInDoubt, pushOnce } from './links-in-doubt.ts'
import { openFilter } from './open-filter.ts'
import { PageForgetting, START_PAGE } from './page-forgetting.ts'
import { isPassing, type Patience, patiently, throwLostOr } from './patience.ts'
import { tellLost } from './queue-losses.ts'
import type { SchedulerOptions, SchedulerParts } from './scheduler-options.ts'

export class Scheduler {
  readonly #filter: DupeFilter
  readonly #queue: RequestQueue
  readonly #forgetting: PageForgetting
  readonly #stats: StatsCollector
  readonly #logger: Logger
  readonly #times: ProtocolTimes['scheduler']
  readonly #keys: Readonly<Record<'enqueued' | 'dequeued', readonly string[]>>
  readonly #onOpen: SchedulerParts['onOpen']
  readonly #onClose: SchedulerParts['onClose']
  readonly #highWater: HighWater
  readonly #sieve: LinkSieve
  readonly #doubts: LinksInDoubt
  readonly #handingOn = new HandingOn()

  constructor(options: SchedulerOptions) {
    this.#times = (options.times ?? PROTOCOL_TIMES).scheduler
    this.#filter = options.filter
    this.#queue = options.queue
    this.#forgetting = new PageForgetting({ ...options, times: this.#times })
    this.#onOpen = options.onOpen
    this.#onClose = options.onClose
    this.#highWater = new HighWater({ ...options, times: this.#times })
    this.#stats = options.stats
    this.#logger = options.logger
    this.#sieve = new LinkSieve({
      ...options,
      times: this.#times,
      logEveryDuplicate: options.logEveryDuplicate ?? false,
    })
    this.#doubts = new LinksInDoubt({
      ...options,
      sieve: this.#sieve,
      onQueued: (count) => this.#count('enqueued', count),
    })
    options.queue.onAskersLost?.((askers) => void tellLost(askers, { ...options, times: this.#times }))
    const { name } = options.queue.describe()
    this.#keys = {
      enqueued: ['scheduler/enqueued', `scheduler/enqueued/${name}`],
      dequeued: ['scheduler/dequeued', `scheduler/dequeued/${name}`],
    }
  }

  static fromCrawler(crawler: Crawler, parts: SchedulerParts): Scheduler {
    const { settings, stats, signals, logger, spider, times } = crawler
    const logEveryDuplicate = settings.getBool('DUPEFILTER_DEBUG')
    return new this({ ...parts, stats, signals, logger, spider, logEveryDuplicate, ...(times && { times }) })
  }

  /** Waits for a server that is full, or to know whether the crawl may be joined, until `signal` fires; then it resolves, and the crawl cannot go on. */
  async open(signal?: AbortSignal): Promise<void> {
    try {
      await openFilter(this.#filter, { logger: this.#logger, times: this.#times, signal })
      await this.#queue.open()
      await this.#patiently('joining the crawl', async () => this.#onOpen?.(signal), { signal })
    } catch (error) {
      if (signal?.aborted && isPassing(error)) return
      throw error
    }
    const { waiting, delayed } = await this.#queue.counts()
    if (waiting + delayed > 0)
      this.#logger.info(`${waiting + delayed} requests of this crawl are queued already: going on with them`)
    this.#doubts.open()
  }

  /**
   * Requests that this worker holds go back to the queue before it leaves the crawl, and so before the last one empties it: a queue
   * that was emptied first would not know them, and would count as one that has come back older.
   */
  async close(): Promise<void> {
    try {
      await this.#doubts.close()
      await this.#queue.close()
      await this.#onClose?.()
    } finally {
      await this.#filter.close()
    }
  }

  /**
   * Queues a request of `start()` or a seed; returns how many were new, 0 or 1. The queue keeps the asker noted: it is
   * settled there when what brought the request is gone for good.
   *
   * With `dontFilter` it goes past the filter, but leaves its mark there: otherwise a page that links back to it would have it
   * fetched a second time, as Scrapy does. Its id is not the asker's: the page asks about its links under its own id, and a link to
   * itself, asked about by the asker who first brought it, would count as new.
   */
  async enqueueStart(request: Request, asker: string): Promise<number> {
    const idOf = () => asker + START_PAGE
    const fresh = await this.#sieve.fresh([request], asker, { marksAll: true, idOf })
    return this.#push([request], { fresh, asker, marksAll: true })
  }

  /**
   * The same for elements of start(), the first of which has the number `from`; undefined stands for one that is not a request.
   * Each asks the filter as an asker of its own, so that it does not matter how they were put together when start() is run
   * again: all questions travel together, and what is new goes to the queue in one step.
   */
  async enqueueStarts(batch: readonly (Request | undefined)[], from: number): Promise<number> {
    const elements = this.#sieve.distinct(batch)
    const askerOf = (n: number) => `start/${from + n}`
    const fresh = await Promise.all(
      elements.map(async (request, n) => {
        if (!request) return []
        const idOf = () => askerOf(n) + START_PAGE
        const found = await this.#sieve.fresh([request], askerOf(n), { marksAll: true, idOf })
        return found.map((queued) => ({ ...queued, element: from + n }))
      }),
    )
    const keptEnds = elements.map((request, n) => request && this.#filter.keepUnsettled?.(askerOf(n)))
    let added: number
    try {
      added = await this.#patiently('queueing requests', () =>
        this.#queue.pushStart(fresh.flat(), from, from + elements.length),
      )
    } finally {
      for (const end of keptEnds) end?.()
    }
    for (const [n, request] of elements.entries())
      if (request) added += await this.#pushOutdated(askerOf(n), [request], fresh[n]!, true)
    await Promise.all(elements.map((request, n) => request && this.#filter.settled(askerOf(n))))
    this.#doubtsMayEnd(fresh.flat())
    this.#count('enqueued', added)
    return added
  }

  /** Queues the new ones of `requests`, a part of what one page yields; returns how many there were. */
  async enqueue(requests: readonly Request[], asker: string): Promise<number> {
    const fresh = await this.#sieve.fresh(requests, asker)
    const added = await this.#push(requests, { fresh, asker, marksAll: false })
    await this.#patiently('queueing requests', () => this.#queue.settled(asker))
    return added
  }

  async #push(
    requests: readonly Request[],
    { fresh, asker, marksAll }: { fresh: readonly QueuedRequest[]; asker: string; marksAll: boolean },
  ): Promise<number> {
    const keptEnds = this.#filter.keepUnsettled?.(asker)
    let added: number
    try {
      added = await this.#patiently('queueing requests', () => this.#queue.push(fresh, asker))
    } finally {
      keptEnds?.()
    }
    added += await this.#pushOutdated(asker, requests, fresh, marksAll)
    await this.#filter.settled(asker)
    this.#doubtsMayEnd(fresh)
    this.#count('enqueued', added)
    return added
  }

  /**
   * Queues what the asker was told is seen, and what may not be queued any more: the queue was away while its links were on their way
   * there. If it has come back older, the page that had queued such a link runs again, and need not show it. Resolves to how many were added.
   */
  async #pushOutdated(
    asker: string,
    requests: readonly Request[],
    fresh: readonly QueuedRequest[],
    marksAll: boolean,
  ): Promise<number> {
    const mayBe = this.#filter.mayBeOutdated?.(asker)
    if (!(isPromise(mayBe) ? await mayBe : mayBe)) return 0
    const more = await this.#sieve.freshSince(requests, asker, fresh, { marksAll })
    if (more.length === 0) return 0
    this.#doubts.noted(more)
    return pushOnce(this.#queue, more, (step) => this.#patiently('queueing links', step))
  }

  /** Resolves to up to `max` requests to fetch now; to none when no request may go for a while, or none can come any more. */
  async next(max: number, signal?: AbortSignal): Promise<Lease[]> {
    let leases: Lease[]
    try {
      leases = await this.#patiently('taking requests', () => this.#queue.lease(max, signal), { signal })
    } catch (error) {
      // A crawl that is told to end does not wait for a server that is away.
      if (signal?.aborted && isPassing(error)) return []
      throw error
    }
    this.#count('dequeued', leases.length)
    for (const { redelivered, request } of leases) {
      if (redelivered) this.#stats.inc('scheduler/redelivered')
      putUnderRules(request, this.#sieve.urlRules)
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
    // It is not settled, which would cost more than most pages without a link are worth. What an earlier run of it, on a worker
    // that is gone, was told is new is free for the next asker when that asker has been silent for long.
    if (requests.length === 0)
      return this.#untilTaken(lease, 'ending a page', () => this.#queue.commit(lease, options))
    const others = this.#handingOn.begin(lease)
    if (others) await others
    try {
      await this.#commitWithLinks(lease, requests, { marksAll, ...options })
    } catch (error) {
      throwLostOr(error, lease)
    } finally {
      this.#handingOn.end(lease)
    }
  }

  async #commitWithLinks(
    lease: Lease,
    requests: readonly Request[],
    { marksAll, ...options }: Omit<CommitOptions, 'children'> & { marksAll: boolean },
  ): Promise<void> {
    const { signal } = lease
    // When the crawl has ended meanwhile, the filter is emptied: what was asked of it now would stay there.
    const renewing = this.#queue.confirm?.(lease)
    if (renewing) await this.#patiently('renewing a lease', renewing, { signal })
    const children = await this.#sieve.fresh(requests, lease.id, { marksAll, signal })
    const what = 'queueing links'
    // While the queue makes this page wait, its links must not become another page's.
    const keptEnds = children.length > 0 ? this.#filter.keepUnsettled?.(lease.id) : undefined
    try {
      if (children.length > 0) await this.#highWater.hold(signal)
      await this.#patiently(what, () => this.#queue.commit(lease, { ...options, children }), {
        signal,
        forMs: this.#times.fullHoldMs,
      })
    } catch (error) {
      await this.#tellGivenBack(lease)
      if (!isPassing(error)) throw error
      this.#stats.inc('scheduler/postponed')
      return this.#untilTaken(lease, what, () =>
        this.#queue.retry(lease, lease.request, this.#times.postponeMs),
      )
    } finally {
      keptEnds?.()
    }
    const more = this.#filter.mayBeOutdated
      ? await this.#pushOutdated(lease.id, requests, children, marksAll)
      : 0
    await this.#filter.settled(lease.id)
    this.#doubtsMayEnd(children)
    this.#count('enqueued', children.filter(({ inDoubt }) => !inDoubt).length + more)
  }

  /** The request is handed out again, changed, as `when` says. */
  async retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    await this.#goBack(lease, () => this.#queue.retry(lease, request, when, host))
    this.#count('enqueued', 1)
  }

  requeue(lease: Lease): Promise<void> {
    return this.#goBack(lease, () => this.#queue.requeue(lease))
  }

  /** The next link to the committed page of `lease` will be told "new". */
  forget(lease: Lease): Promise<void> {
    return this.#forgetting.forget(lease)
  }

  /** This worker cannot do the request; another one may. Resolves to whether its page is back on its schedule, by the visit. */
  async reject(lease: Lease, reason: string, visit?: CommitOptions['visit']): Promise<boolean> {
    const isBack = await this.#goBack(lease, () => this.#queue.reject(lease, reason, visit))
    this.#stats.inc('scheduler/refused')
    return isBack
  }

  /** True when `start()` and seeds may bring more: fewer than `mark` requests wait, and the queue's store is not nearly full. */
  async hasRoom(mark: number): Promise<boolean> {
    const { waiting } = await this.counts()
    return waiting < mark && !(await this.#highWater.isNearlyFull())
  }

  /** Resolves to the requests that the queue counts as in flight for this worker; to none where the two cannot differ. */
  async inFlight(): Promise<readonly InFlight[]> {
    return (await this.#queue.inFlight?.()) ?? []
  }

  /** Resolves to the counts, and waits for a queue that cannot tell now. */
  async counts(): Promise<QueueCounts> {
    return this.#patiently('counting requests', () => this.#queue.counts())
  }

  /** Resolves to true when no worker has anything left to do. Waits for a queue that cannot tell now, until `signal` fires. */
  async isEmpty(signal: AbortSignal): Promise<boolean> {
    return this.#patiently('looking whether anything is left', () => this.#queue.isEmpty(), { signal })
  }

  /** Tells the filter that links which this page was told are new are free again. */
  async #tellGivenBack({ id }: Lease): Promise<void> {
    await this.#filter.givenBack?.(id)
    this.#doubts.soon()
  }

  /** The asker of these requests is settled: some doubt may be over. */
  #doubtsMayEnd(found: readonly QueuedRequest[]): void {
    this.#doubts.noted(found)
    this.#doubts.soon()
  }

  /** Ends a lease whose page yields no links now. */
  async #goBack<T>(lease: Lease, step: () => Promise<T>): Promise<T> {
    await this.#tellGivenBack(lease)
    return this.#untilTaken(lease, 'putting a page back', step)
  }

  /** Waits with an outcome for a server that is away or full, as long as this worker has the lease. */
  #untilTaken<T>(lease: Lease, what: string, step: () => Promise<T>): Promise<T> {
    return this.#patiently(what, step, lease).catch((error: unknown) => throwLostOr(error, lease))
  }

  /** Waits with the step for a server that is away or full. */
  #patiently<T>(
    what: string,
    step: () => Promise<T>,
    { signal, forMs }: Pick<Patience, 'signal' | 'forMs'> = {},
  ): Promise<T> {
    return patiently(step, { logger: this.#logger, times: this.#times, what, signal, forMs })
  }

  #count(what: 'enqueued' | 'dequeued', count: number): void {
    if (count === 0) return
    for (const key of this.#keys[what]) this.#stats.inc(key, count)
  }
}
