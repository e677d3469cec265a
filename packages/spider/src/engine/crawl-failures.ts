import { isLockedOut, type Logger } from '@webloom/core'
import { isOutputFailure, thrownMessage } from '../scraping/error-kinds.ts'

/**
 * What ends a crawl and is not a page's fault: an output that cannot be written, a broken queue. All pages in flight meet the same full disk,
 * or the same right that Redis has taken away, so each is reported once. Where items go to the Redis that refuses the crawl, they are refused,
 * too, before or after the rest: that is the same trouble, and the crawl ends for the Redis.
 */
export class CrawlFailures {
  readonly #logger: Logger
  /** The first; of an output that failed for it, what the output's Redis said to the crawl later. */
  #fatal: { readonly error: unknown } | undefined
  /** The first output that failed by itself. */
  #output: Error | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** The crawl's `finish_reason`, as far as it ends for these; undefined while there are none. */
  get reason(): 'output_failed' | 'internal_error' | undefined {
    if (!this.#fatal) return undefined
    const { error } = this.#fatal
    // Where its Redis does not let this process in, the crawl may end before it has met that itself.
    return isOutputFailure(error) && !isLockedOut(error) ? 'output_failed' : 'internal_error'
  }

  /** The output for which the crawl ends. */
  get outputFailure(): unknown {
    return this.reason === 'output_failed' ? this.#fatal?.error : undefined
  }

  /** @param isTold the log says it already */
  meet(error: unknown, isTold = false): void {
    if (isOutputFailure(error)) this.#meetOutput(error as Error, 'the crawl ends')
    else this.#meetOther(error, isTold)
    this.#fatal ??= { error }
  }

  /** Tells what a component was closed with. */
  meetAtClosing(what: string, error: unknown): void {
    const text = `closing: ${what} failed`
    if (isOutputFailure(error)) this.#meetOutput(error as Error, text)
    else if (this.#isMetAgain(error)) this.#metAgain(error)
    else this.#logger.error({ err: error }, text)
  }

  /** The output itself has reported the error, and a stack would add nothing. */
  #meetOutput(error: Error, what: string): void {
    if (this.#output || (this.#fatal && isCausedBy(error, this.#fatal.error))) this.#metAgain(error)
    else {
      this.#output = error
      this.#logger.error(`${what}: ${error.message}`)
    }
  }

  #meetOther(error: unknown, isTold: boolean): void {
    const isOfOutput = this.#output !== undefined && isCausedBy(this.#output, error)
    if (isTold || this.#isMetAgain(error) || isOfOutput) this.#metAgain(error)
    else this.#logger.error({ err: error }, 'the crawl cannot go on')
    if (isOfOutput && this.#fatal?.error === this.#output) this.#fatal = { error }
  }

  /** Two connections have two errors that say the same. */
  #isMetAgain(error: unknown): boolean {
    return this.#fatal !== undefined && thrownMessage(this.#fatal.error) === thrownMessage(error)
  }

  #metAgain(error: unknown): void {
    this.#logger.debug({ err: error }, 'what ends the crawl was met once more')
  }
}

/** Returns whether an output failed for what the crawl itself has met: two connections have two errors that say the same. */
function isCausedBy({ cause }: Error, error: unknown): boolean {
  return cause !== undefined && thrownMessage(cause) === thrownMessage(error)
}
