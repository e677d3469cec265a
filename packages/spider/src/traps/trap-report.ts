import { ENTRY_BYTES, type Logger, type Request, type StatsCollector } from '@webloom/core'

// 2 ** 21, 2 MiB: some 11 000 hosts and reasons. Past it each drop is logged at level debug.
const TOLD_BYTES_MAX = 2_097_152

/** Counts requests that were dropped as a trap, and logs them once for each host and reason. */
export class TrapReport {
  readonly #stats: StatsCollector
  readonly #logger: Logger
  readonly #told = new Set<string>()
  #toldBytes = 0

  constructor({ stats, logger }: { readonly stats: StatsCollector; readonly logger: Logger }) {
    this.#stats = stats
    this.#logger = logger
  }

  /** @param setting the setting that lets such requests pass */
  dropped({ url }: Request, reason: string, setting: string): void {
    this.#stats.inc(`trap/${reason}`)
    const host = `${reason} ${URL.parse(url)?.host}`
    const isFirst = !this.#told.has(host) && this.#toldBytes < TOLD_BYTES_MAX
    if (isFirst) {
      this.#told.add(host)
      this.#toldBytes += ENTRY_BYTES + host.length
    }
    const line = { url: url.slice(0, 300), reason }
    if (isFirst)
      this.#logger.info(
        line,
        `dropped as a spider trap, like all links of this kind on this host (${setting})`,
      )
    else this.#logger.debug(line, 'dropped as a spider trap')
  }
}
