import type { Logger, Request, StatsCollector } from '@webloom/core'

// How many hosts and reasons are remembered. Past it each drop is logged at level debug.
const TOLD_MAX = 10_000

/** Counts requests that were dropped as a trap, and logs them once for each host and reason. */
export class TrapReport {
  readonly #stats: StatsCollector
  readonly #logger: Logger
  readonly #told = new Set<string>()

  constructor({ stats, logger }: { readonly stats: StatsCollector; readonly logger: Logger }) {
    this.#stats = stats
    this.#logger = logger
  }

  /** @param setting the setting that lets such requests pass */
  dropped({ url }: Request, reason: string, setting: string): void {
    this.#stats.inc(`trap/${reason}`)
    const host = `${reason} ${URL.parse(url)?.host}`
    const isFirst = !this.#told.has(host) && this.#told.size < TOLD_MAX
    if (isFirst) this.#told.add(host)
    const line = { url: url.slice(0, 300), reason }
    if (isFirst) this.#logger.info(line, `dropped as a spider trap, as all like it on this host (${setting})`)
    else this.#logger.debug(line, 'dropped as a spider trap')
  }
}
