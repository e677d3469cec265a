import {
  type Crawler,
  ENTRY_BYTES,
  type Logger,
  NotConfigured,
  originOf,
  RecentBytes,
  type Request,
  type Response,
  type SpiderMiddleware,
  type StatsCollector,
} from '@webloom/core'
import { TrapReport } from '../traps/trap-report.ts'

export interface PageBudgetsOptions {
  /** The most pages of one host. 0: no limit. */
  readonly pagesPerHost: number
  /** The most pages of one path that have a query. 0: no limit. */
  readonly pagesPerPath: number
  /** How much memory the counts may take. Default: 16 MiB. */
  readonly countedBytesMax?: number
  readonly stats: StatsCollector
  readonly logger: Logger
}

// 2 ** 24, 16 MiB: some 85 000 hosts and paths. Past it, the count of the one that was met longest ago begins anew.
const COUNTED_BYTES_MAX = 16_777_216

/**
 * Drops links to hosts, and to paths with a query, that have had enough pages. This is for endless sites that
 * TRAP_CHAIN_MAX does not recognize, such as all combinations of a shop's filters. Each worker counts its own pages: the
 * bound need not be exact, and a shared count would cost a round trip for every page.
 */
export class PageBudgetsMiddleware implements SpiderMiddleware {
  readonly #options: PageBudgetsOptions
  readonly #pages: RecentBytes<string, number>
  readonly #report: TrapReport

  constructor(options: PageBudgetsOptions) {
    this.#options = options
    this.#pages = new RecentBytes(options.countedBytesMax ?? COUNTED_BYTES_MAX)
    this.#report = new TrapReport(options)
  }

  static fromCrawler({ settings, stats, logger }: Crawler): PageBudgetsMiddleware {
    const pagesPerHost = settings.getInt('TRAP_PAGES_PER_HOST')
    const pagesPerPath = settings.getInt('TRAP_PAGES_PER_PATH')
    if (pagesPerHost === 0 && pagesPerPath === 0) throw new NotConfigured('no TRAP_PAGES_PER_… is set')
    return new this({ pagesPerHost, pagesPerPath, stats, logger })
  }

  processSpiderInput({ url }: Response): void {
    const { pagesPerHost, pagesPerPath } = this.#options
    if (pagesPerHost > 0) this.#count(originOf(url))
    if (pagesPerPath > 0 && url.includes('?')) this.#count(pathOf(url))
  }

  processSpiderRequest(request: Request, response: Response | null): Request | null {
    const { pagesPerHost, pagesPerPath } = this.#options
    const { url } = request
    if (response === null) return request
    if (pagesPerHost > 0 && (this.#pages.get(originOf(url)) ?? 0) >= pagesPerHost) {
      this.#report.dropped(request, 'pages_per_host', 'TRAP_PAGES_PER_HOST')
      return null
    }
    if (pagesPerPath > 0 && url.includes('?') && (this.#pages.get(pathOf(url)) ?? 0) >= pagesPerPath) {
      this.#report.dropped(request, 'pages_per_path', 'TRAP_PAGES_PER_PATH')
      return null
    }
    return request
  }

  #count(what: string): void {
    this.#pages.set(what, (this.#pages.get(what) ?? 0) + 1, ENTRY_BYTES + what.length)
  }
}

function pathOf(url: string): string {
  return url.slice(0, url.search(/[?#]|$/))
}
