/**
 * Decides when a host, and not a request, is in trouble, and how long it is left alone.
 *
 *     an answer below 500, except 429  good: the failures that were counted are forgotten
 *     429, 503 with Retry-After        the host pauses as long as it asks, RETRY_AFTER_MAX at the most
 *     429 without Retry-After          … as long as after so many failures in a row, from the first one on
 *     5xx, no answer                   … from HOST_BACKOFF_AFTER failures in a row on
 *     HOST_FAILURES_MAX in a row       the host is given up
 *
 * The pause doubles with each failure. A failure adds one to the count that was known when its request left. So requests in
 * flight together that all fail count as one failure, and a host with eight connections is not left alone eight times as
 * soon as a host with one.
 *
 * A pause costs no request anything, but each failure would cost a request one of its RETRY_TIMES: a host that is away for
 * half a minute would lose what was queued last. So a failure that is plainly the host's (it cannot be reached, asks to
 * wait, or answers 429) is not counted against the request where the host has answered this worker before. No request waits
 * for a host that never has answered: a misspelt name must fail soon.
 */

import { DownloadError, type HostNews, type HostState, type Request, type Response } from '@webloom/core'
import { retryAfterMs } from '../retrying/retry-after.ts'
import { statusPhrase } from '../retrying/status-phrase.ts'

export interface HostBackOffRules {
  /** HOST_BACKOFF_AFTER: the host pauses after so many failures in a row. 0: it pauses only where it asks for that. */
  readonly pausesFrom: number
  /** HOST_BACKOFF: the first pause, milliseconds. */
  readonly pauseMs: number
  readonly pauseMsMax: number
  /** RETRY_AFTER_MAX: the longest Retry-After that is obeyed, milliseconds. */
  readonly retryAfterMsMax: number
  /** HOST_FAILURES_MAX: after so many failures in a row the host is given up. 0: never. */
  readonly failuresMax: number
}

/** What an exchange tells of its host. */
export interface HostOutcome {
  /** The failure as the log names it. Absent: the answer was a good one. */
  readonly failure?: string
  /** Set when the server wants no more requests for now, with the milliseconds where it names a time. */
  readonly asksToWait?: { readonly ms?: number }
  /** True when no server could be reached. */
  readonly isUnreached?: boolean
}

/** Returns whether a host with so many failures in a row is given up. */
export function isGivenUp({ failures }: HostState, { failuresMax }: HostBackOffRules): boolean {
  return failuresMax > 0 && failures >= failuresMax
}

/** Returns what all workers should know of the host after this outcome; undefined when nothing has changed. */
export function newsOf(
  outcome: HostOutcome,
  before: HostState,
  rules: HostBackOffRules,
): HostNews | undefined {
  if (outcome.failure === undefined) return before.failures > 0 ? { failures: 0 } : undefined
  const failures = before.failures + 1
  const pauseMs = pauseAfter(outcome, failures, rules)
  // Requests to a host that is given up are dropped at once; a pause would hold them in the queue.
  if (pauseMs === 0 || isGivenUp({ ...before, failures }, rules)) return { failures }
  return { failures, pauseMs, pauseReason: reasonOf(outcome, failures) }
}

function pauseAfter({ asksToWait }: HostOutcome, failures: number, rules: HostBackOffRules): number {
  const { pausesFrom, pauseMs, pauseMsMax, retryAfterMsMax } = rules
  if (asksToWait?.ms !== undefined) return Math.min(asksToWait.ms, retryAfterMsMax)
  const from = asksToWait ? 1 : pausesFrom
  if (from === 0 || failures < from) return 0
  return Math.min(pauseMs * 2 ** (failures - from), pauseMsMax)
}

function reasonOf({ failure, asksToWait }: HostOutcome, failures: number): string {
  if (asksToWait?.ms !== undefined) return `${failure}, Retry-After ${Math.ceil(asksToWait.ms / 1000)} s`
  return failures === 1 ? failure! : `${failure}, ${failures} failures in a row`
}

/** Returns what an answer tells of its host. */
export function outcomeOfResponse(response: Response): HostOutcome {
  const { status } = response
  if (status < 500 && status !== 429) return {}
  const ms = status === 429 || status === 503 ? retryAfterMs(response) : undefined
  const failure = statusPhrase(status)
  // "0" means that we may come, not that we should: then our own pause counts.
  if (ms) return { failure, asksToWait: { ms } }
  return status === 429 ? { failure, asksToWait: {} } : { failure }
}

const FAILURES_OF_HOSTS: ReadonlySet<string> = new Set([
  'CannotResolveHostError',
  'DownloadConnectionRefusedError',
  'DownloadFailedError',
  'DownloadTimeoutError',
])
const UNREACHED_KINDS: ReadonlySet<string> = new Set([
  'CannotResolveHostError',
  'DownloadConnectionRefusedError',
])
const UNREACHED_CODES: ReadonlySet<unknown> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Returns what an error tells of the host; undefined for an error that tells nothing: a body too large, a broken proxy. */
export function outcomeOfError(error: unknown, { meta }: Request): HostOutcome | undefined {
  if (!(error instanceof DownloadError) || !FAILURES_OF_HOSTS.has(error.kind)) return undefined
  if (typeof meta.proxy === 'string') return undefined
  const { code } = (error.cause ?? {}) as { code?: unknown }
  const isUnreached = UNREACHED_KINDS.has(error.kind) || UNREACHED_CODES.has(code)
  return { failure: error.kind, ...(isUnreached && { isUnreached }) }
}
