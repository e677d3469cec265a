import {
  type Crawler,
  type DownloaderMiddleware,
  IgnoreRequest,
  NotConfigured,
  type Request,
  type StatsCollector,
} from '@webloom/core'
import { type HostBackOffRules, isGivenUp } from '../pace/host-back-off.ts'
import { type HostOf, hostOfCrawler } from '../pace/host-of.ts'
import { HostsMet } from '../pace/hosts-met.ts'
import { hostBackOffRules } from './host-back-off.ts'

export interface GivenUpHostsOptions {
  readonly rules: HostBackOffRules
  readonly hostOf: HostOf
  readonly stats: StatsCollector
  /** Milliseconds of a monotonic clock; tests give their own. */
  readonly now?: () => number
}

// 2 ** 21, 2 MiB: some 13 000 given-up hosts. A host that was forgotten is tried once more.
const HOSTS_BYTES_MAX = 2_097_152

/**
 * Drops requests to hosts that are given up, so that a dead host with thousands of requests does not keep the crawl for
 * days. Each HOST_BACKOFF_MAX one request is let through: a host that is back is crawled again.
 */
export class GivenUpHostsMiddleware implements DownloaderMiddleware {
  readonly #options: GivenUpHostsOptions
  readonly #triedAtMs = new HostsMet<number>(HOSTS_BYTES_MAX)

  constructor(options: GivenUpHostsOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): GivenUpHostsMiddleware {
    const { settings, stats } = crawler
    const rules = hostBackOffRules(settings)
    if (rules.failuresMax === 0) throw new NotConfigured('HOST_FAILURES_MAX is 0')
    return new this({ rules, hostOf: hostOfCrawler(crawler), stats })
  }

  processRequest(request: Request): void {
    const { rules, hostOf, stats, now = performance.now.bind(performance) } = this.#options
    const host = hostOf(request)?.host
    if (!host || !isGivenUp(host, rules)) return
    const triedAtMs = this.#triedAtMs.get(request)
    if (triedAtMs === undefined || now() - triedAtMs >= rules.pauseMsMax) {
      this.#triedAtMs.set(request, now())
      return
    }
    stats.inc('host_backoff/dropped')
    throw new IgnoreRequest(
      `its host is given up after ${host.failures} failures in a row (HOST_FAILURES_MAX is ${rules.failuresMax})`,
      'WL_HOST_GIVEN_UP',
    )
  }
}
