import type {
  Crawler,
  DownloaderMiddleware,
  HostNews,
  HostState,
  Logger,
  Request,
  Response,
  Settings,
  StatsCollector,
} from '@webloom/core'
import { HostAnswers } from '../pace/host-answers.ts'
import {
  type HostBackOffRules,
  type HostOutcome,
  isGivenUp,
  newsOf,
  outcomeOfError,
  outcomeOfResponse,
} from '../pace/host-back-off.ts'
import { type HostOf, hostOfCrawler } from '../pace/host-of.ts'
import { HostWatch } from '../pace/host-watch.ts'
import { HostsMet } from '../pace/hosts-met.ts'
import { shownHostOf } from '../pace/shown-host.ts'

export interface HostBackOffOptions {
  readonly rules: HostBackOffRules
  readonly hostOf: HostOf
  /** Told of each request that has failed through its host, which has answered before. */
  readonly blameHost: (request: Request) => void
  /** Is shown what comes back from hosts. Default: one of its own. */
  readonly watch?: HostWatch
  /** Counts it. Default: one of its own. */
  readonly answers?: HostAnswers
  readonly stats: StatsCollector
  readonly logger: Logger
}

// 2 ** 22, 4 MiB: some 26 000 hosts. A host that was forgotten counts as one that has never answered.
const HOSTS_BYTES_MAX = 4_194_304

/** Returns the rules that the settings give. */
export function hostBackOffRules(settings: Settings): HostBackOffRules {
  return {
    pausesFrom: settings.getInt('HOST_BACKOFF_AFTER'),
    pauseMs: settings.getMs('HOST_BACKOFF'),
    pauseMsMax: settings.getMs('HOST_BACKOFF_MAX'),
    retryAfterMsMax: settings.getMs('RETRY_AFTER_MAX'),
    failuresMax: settings.getInt('HOST_FAILURES_MAX'),
  }
}

/**
 * Leaves hosts alone that ask for it or only fail: the whole host pauses, for all workers. It changes no answer, and does
 * nothing while all goes well.
 *
 * It stands next to the network; only the proxy and the cache are nearer, as their answers tell nothing about the host.
 */
export class HostBackOffMiddleware implements DownloaderMiddleware {
  readonly #options: HostBackOffOptions
  readonly #haveAnswered = new HostsMet<true>(HOSTS_BYTES_MAX)
  readonly #watch: HostWatch
  readonly #answers: HostAnswers

  constructor(options: HostBackOffOptions) {
    this.#options = options
    this.#watch = options.watch ?? new HostWatch()
    this.#answers = options.answers ?? new HostAnswers()
  }

  static fromCrawler(crawler: Crawler): HostBackOffMiddleware {
    const { settings, stats, logger, downloader } = crawler
    const watch = new HostWatch()
    const answers = new HostAnswers()
    crawler.hostLists?.add(() => ({ ...watch.lists(), answers: answers.list() }))
    return new this({
      watch,
      answers,
      rules: hostBackOffRules(settings),
      hostOf: hostOfCrawler(crawler),
      blameHost: (request) => downloader?.blameHost(request),
      stats,
      logger,
    })
  }

  processResponse(request: Request, response: Response): Response {
    // Only here: a request that is tried again may bring the time of its last answer along.
    const { download_latency: seconds } = request.meta
    const latencyMs = typeof seconds === 'number' ? seconds * 1000 : undefined
    if (response.flags.includes('cached')) return response
    const outcome = outcomeOfResponse(response)
    const name = shownHostOf(request.url)
    this.#answers.came(name, String(response.status), outcome.failure)
    this.#learned(request, name, outcome, latencyMs)
    return response
  }

  processException(request: Request, error: unknown): void {
    const outcome = outcomeOfError(error, request)
    if (!outcome) return
    const name = shownHostOf(request.url)
    this.#answers.came(name, error instanceof Error ? error.name : 'Error', outcome.failure)
    this.#learned(request, name, outcome)
  }

  #learned(request: Request, name: string, outcome: HostOutcome, latencyMs?: number): void {
    if (outcome.failure === undefined) {
      if (!this.#haveAnswered.get(request)) this.#haveAnswered.set(request, true)
    } else if ((outcome.isUnreached || outcome.asksToWait) && this.#haveAnswered.get(request)) {
      this.#options.blameHost(request)
    }
    this.#tell(request, name, outcome, latencyMs)
  }

  #tell(request: Request, name: string, outcome: HostOutcome, latencyMs?: number): void {
    const { rules, hostOf, stats, logger } = this.#options
    const told = hostOf(request)
    const before = told?.host ?? { delayMs: 0, failures: 0 }
    const news = newsOf(outcome, before, rules)
    if (outcome.failure === undefined) this.#watch.answered(name, latencyMs, before.failures > 0)
    else this.#show(name, { ...before, ...news }, { failure: outcome.failure, latencyMs })
    if (!news) return
    told?.onHostNews?.(news)
    if (news.pauseMs !== undefined) {
      stats.inc('host_backoff/pauses')
      logger.debug(
        { url: request.url, seconds: news.pauseMs / 1000, reason: news.pauseReason },
        'the host pauses',
      )
    }
    if (isGivenUp({ ...before, failures: news.failures ?? 0 }, rules) && !isGivenUp(before, rules))
      logger.warn(
        { url: request.url, failures: news.failures, reason: outcome.failure },
        'all requests to this host have failed; its further requests are dropped (HOST_FAILURES_MAX)',
      )
  }

  /** Shows a failure to people who look at what stands out. */
  #show(
    name: string,
    { failures, pauseMs: ms, pauseReason: reason = '', ...state }: HostState & HostNews,
    failed: { readonly failure: string; readonly latencyMs: number | undefined },
  ): void {
    const isDropped = isGivenUp({ ...state, failures }, this.#options.rules)
    this.#watch.failed(name, { ...failed, failures, isGivenUp: isDropped })
    if (ms !== undefined) this.#watch.paused(name, { ms, reason })
  }
}
