import type { Crawler } from '@webloom/core'

/** What bounds the ledger of failures, and what counts what it loses. */
export interface FailureBounds {
  /** FAILED_MAX; 0: no failure is kept. */
  readonly failedMax: number
  /** Called with how many failures were removed for it. */
  readonly onTrimmed: (count: number) => void
}

export function failureBounds({ settings, stats }: Pick<Crawler, 'settings' | 'stats'>): FailureBounds {
  return {
    failedMax: settings.getInt('FAILED_MAX'),
    onTrimmed: (count) => stats.inc('failed/trimmed', count),
  }
}
