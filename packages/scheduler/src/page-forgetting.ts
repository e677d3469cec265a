/**
 * A page that could not be fetched is forgotten where DUPEFILTER_RELEASE_ON_FAILURE asks for it:
 *
 *     commit: page out                     the queue knows a request by its id; while the page is in it, a second one seen
 *                                          elsewhere would count as the same and be gone with it.
 *     forget it                            crash before it: the page stays "seen", as without that setting. The worker
 *                                          whose commit was taken is the only one that forgets, so it happens once.
 */

import type { DupeFilter, Fingerprinter, Lease, Logger, ProtocolTimes, StatsCollector } from '@webloom/core'
import { isPassing, patiently } from './patience.ts'

/** Ends the id of a request of start() or a seed that goes past the filter; the asker stands before it. */
export const START_PAGE = '/page'

export interface PageForgettingOptions {
  readonly filter: DupeFilter
  readonly fingerprinter: Fingerprinter
  readonly stats: StatsCollector
  readonly logger: Logger
  readonly times: ProtocolTimes['scheduler']
}

/** Takes pages that could not be fetched out of the filter, where DUPEFILTER_RELEASE_ON_FAILURE asks for it. */
export class PageForgetting {
  readonly #options: PageForgettingOptions

  constructor(options: PageForgettingOptions) {
    this.#options = options
  }

  /**
   * The next link to the committed page will be told "new". Only what left its mark in the filter is taken out of it: a filter
   * that counts would otherwise forget others.
   */
  async forget({ id, request }: Lease): Promise<void> {
    const { filter, fingerprinter, stats, logger, times } = this.#options
    const isMarked = id === fingerprinter.fingerprint(request) || id.endsWith(START_PAGE)
    if (!isMarked || !filter.forget) return
    try {
      await patiently(async () => filter.forget?.(request), {
        logger,
        times,
        what: 'forgetting a page that could not be fetched',
        forMs: times.forgetHoldMs,
      })
      stats.inc('dupefilter/forgotten')
    } catch (error) {
      if (!isPassing(error)) throw error
      stats.inc('dupefilter/not_forgotten')
      logger.warn({ url: request.url, err: error }, 'the page could not be forgotten and stays seen')
    }
  }
}
