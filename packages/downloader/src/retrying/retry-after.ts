import type { Response } from '@webloom/core'

/** Returns the milliseconds that the server asks to wait (RFC 9110 §10.2.3); undefined when it does not say so clearly. */
export function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const until = Date.parse(value)
  if (Number.isNaN(until)) return undefined
  // Dates are compared with the server's own clock, where it tells: ours may be wrong by hours.
  const now = Date.parse(headers.get('date') ?? '')
  return Math.max(0, until - (Number.isNaN(now) ? Date.now() : now))
}
