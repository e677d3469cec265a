import { FAILURE_REASONS, type FailureReason, UsageError } from '@webloom/core'
import type { LedgerFilter } from '@webloom/queue'

/** Which of the requests that were given up are meant, as typed. */
export interface FilterFlags {
  readonly signature?: string
  readonly host?: string
  readonly status?: string
  readonly reason?: string
  readonly since?: string
  readonly until?: string
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function filterOf(flags: FilterFlags, nowMs = Date.now()): LedgerFilter {
  const { signature, host, status, reason, since, until } = flags
  return {
    ...(signature !== undefined && { signature }),
    ...(host !== undefined && { host }),
    ...(status !== undefined && { status: statusOf(status) }),
    ...(reason !== undefined && { reason: reasonOf(reason) }),
    ...(since !== undefined && { since: momentOf('--since', since, nowMs) }),
    ...(until !== undefined && { until: momentOf('--until', until, nowMs) }),
  }
}

export function isFiltered(filter: LedgerFilter): boolean {
  return Object.keys(filter).length > 0
}

function statusOf(typed: string): number {
  if (/^[1-9]\d\d$/.test(typed)) return Number(typed)
  throw new UsageError('WL_USAGE', `--status is ${typed}; expected an HTTP status, as 503`)
}

function reasonOf(typed: string): FailureReason {
  const reason = FAILURE_REASONS.find((one) => one === typed)
  if (reason) return reason
  throw new UsageError('WL_USAGE', `--reason is ${typed}; expected one of ${FAILURE_REASONS.join(', ')}`)
}

/** `2h`: so long ago. Otherwise a moment as JavaScript reads it. */
function momentOf(option: string, typed: string, nowMs: number): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(typed) ?? []
  if (count !== undefined) return nowMs - Number(count) * UNITS[unit!]!
  const at = Date.parse(typed)
  if (!Number.isNaN(at)) return at
  throw new UsageError(
    'WL_USAGE',
    `${option} is ${typed}; expected how long ago, as 30m, 2h or 1d, or a moment, as 2026-11-25T16:00:00Z`,
  )
}
