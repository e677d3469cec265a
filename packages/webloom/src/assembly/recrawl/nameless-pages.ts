/** Pages of which FINGERPRINTER makes no fingerprint: of these no command knows the visits. */

import { type Request, UsageError, valueShown } from '@webloom/core'
import { counted } from '../../terminal/figures.ts'
import { visible } from '../../terminal/sanitize.ts'

type Fingerprint = (request: Request) => string

/** Returns the same fingerprints, and throws in words, for a page that somebody has named. */
export function toldBy(fingerprint: Fingerprint): Fingerprint {
  return (request) => {
    try {
      return fingerprint(request)
    } catch (error) {
      throw new UsageError(
        'WL_USAGE',
        `FINGERPRINTER throws for ${request.url}, so nobody can say which visits are that page's: ${reasonOf(error)}. It must return a text for each request`,
        { cause: error },
      )
    }
  }
}

/** Those that are counted: a crawl may have ten million. */
const COUNTED_MAX = 10_000

/** Those that a look through all pages passes over. */
export class NamelessPages {
  readonly #urls = new Set<string>()
  #first: { readonly url: string; readonly error: unknown } | undefined

  /** Returns the same fingerprints, and notes for which pages there is none. */
  notedBy(fingerprint: Fingerprint): Fingerprint {
    return (request) => {
      try {
        return fingerprint(request)
      } catch (error) {
        const { url } = request
        this.#first ??= { url, error }
        // A page has several entries where it was rescheduled.
        if (this.#urls.size < COUNTED_MAX) this.#urls.add(url)
        throw error
      }
    }
  }

  /** Says on standard error how many there were, and which came first. */
  tell(): void {
    if (!this.#first) return
    const { url, error } = this.#first
    console.error(
      visible(
        `passed over: ${this.#urls.size < COUNTED_MAX ? '' : 'at least '}${counted(this.#urls.size, 'page')} on which FINGERPRINTER throws, first ${url}: ${reasonOf(error)}. It must return a text for each request`,
      ),
    )
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : valueShown(error)
}
