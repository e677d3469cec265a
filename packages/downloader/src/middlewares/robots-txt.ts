import {
  type Crawler,
  type DownloaderMiddleware,
  IgnoreRequest,
  type Logger,
  NotConfigured,
  type Request,
  RetryLater,
  redisTargets,
  type StatsCollector,
} from '@webloom/core'
import { RedisRobotsStore } from '../robots/redis-robots-store.ts'
import { type RobotsDownload, RobotsFetch } from '../robots/robots-fetch.ts'
import { RobotsInquiry } from '../robots/robots-inquiry.ts'
import {
  MemoryRobotsStore,
  type RobotsEntry,
  type RobotsRules,
  type RobotsStore,
  type RobotsUnreachable,
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
  /** What is done with requests to a site whose robots.txt was not to be had. */
  readonly whenGivenUp: 'forbid' | 'allow'
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** Who keeps the hosts' pace. Without them robots.txt is fetched and obeyed, and does not count for its host's pace. */
export interface RobotsTxtPaceListeners {
  /**
   * robots.txt of the request's host leaves for it now, and counts as a request to that host. The request that caused it then goes
   * back, once and to its place, to be handed out when the host may be asked again.
   */
  readonly onStart?: (request: Request) => void
  /** Called for each request that may be fetched and whose host asks for so many seconds between two requests. */
  readonly onCrawlDelay?: (request: Request, seconds: number) => void
  /** Called when no request to this host can be fetched for that long, so that none need be leased. */
  readonly onWait?: (request: Request, delayMs: number) => void
}

// The rest of a long list of start URLs is only counted (robotstxt/forbidden).
const START_WARNINGS_MAX = 20
// A delay of more than a day would last longer than the robots.txt that asks for it is kept.
const OBEYED_SECONDS_MAX = 86_400

/** Undefined: the request may be fetched now. */
type Verdict = RetryLater | undefined

/**
 * Fetches only what the sites' robots.txt allow, by RFC 9309. `meta.dont_obey_robotstxt` lets a request pass.
 *
 * A forbidden request is dropped. Where robots.txt cannot be had, requests wait in the queue and are checked again later.
 */
export class RobotsTxtMiddleware implements DownloaderMiddleware {
  readonly #options: RobotsTxtMiddlewareOptions
  #warnings = 0
  // Keyed by the entry, so that what the store forgets is forgotten here, too.
  readonly #parsed = new WeakMap<RobotsEntry, RobotsTxt>()

  constructor(options: RobotsTxtMiddlewareOptions) {
    this.#options = options
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
        timeoutMs:
          Math.min(settings.getFloat('ROBOTSTXT_TIMEOUT'), settings.getFloat('DOWNLOAD_TIMEOUT')) * 1000,
        bodyBytesMax: settings.getInt('ROBOTSTXT_MAXSIZE'),
        stats,
      }),
      cacheTtlMs: settings.getFloat('ROBOTSTXT_CACHE_TTL') * 1000,
      errorTtlMs: settings.getFloat('ROBOTSTXT_ERROR_TTL') * 1000,
      retryDelayMs: settings.getFloat('ROBOTSTXT_RETRY_DELAY') * 1000,
      retryAfterMaxMs: settings.getFloat('RETRY_AFTER_MAX') * 1000,
      giveUpAfterMs: settings.getFloat('ROBOTSTXT_GIVE_UP_AFTER') * 1000,
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
      stats,
      logger,
    })
  }

  processRequest(request: Request): Verdict | Promise<Verdict> {
    if (request.hasMeta && request.meta.dont_obey_robotstxt === true) return undefined
    const origin = siteOf(request.url)
    if (origin === undefined) return undefined
    const { inquiry } = this.#options
    // Joins that inquiry: a look-up could find the answer before the requests that have waited for it are back in their
    // places.
    if (inquiry.isAsking(origin)) return this.#asked(request, origin, undefined)
    const known = inquiry.known(origin)
    if (known instanceof Promise) return known.then((entry) => this.#decided(request, origin, entry))
    return this.#decided(request, origin, known)
  }

  #decided(request: Request, origin: string, known: RobotsEntry | undefined): Verdict | Promise<Verdict> {
    if (!known || !this.#options.inquiry.holds(known)) return this.#asked(request, origin, known)
    const verdict = this.#verdict(request, origin, known)
    if (!verdict && request.hasMeta) delete request.meta.robotstxt_asked
    return verdict
  }

  async #asked(request: Request, origin: string, known: RobotsEntry | undefined): Promise<Verdict> {
    const { inquiry, onStart, ownHandlerOf } = this.#options
    const entry = await inquiry.ask(known, {
      origin,
      userAgent: this.#userAgentOf(request),
      asking: request,
      ownHandler: ownHandlerOf?.(origin),
      onStart: () => onStart?.(request),
    })
    const verdict = this.#verdict(request, origin, entry)
    if (verdict || !onStart) return verdict
    // Once only: with more sites at a time than are remembered, a request would ask and go back for ever.
    if (request.meta.robotstxt_asked === true) {
      delete request.meta.robotstxt_asked
      return undefined
    }
    request.meta.robotstxt_asked = true
    return new RetryLater(request, 'first')
  }

  #verdict(request: Request, origin: string, entry: RobotsEntry): Verdict {
    if (entry.outcome === 'unreachable') return this.#unreachable(request, origin, entry)
    if (entry.outcome === 'absent') return undefined
    const { robotsUserAgent, stats, logger } = this.#options
    const robots = this.#robotsOf(entry)
    const userAgent = robotsUserAgent ?? this.#userAgentOf(request)
    if (!robots.canFetch(request.url, userAgent)) {
      stats.inc('robotstxt/forbidden')
      const isStart = !request.hasMeta || request.meta.depth === undefined
      if (isStart && this.#warnings < START_WARNINGS_MAX) {
        this.#warnings++
        logger.warn(
          { url: request.url, userAgent },
          'a start URL is forbidden by robots.txt and not fetched. Where you may fetch it all the same: ROBOTSTXT_OBEY=false, or meta.dont_obey_robotstxt for this request alone',
        )
      } else logger.debug({ url: request.url, userAgent }, 'forbidden by robots.txt')
      throw new IgnoreRequest('Forbidden by robots.txt')
    }
    const seconds = this.#crawlDelay(robots.crawlDelay(userAgent))
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
      `robots.txt of ${origin} cannot be had (${reason}, ${entry.tries} ${entry.tries === 1 ? 'try' : 'tries'}), so nothing there may be fetched (ROBOTSTXT_WHEN_GIVEN_UP)`,
    )
  }

  /** Returns the seconds to obey; 0 when there are none. */
  #crawlDelay(asked: number | null): number {
    const { crawlDelay, crawlDelaySecondsMax } = this.#options
    if (asked === null || asked <= 0 || crawlDelay === 'ignore') return 0
    return Math.min(asked, crawlDelay === 'cap' ? crawlDelaySecondsMax : OBEYED_SECONDS_MAX)
  }

  #userAgentOf(request: Request): string {
    return (request.hasHeaders && request.headers.get('user-agent')) || this.#options.userAgent
  }

  #robotsOf(entry: RobotsRules): RobotsTxt {
    const known = this.#parsed.get(entry)
    if (known) return known
    const robots = RobotsTxt.parse(Buffer.from(entry.file, 'latin1'))
    this.#parsed.set(entry, robots)
    return robots
  }
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
    : new MemoryRobotsStore({ sitesMax: crawler.settings.getInt('ROBOTSTXT_CACHE_SIZE') })
}

/** Returns parts that fetch by the crawl's downloader and tell the hosts' pace to its queue. */
function partsOf({ downloader }: Crawler): Pick<
  RobotsTxtMiddlewareOptions,
  'ownHandlerOf' | keyof RobotsTxtPaceListeners
> & {
  readonly download: RobotsDownload
} {
  const optionsOf = (request: Request) => downloader?.optionsOf(request)
  return {
    download: (request, given) => downloader!.download(request, given),
    ownHandlerOf: (url) => downloader?.ownHandlerOf(url),
    onStart: (request) => optionsOf(request)?.onStart(),
    onCrawlDelay: (request, seconds) => optionsOf(request)?.onHostNews?.({ delayMs: seconds * 1000 }),
    onWait: (request, pauseMs) =>
      optionsOf(request)?.onHostNews?.({ pauseMs, pauseReason: 'its robots.txt cannot be had' }),
  }
}
