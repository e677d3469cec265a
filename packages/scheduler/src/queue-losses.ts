import type { DupeFilter, Logger, ProtocolTimes } from '@webloom/core'
import { patiently } from './patience.ts'

export interface QueueLossesOptions {
  readonly filter: DupeFilter
  readonly logger: Logger
  readonly times: ProtocolTimes['scheduler']
}

/**
 * Tells the filter that the queue has come back older, and has lost what these askers had queued: their links are no longer seen.
 * Logs a warning where the filter cannot be told in time.
 */
export async function tellLost(
  askers: readonly string[],
  { filter, logger, times }: QueueLossesOptions,
): Promise<void> {
  try {
    await patiently(async () => filter.unsettled?.(askers), {
      logger,
      times,
      what: 'telling the dupefilter what the queue has lost',
      forMs: times.forgetHoldMs,
    })
  } catch (error) {
    logger.warn(
      { pages: askers.length, err: error },
      'the dupefilter was not told which pages the queue has lost',
    )
  }
}
