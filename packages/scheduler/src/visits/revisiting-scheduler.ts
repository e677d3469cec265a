/**
 * The scheduler of a crawl that comes back to its pages (RECRAWL).
 *
 *     what is due           goes into the hosts' lines, before requests are leased and before the crawl may end
 *     a page ends           its visit is recorded in the step that commits it: it is in a line, or due at its hour, and never neither
 *     a start request       of a page that is known is not made: its page comes when it is due, and after RECRAWL_INTERVAL at the latest. New
 *                           pages are found by start pages, also by those that change too often to be kept fresh, and by those that failed
 *     a seed                of a page that is known makes it due at once
 *     a link                of a page that is known is dropped, also when the filter says that it is new: a filter that lost its last second may
 *                           say so days later. With `dontFilter` it is made, with its last visit
 *                           on a page that has changed, to a page that is gone or fails, makes that due now
 *     a link with a date    (`meta.lastmod`, of a sitemap) may make its page due sooner or later, as far as its host is believed
 *
 * A crash between two steps leaves a page where it was.
 */

import {
  type AskedPage,
  type Crawler,
  carriedVisit,
  carryVisit,
  type DuePages,
  type FoundVisit,
  type HostNews,
  type KeptVisits,
  type KnownHosts,
  type Lease,
  lacksCallback,
  PROTOCOL_TIMES,
  pageHost,
  type Request,
  type RetryWhen,
  type Visit,
  type VisitsUnderWay,
  visitToBytes,
  waitAtMost,
} from '@webloom/core'
import { isPassing, patiently } from '../patience.ts'
import { Scheduler } from '../scheduler.ts'
import type { SchedulerOptions, SchedulerParts } from '../scheduler-options.ts'
import { DuePagesFeed, earlyMsOf } from './due-pages.ts'
import { FirstRequests } from './first-requests.ts'
import { KnownLinks } from './known/known-links.ts'
import { cameFrom, knownAmong } from './known/known-pages.ts'
import { MissingCallbacks } from './known/missing-callbacks.ts'
import { checkFingerprints, fingerprintNow } from './known/same-fingerprints.ts'
import { askAnew } from './known/start-requests.ts'
import { MovingPages } from './moving-pages.ts'
import type { VisitPlanner } from './visit-planner.ts'

interface RevisitingParts {
  readonly visits: KeptVisits
  readonly planner: VisitPlanner
  readonly underWay: VisitsUnderWay
  /** The crawl ends when nothing is left to do. */
  readonly ends: boolean
  /** Which hosts are to be believed. */
  readonly hosts: KnownHosts
  /** What to do about a crawl that cannot go on, in words. */
  readonly howToForget: string
}

export interface RevisitingSchedulerOptions extends SchedulerOptions, RevisitingParts {
  readonly lowWater: number
}

const MINUTE_MS = 60_000
/** Clocks of several machines differ by less. */
const AHEAD_MS_MAX = 60 * MINUTE_MS
/** Pages that are due wait for a line no longer, however many there are. */
const LEFT_AFTER_MS = 24 * 60 * MINUTE_MS
/** A crawl that stays tells of pages without a callback when their links have had so much time to be met. */
const TOLD_AFTER_MS = MINUTE_MS
/** A worker that leaves waits no longer for what it has learned to be noted. */
const NOTED_MS_MAX = 2000

export class RevisitingScheduler extends Scheduler {
  readonly #options: RevisitingSchedulerOptions
  readonly #feed: DuePagesFeed
  readonly #first = new FirstRequests()
  readonly #links: KnownLinks
  readonly #moving: MovingPages
  readonly #callbacks: MissingCallbacks
  /** How much earlier than at its hour a page may be visited. */
  readonly #earlyMs: number
  #hasToldAhead = false

  constructor(options: RevisitingSchedulerOptions) {
    super({
      ...options,
      comingBack: async (requests) => new Set((await knownAmong(requests, options)).keys()),
    })
    this.#options = options
    const { visits, stats, logger, lowWater, planner, ends, fingerprinter } = options
    this.#earlyMs = ends ? earlyMsOf(planner.shortestMs) : 0
    this.#links = new KnownLinks({ ...options, earlyMs: this.#earlyMs })
    const waiting = async () => (await options.queue.counts()).waiting
    const fingerprint = (request: Request, onError?: (error: unknown) => void) =>
      fingerprintNow(request, fingerprinter, onError)
    this.#moving = new MovingPages({ visits, fingerprinter, fingerprint, stats, logger })
    const moveAll = () => this.#moving.due()
    const common = { visits, fingerprint, stats, logger, earlyMs: this.#earlyMs }
    this.#callbacks = new MissingCallbacks({ ...common, spider: options.spider })
    const withCallbacks = (due: DuePages) => this.#callbacks.putOff(due)
    this.#feed = new DuePagesFeed({ ...common, moveAll, withCallbacks, waiting, lowWater })
  }

  static override fromCrawler(
    crawler: Crawler,
    parts: SchedulerParts & RevisitingParts,
  ): RevisitingScheduler {
    const { settings, stats, signals, logger, spider, times } = crawler
    return new this({
      ...parts,
      stats,
      signals,
      logger,
      spider,
      logEveryDuplicate: settings.getBool('DUPEFILTER_DEBUG'),
      lowWater: settings.getInt('START_LOW_WATER'),
      ...(times && { times }),
    })
  }

  override async open(signal?: AbortSignal): Promise<void> {
    await super.open(signal)
    const { visits, fingerprinter, howToForget, planner } = this.#options
    try {
      await this.#waiting(
        'opening visits',
        async () => {
          await checkFingerprints(visits, fingerprinter, howToForget)
          await this.#moving.open(signal)
        },
        signal,
      )
    } catch (error) {
      if (signal?.aborted) return
      throw error
    }
    await this.#unlessAway(() => planner.balance())
  }

  override async next(max: number, signal?: AbortSignal): Promise<Lease[]> {
    const { planner, hosts, underWay, queue, ends } = this.#options
    await this.#unlessAway(async () => {
      await this.#callbacks.look()
      if (!(await this.#first.hold(() => queue.counts()))) await this.#feed.look()
      await planner.balance()
      await hosts.noteSoon()
    })
    // A crawl that ends tells it once, at its end.
    if (!ends) this.#callbacks.tellAfter(TOLD_AFTER_MS)
    const leases = await super.next(max, signal)
    for (const lease of leases) underWay.leased(lease)
    const known = leases.filter(({ request }) => request.hasMeta && request.meta.last_visit !== undefined)
    await this.#unlessAway(() => hosts.meet(known.map(({ request }) => pageHost(request.url))))
    return leases
  }

  override async close(): Promise<void> {
    this.#callbacks.tell()
    // What is not noted is learned again.
    await waitAtMost(NOTED_MS_MAX, this.#options.hosts.noteNow())
    await super.close()
  }

  override async isEmpty(signal: AbortSignal): Promise<boolean> {
    if (!(await super.isEmpty(signal))) return false
    let isEmpty = false
    await this.#unlessAway(async () => {
      isEmpty = !(await this.#feed.bring())
    })
    if (isEmpty) this.#callbacks.tell()
    return isEmpty
  }

  override async enqueueStart(request: Request, asker: string): Promise<number> {
    const known = (await this.#surelyKnown([request])).get(request)
    if (!known) return super.enqueueStart(request, asker)
    const { fingerprint } = known
    if (request.dontFilter) await this.#reschedule([{ fingerprint, request }], Date.now())
    return 0
  }

  /** Pages that are due wait until that is settled: a login of start() goes before them. */
  dueAfter(firstStarts: Promise<void>): void {
    this.#first.waitFor(firstStarts)
  }

  override async enqueueStarts(batch: readonly (Request | undefined)[], from: number): Promise<number> {
    this.#first.queued(batch)
    return super.enqueueStarts(await this.#withoutKnown(batch), from)
  }

  override async enqueue(requests: readonly Request[], asker: string): Promise<number> {
    await this.#unlessAway(() => this.#links.readDates(requests))
    await this.#giveCallbacks(requests)
    return super.enqueue(requests, asker)
  }

  override async commit(
    lease: Lease,
    requests: readonly Request[],
    options: Parameters<Scheduler['commit']>[2] = {},
  ): Promise<void> {
    await this.#unlessAway(() => this.#links.readDates(requests))
    await this.#giveCallbacks(requests, lease.signal)
    const links = requests.some(({ dontFilter }) => dontFilter)
      ? await this.#carrying(requests, { isRedirect: options.marksAll ?? false, lease })
      : requests
    await this.#forgetOldName(lease)
    if (this.#options.underWay.hasChanged?.(lease)) await this.#unlessAway(() => this.#links.leadBack(links))
    // Whoever takes the visit has it alone: nothing that may fail stands between it and its commit.
    const visit = await this.#options.underWay.take(lease, links)
    await super.commit(lease, links, visit ? { ...options, visit } : options)
  }

  override retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    this.#options.underWay.drop(lease)
    return super.retry(lease, request, when, host)
  }

  override requeue(lease: Lease): Promise<void> {
    this.#options.underWay.drop(lease)
    return super.requeue(lease)
  }

  override async reject(lease: Lease, reason: string): Promise<boolean> {
    this.#options.underWay.drop(lease)
    const visit = this.#callbacks.backOnSchedule(lease)
    const isBack = await super.reject(lease, reason, visit)
    if (visit && isBack) await this.#unlessAway(() => this.#callbacks.wentBack(visit))
    return isBack
  }

  /** Links lead to pages whose callbacks are missing. */
  async #giveCallbacks(links: readonly Request[], signal?: AbortSignal): Promise<void> {
    if (!this.#callbacks.isHeeded || links.length === 0) return
    await this.#waiting(
      'giving pages the callbacks of links to them',
      () => this.#callbacks.met(() => this.#known(links)),
      signal,
    )
  }

  /**
   * A page that came into its line under another fingerprint than it has now, as FINGERPRINTER made another one then. Under the old one it
   * would stand in that line for ever. Done before its visit is recorded under the new one: a crash between them leaves its request as it is.
   */
  async #forgetOldName({ id, request, signal }: Lease): Promise<void> {
    const carried = carriedVisit(request, id)
    const now = carried && fingerprintNow(request, this.#options.fingerprinter)
    if (!carried || now === undefined || now === id) return
    await this.#waiting('moving visits to other fingerprints', () => this.#moveFrom(id, carried), signal)
  }

  async #moveFrom(id: string, carried: Visit): Promise<void> {
    const { visits, fingerprinter } = this.#options
    if (visits.move) return void visits.move([id], (request) => fingerprintNow(request, fingerprinter))
    const [there] = await visits.find([id])
    // Another page may have that fingerprint by now.
    if (there?.isInALine && visitToBytes(there).equals(visitToBytes(carried))) await visits.forget([id])
  }

  /** Leaves out start requests of pages that were visited, and are due at their hour or are in a line. */
  async #withoutKnown(batch: readonly (Request | undefined)[]): Promise<readonly (Request | undefined)[]> {
    const known = await this.#surelyKnown(batch.filter((request) => request !== undefined))
    const left = batch.map((request) => (request && known.has(request) ? undefined : request))
    if (known.size === 0) return left
    const { stats, planner } = this.#options
    stats.inc('recrawl/start_known_count', known.size)
    const now = Date.now()
    this.#tellOfTimesToCome(known, now)
    await this.#waiting('asking for start pages anew', () => askAnew(this.#options.visits, known))
    const late = [...known].filter(
      ([, { visit }]) =>
        isLeft(visit, now) ||
        (lacksCallback(visit) && !visit.isInALine) ||
        (visit.dueAt > now && visit.visitedAt + planner.startMs <= now + this.#earlyMs),
    )
    if (late.length > 0)
      await this.#reschedule(
        late.map(([request, { fingerprint }]) => ({ fingerprint, request })),
        now,
      )
    this.#callbacks.gave(late)
    return left
  }

  /** A clock that was ahead once has put off pages until it is right: nothing else would show it. */
  #tellOfTimesToCome(known: ReadonlyMap<Request, { readonly visit: Visit }>, now: number): void {
    const { logger, spider } = this.#options
    for (const [{ url }, { visit }] of known) {
      if (visit.visitedAt <= now + AHEAD_MS_MAX || this.#hasToldAhead) continue
      this.#hasToldAhead = true
      logger.warn(
        { url, visited: new Date(visit.visitedAt).toISOString(), now: new Date(now).toISOString() },
        `this page was visited in the future, by a clock that was wrong: such pages come when it is that time. \`webloom refresh ${spider.name}\` makes all pages due now`,
      )
    }
  }

  /**
   * Links that go past the filter carry their pages' last visits. The target of a redirect is not such a link: its page comes when it is
   * due, unless the redirects go in a circle or the page leads to itself.
   */
  async #carrying(
    requests: readonly Request[],
    { isRedirect, lease }: { readonly isRedirect: boolean; readonly lease: Lease },
  ): Promise<readonly Request[]> {
    const known = await this.#surelyKnown(
      requests.filter(({ dontFilter }) => dontFilter),
      lease.signal,
    )
    for (const [request, { fingerprint, visit }] of known) carryVisit(request, fingerprint, visit)
    if (!isRedirect) return requests
    const own = fingerprintNow(lease.request, this.#options.fingerprinter)
    return requests.filter((request) => {
      const page = known.get(request)
      return !page || page.fingerprint === own || cameFrom(request).includes(request.url)
    })
  }

  /** The last visits of those that were visited. */
  #known(requests: readonly Request[]) {
    return knownAmong(requests, this.#options)
  }

  /** The same, and waits for a server that is away. */
  #surelyKnown(requests: readonly Request[], signal?: AbortSignal) {
    return this.#waiting('asking which pages were visited', () => this.#known(requests), signal)
  }

  async #reschedule(pages: readonly AskedPage[], at: number): Promise<void> {
    await this.#waiting('making visited pages due', () => this.#options.visits.reschedule(pages, at))
  }

  /** Waits with the step for a server that is away or full. A lease that was lost meanwhile is lost, whatever the server said last. */
  async #waiting<T>(what: string, step: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { logger, times = PROTOCOL_TIMES } = this.#options
    try {
      return await patiently(step, { logger, times: times.scheduler, what, signal })
    } catch (error) {
      if (isPassing(error)) signal?.throwIfAborted()
      throw error
    }
  }

  /** Pages that are due may wait for a server that is away, as all others do. */
  async #unlessAway(step: () => Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (!isPassing(error)) throw error
    }
  }
}

/** What was due long ago and is in no line has left the schedule, as nobody could read how to ask for it. */
function isLeft({ dueAt, isInALine }: FoundVisit, now: number): boolean {
  return !isInALine && dueAt < now - LEFT_AFTER_MS
}
