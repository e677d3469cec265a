/** What is said before the first request: which parts run. */

import { grouped } from './figures.ts'
import { visible } from './sanitize.ts'

export interface StartBanner {
  readonly version: string
  readonly spider: string
  readonly queue: string
  readonly filter: string
  readonly fingerprinter: string
  /** URL_RULES, or those that the filter was begun by. */
  readonly urlRules?: string | undefined
  /** What is written, as the user named it. Empty: items are only counted. */
  readonly outputs: readonly string[]
  /** CONCURRENT_REQUESTS. */
  readonly concurrency: number
  /** CONCURRENT_REQUESTS_PER_DOMAIN. */
  readonly concurrencyPerHost: number
  /** DOWNLOAD_DELAY. */
  readonly delaySeconds: number
  /** One line each: what the user should know of this combination. */
  readonly notes?: readonly string[]
}

/** A few lines of text, without line ends. */
export function startBanner(banner: StartBanner): string[] {
  const { version, spider, queue, filter, fingerprinter, urlRules, outputs, notes = [] } = banner
  return [
    `webloom ${version}, spider ${spider}`,
    `queue: ${queue}; filter: ${filter}; fingerprinter: ${fingerprinter}`,
    ...(urlRules === undefined ? [] : [`URLs: by the rules of ${urlRules}`]),
    `outputs: ${outputs.length > 0 ? outputs.join(', ') : 'none (-o items.jsonl keeps the items)'}`,
    `pace: ${paceOf(banner)}`,
    ...notes.map((note) => `note: ${note}`),
  ].map(visible)
}

function paceOf({ concurrency, concurrencyPerHost, delaySeconds }: StartBanner): string {
  const delay = delaySeconds > 0 ? `${grouped(delaySeconds)} s between two to one host` : 'no delay'
  return `${grouped(concurrency)} requests at once, ${grouped(concurrencyPerHost)} to one host, ${delay}`
}
