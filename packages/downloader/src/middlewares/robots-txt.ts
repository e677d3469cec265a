import {
  type Crawler,
  DownloadError,
  type DownloaderMiddleware,
  IgnoreRequest,
  type Logger,
  NotConfigured,
  RecentBytes,
  type Request,
  RetryLater,
  redisTargets,
  type StatsCollector,
} from '@webloom/core'
import { BudgetRefusal } from '../budgets/budget-refusal.ts'
import { HostWatch } from '../pace/host-watch.ts'
import { shownHostOf } from '../pace/shown-host.ts'
import { RedisRobotsStore } from '../robots/redis-robots-store.ts'
import { type RobotsDownload, RobotsFetch } from '../robots/robots-fetch.ts'
import { RobotsInquiry } from '../robots/robots-inquiry.ts'
import {
  MemoryRobotsStore,
  type RobotsEntry,
  type RobotsRules,
  type RobotsStore,
  type RobotsUnreachable,
  robotsCacheShares,
} from '../robots/robots-store.ts'
import { RobotsTxt } from '../robots/robots-txt.ts'

/** What a crawl does with a site's Crawl-delay: obeys it, obeys at most CRAWL_DELAY_MAX of it, or ignores it. */
export type CrawlDelayPolicy = 'obey' | 'cap' | 'ignore'

export interface RobotsTxtMiddlewareOptions extends RobotsTxtPaceListeners {
  readonly inquiry: RobotsInquiry
  /** The name for which rules are looked up. Null: the User-Agent header of each request. */
  readonly robotsUserAgent: string | null
  /** The User-Agent header of requests that have none. */
  readonly userAgent: string
  readonly crawlDelay: CrawlDelayPolicy
  readonly crawlDelaySecondsMax: number
  /** Returns the name of the class of DOWNLOAD_HANDLERS that fetches a URL; undefined where a built-in handler does. */
  readonly ownHandlerOf?: (url: string) => string | undefined
  /** What is done with requests to a site whose robots.txt could not be fetched. */
  readonly whenGivenUp: 'forbid' | 'allow'
  /** How much memory parsed files may take. Default: 8 MiB. */
  readonly parsedBytesMax?: number
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** Who keeps the hosts' pace. Without them robots.txt is fetched and obeyed, and does not count for its host's pace. */
export interface RobotsTxtPaceListeners {
  /**
   * robots.txt of the request's host leaves for it now, and counts as a request to that host.
   */
  readonly onStart?: (request: Request) => void
  /**
   * Returns whether a delay lies between two requests to the request's host. Then the request that caused a robots.txt goes back,
   * once and to its place, to be handed out when the host may be asked again; otherwise it leaves right after the answer.
   */
  readonly isPaced?: (request: Request) => boolean
  /** Awaits what robots.txt needs for the request, as `DownloadOptions.stepAside` does. */
  readonly stepAside?: <T>(request: Request, wait: Promise<T>) => Promise<T>
  /** Called for each request that may be fetched and whose host asks for so many seconds between two requests. */
  readonly onCrawlDelay?: (request: Request, seconds: number) => void
  /** Called when no request to this host can be fetched for that long, so that none need be leased. */
  readonly onWait?: (request: Request, delayMs: number) => void
}

// The rest of a long list of start URLs is only counted (robotstxt/forbidden).
const START_WARNINGS_MAX = 20
const PARSED_BYTES_MAX = 8_388_608
// A parsed file takes up to nine times what the file does (measured with the shortest of rules).
const PARSED_PER_FILE_BYTE = 9
const PARSED_BYTES_MIN = 1024
// A delay of more than a day would last longer than the robots.txt that asks for it is kept.
const OBEYED_SECONDS_MAX = 86_400

/** Undefined: the request may be fetched now. */
type Verdict = RetryLater | undefined

/**
 * Fetches only what the sites' robots.txt allow, by RFC 9309. `meta.dont_obey_robotstxt` lets a request pass.
 *
 * A forbidden request is dropped. Where robots.txt cannot be fetched, requests wait in the queue and are checked again later.
 */
export class RobotsTxtMiddleware implements DownloaderMiddleware {
  readonly #options: RobotsTxtMiddlewareOptions
  #warnings = 0
  readonly #parsed: RecentBytes<string, RobotsTxt>

  constructor(options: RobotsTxtMiddlewareOptions) {
    this.#options = options
    this.#parsed = new RecentBytes(options.parsedBytesMax ?? PARSED_BYTES_MAX)
  }

  /** Workers whose queue is on Redis share the entries. */
  static fromCrawler(crawler: Crawler): RobotsTxtMiddleware {
    const { download, ...parts } = partsOf(crawler)
    const { settings, signals, spider, stats, logger } = crawler
    if (!settings.getBool('ROBOTSTXT_OBEY')) throw new NotConfigured('ROBOTSTXT_OBEY is false')
    const inquiry = new RobotsInquiry({
      store: storeOf(crawler),
      fetch: new RobotsFetch({
        download,
        timeoutMs: Math.min(settings.getMs('ROBOTSTXT_TIMEOUT'), settings.getMs('DOWNLOAD_TIMEOUT')),
        bodyBytesMax: settings.getInt('ROBOTSTXT_MAXSIZE'),
        stats,
      }),
      cacheTtlMs: settings.getMs('ROBOTSTXT_CACHE_TTL'),
      errorTtlMs: settings.getMs('ROBOTSTXT_ERROR_TTL'),
      retryDelayMs: settings.getMs('ROBOTSTXT_RETRY_DELAY'),
      retryAfterMaxMs: settings.getMs('RETRY_AFTER_MAX'),
      giveUpAfterMs: settings.getMs('ROBOTSTXT_GIVE_UP_AFTER'),
      stats,
      logger,
    })
    signals.connect('engineStopped', () => inquiry.close())
    const own = (spider as { userAgent?: unknown }).userAgent
    return new this({
      ...parts,
      inquiry,
      robotsUserAgent: settings.get('ROBOTSTXT_USER_AGENT'),
      userAgent: typeof own === 'string' ? own : settings.getString('USER_AGENT'),
      crawlDelay: settings.get('CRAWL_DELAY'),
      crawlDelaySecondsMax: settings.getFloat('CRAWL_DELAY_MAX'),
      whenGivenUp: settings.get('ROBOTSTXT_WHEN_GIVEN_UP'),
      parsedBytesMax: robotsCacheShares(settings).parsedBytes,
      stats,
      logger,
    })
  }

  processRequest(request: Request): Verdict | Promise<Verdict> {
    if (request.hasMeta && request.meta.dont_obey_robotstxt === true) return undefined
    const origin = siteOf(request.url)
    if (origin === undefined) return undefined
    const { inquiry } = this.#options
    if (this.#wasAllowed(request)) return undefined
    // Joins that inquiry: a look-up could find the answer before the requests that have waited for it are back in their
    // places.
    if (inquiry.isAsking(origin)) return this.#asked(request, origin, undefined)
    const known = inquiry.known(origin)
    if (known instanceof Promise) return known.then((entry) => this.#decided(request, origin, entry))
    return this.#decided(request, origin, known)
  }

  #decided(request: Request, origin: string, known: RobotsEntry | undefined): Verdict | Promise<Verdict> {
    if (!known || !this.#options.inquiry.holds(known)) return this.#asked(request, origin, known)
    return this.#verdict(request, origin, known)
  }

  /**
   * Returns true for a request that robots.txt has allowed before it went back for its host's delay. Its answer comes back with
   * it, so that nothing is asked twice, whichever worker gets it and whatever has been forgotten meanwhile.
   */
  #wasAllowed(request: Request): boolean {
    if (!request.hasMeta || request.meta.robotstxt_allowed_until === undefined) return false
    const untilMs = Number(request.meta.robotstxt_allowed_until)
    delete request.meta.robotstxt_allowed_until
    return untilMs > this.#options.inquiry.nowMs
  }

  async #asked(request: Request, origin: string, known: RobotsEntry | undefined): Promise<Verdict> {
    const { inquiry, onStart, isPaced, ownHandlerOf, stepAside = (_, wait) => wait } = this.#options
    const isAnothers = inquiry.isAsking(origin)
    const asking = inquiry.ask(known, {
      origin,
      userAgent: this.#userAgentOf(request),
      asking: request,
      ownHandler: ownHandlerOf?.(origin),
      onStart: () => onStart?.(request),
      stepAside: (wait) => stepAside(request, wait),
    })
    const answer = asking.catch((error: unknown) => {
      if (error instanceof BudgetRefusal) return error
      throw ofPage(error, request)
    })
    // The request that asks has the place for robots.txt; the others that wait for the file send nothing.
    const entry = await (isAnothers ? stepAside(request, answer) : answer)
    if (entry instanceof BudgetRefusal) return entry.outcomeOf(request)
    const verdict = this.#verdict(request, origin, entry)
    if (verdict || !onStart) return verdict
    // The file has used up the request's turn, or has just brought a delay.
    if (!isPaced?.(request) && this.#delaySecondsOf(request, entry) === 0) return undefined
    request.meta.robotstxt_allowed_until = entry.askAgainAtMs
    return new RetryLater(request, 'first')
  }

  #verdict(request: Request, origin: string, entry: RobotsEntry): Verdict {
    if (entry.outcome === 'unreachable') return this.#unreachable(request, origin, entry)
    if (entry.outcome === 'absent') return undefined
    const { stats, logger } = this.#options
    const userAgent = this.#nameOf(request)
    if (!this.#robotsOf(entry).canFetch(request.url, userAgent)) {
      stats.inc('robotstxt/forbidden')
      const isStart = !request.hasMeta || request.meta.depth === undefined
      if (isStart && this.#warnings < START_WARNINGS_MAX) {
        this.#warnings++
        logger.warn(
          { url: request.url, userAgent },
          'a start URL is not fetched, because robots.txt forbids it. If you may fetch it all the same, set ROBOTSTXT_OBEY=false, or meta.dont_obey_robotstxt for this request only',
        )
      } else logger.debug({ url: request.url, userAgent }, 'forbidden by robots.txt')
      throw new IgnoreRequest('Forbidden by robots.txt')
    }
    const seconds = this.#delaySecondsOf(request, entry)
    if (seconds > 0) this.#options.onCrawlDelay?.(request, seconds)
    return undefined
  }

  #unreachable(
    request: Request,
    origin: string,
    { reason, isGivenUp, ...entry }: RobotsUnreachable,
  ): Verdict {
    const { inquiry, whenGivenUp, onWait, stats } = this.#options
    if (!isGivenUp) {
      const delayMs = Math.max(0, entry.askAgainAtMs - inquiry.nowMs)
      stats.inc('robotstxt/waited')
      onWait?.(request, delayMs)
      return new RetryLater(request, delayMs)
    }
    if (whenGivenUp === 'allow') return undefined
    stats.inc('robotstxt/given_up')
    throw new IgnoreRequest(
      `robots.txt of ${origin} cannot be fetched (${reason}, ${entry.tries} ${entry.tries === 1 ? 'try' : 'tries'}), so nothing there may be fetched (ROBOTSTXT_WHEN_GIVEN_UP)`,
      'WL_ROBOTS_GIVEN_UP',
    )
  }

  /** Returns the seconds of the site's Crawl-delay that are obeyed; 0 when there are none. */
  #delaySecondsOf(request: Request, entry: RobotsEntry): number {
    if (entry.outcome !== 'rules') return 0
    const asked = this.#robotsOf(entry).crawlDelay(this.#nameOf(request))
    const { crawlDelay, crawlDelaySecondsMax } = this.#options
    if (asked === null || asked <= 0 || crawlDelay === 'ignore') return 0
    return Math.min(asked, crawlDelay === 'cap' ? crawlDelaySecondsMax : OBEYED_SECONDS_MAX)
  }

  #userAgentOf(request: Request): string {
    return (request.hasHeaders && request.headers.get('user-agent')) || this.#options.userAgent
  }

  /** Returns the name for which rules are looked up. */
  #nameOf(request: Request): string {
    return this.#options.robotsUserAgent ?? this.#userAgentOf(request)
  }

  /** Sites with equal files share what was parsed. */
  #robotsOf({ file }: RobotsRules): RobotsTxt {
    const known = this.#parsed.get(file)
    if (known) return known
    const robots = RobotsTxt.parse(Buffer.from(file, 'latin1'))
    this.#parsed.set(file, robots, PARSED_BYTES_MIN + file.length * PARSED_PER_FILE_BYTE)
    return robots
  }
}

/** Returns the error of a server that was not reached as the request would have got it without robots.txt. */
function ofPage(error: unknown, request: Request): unknown {
  if (!(error instanceof DownloadError) || error.detail === undefined) return error
  const { kind, reason, detail, via } = error
  return new DownloadError(kind, `${request}${detail}`, {
    cause: error,
    detail,
    via,
    ...(reason && { reason }),
  })
}

/** Returns the site whose robots.txt counts by RFC 9309; undefined where there is none to ask. */
function siteOf(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url)) return undefined
  const origin = URL.parse(url)?.origin
  return origin === 'null' ? undefined : origin
}

function storeOf(crawler: Crawler): RobotsStore {
  return redisTargets(crawler.settings, 'queue').length > 0
    ? RedisRobotsStore.fromCrawler(crawler)
    : MemoryRobotsStore.fromCrawler(crawler)
}

/** Returns parts that fetch by the crawl's downloader and tell the hosts' pace to its queue. */
function partsOf({ downloader, hostLists }: Crawler): Pick<
  RobotsTxtMiddlewareOptions,
  'ownHandlerOf' | keyof RobotsTxtPaceListeners
> & {
  readonly download: RobotsDownload
} {
  const optionsOf = (request: Request) => downloader?.optionsOf(request)
  const watch = new HostWatch()
  hostLists?.add(() => watch.lists())
  return {
    download: (request, given) => downloader!.download(request, given),
    ownHandlerOf: (url) => downloader?.ownHandlerOf(url),
    onStart: (request) => optionsOf(request)?.onStart(),
    isPaced: (request) => optionsOf(request)?.isPaced ?? false,
    stepAside: (request, wait) => optionsOf(request)?.stepAside?.(wait) ?? wait,
    onCrawlDelay: (request, seconds) => optionsOf(request)?.onHostNews?.({ delayMs: seconds * 1000 }),
    onWait: (request, pauseMs) => {
      const pauseReason = 'its robots.txt cannot be fetched'
      optionsOf(request)?.onHostNews?.({ pauseMs, pauseReason })
      watch.paused(shownHostOf(request.url), { ms: pauseMs, reason: pauseReason })
    },
  }
}
