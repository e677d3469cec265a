import type { Logger, StatsCollector } from '@webloom/core'

/** Writes the monitors' own lines of the log and counts them apart, so that monitors of `errors` and `warnings` leave them out. */
export class OwnLines {
  readonly #logger: Logger
  readonly #stats: StatsCollector

  constructor(logger: Logger, stats: StatsCollector) {
    this.#logger = logger
    this.#stats = stats
  }

  info(fields: object, text: string): void {
    this.#logger.info(fields, text)
  }

  warn(fields: object, text: string): void {
    this.#counted('WARNING', () => this.#logger.warn(fields, text))
  }

  error(fields: object, text: string): void {
    this.#counted('ERROR', () => this.#logger.error(fields, text))
  }

  /** A log that counts nothing has nothing of it to be left out. */
  #counted(level: string, write: () => void): void {
    const count = () => Number(this.#stats.get(`log_count/${level}`) ?? 0)
    const before = count()
    write()
    if (count() > before) this.#stats.inc(`monitors/log_count/${level}`, count() - before)
  }
}
