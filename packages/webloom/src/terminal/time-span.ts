/** Spans of time as people type them. */

import { UsageError } from '@webloom/core'

const UNITS = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Milliseconds of `10`, `10s`, `500ms`, `2.5m`, `1h`, `1d`; without a unit seconds. Throws WL_USAGE for anything else.
 *
 * @param option as messages name it
 */
export function spanMs(text: string, option: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)?$/.exec(text.trim()) ?? []
  if (number === undefined)
    throw new UsageError(
      'WL_USAGE',
      `${option} ${JSON.stringify(text)} is not a span of time; write seconds, or 500ms, 90s, 10m, 2h, 1d`,
    )
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS])
}
