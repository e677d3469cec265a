/**
 * When is a host, and not a request, in trouble, and how long is it left alone?
 *
 *     an answer below 500 but 429      good: what was counted is forgotten
 *     429, 503 with Retry-After        the host pauses as long as it asks, RETRY_AFTER_MAX at the most
 *     429                              … as long as for so many failures in a row, from the first on
 *     5xx, no answer                   … from HOST_BACKOFF_AFTER failures in a row on
 *     HOST_FAILURES_MAX in a row       the host is given up
 *
 * The pause doubles with each failure. Failures are counted by what was known when a request left: of requests in flight
 * together that all fail, it is one. So the count is of rounds, and a host with eight connections is not left alone eight
 * times as soon as one with a single one.
 *
 * A pause costs no request anything, but each failure would cost one of its RETRY_TIMES; a host that is away for half a
 * minute would lose what was queued last. So a failure that is plainly the host's (it is not reached, asks to wait, or
 * answers 429) is not counted against the request where the host has answered this worker before. A host that never has
 * is not waited for: a misspelt name must fail soon.
 */

import { DownloadError, type HostNews, type HostState, type Request, type Response } from '@webloom/core'
import { retryAfterMs } from '../retrying/retry-after.ts'
import { statusPhrase } from '../retrying/status-phrase.ts'

export interface HostBackOffRules {
  /** HOST_BACKOFF_AFTER: from so many failures in a row on a host pauses. 0: only where it asks for it. */
  readonly pausesFrom: number
  /** HOST_BACKOFF: the first pause, milliseconds. */
  readonly pauseMs: number
  readonly pauseMsMax: number
  /** The longest that a Retry-After is obeyed. */
  readonly retryAfterMsMax: number
  /** HOST_FAILURES_MAX; 0: no host is given up. */
  readonly failuresMax: number
}

/** What an exchange has shown of its host. */
export interface HostOutcome {
  /** Nothing: the answer was a good one. */
  readonly failure?: string
  /** The server has said that it will not have more for now; how long, where it said that too. */
  readonly asksToWait?: { readonly ms?: number }
  /** Nobody was there. */
  readonly isUnreached?: boolean
}

/** Whether a host with so many failures in a row is given up. */
export function isGivenUp({ failures }: HostState, { failuresMax }: HostBackOffRules): boolean {
  return failuresMax > 0 && failures >= failuresMax
}

/** What all who ask the host should know after this; undefined when nothing has changed. */
export function newsOf(
  outcome: HostOutcome,
  before: HostState,
  rules: HostBackOffRules,
): HostNews | undefined {
  if (outcome.failure === undefined) return before.failures > 0 ? { failures: 0 } : undefined
  const failures = before.failures + 1
  const pauseMs = pauseAfter(outcome, failures, rules)
  // What is given up goes at once; a pause would hold it in the queue.
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

/** What this answer shows of the host it came from. */
export function outcomeOfResponse(response: Response): HostOutcome {
  const { status } = response
  if (status < 500 && status !== 429) return {}
  const ms = status === 429 || status === 503 ? retryAfterMs(response) : undefined
  const failure = statusPhrase(status)
  // "0" says that we may come, not that we should: then our own pause counts.
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

/** What this error shows of the host; undefined for one that says nothing of it: a body too large, a broken proxy. */
export function outcomeOfError(error: unknown, { meta }: Request): HostOutcome | undefined {
  if (!(error instanceof DownloadError) || !FAILURES_OF_HOSTS.has(error.kind)) return undefined
  if (typeof meta.proxy === 'string') return undefined
  const { code } = (error.cause ?? {}) as { code?: unknown }
  const isUnreached = UNREACHED_KINDS.has(error.kind) || UNREACHED_CODES.has(code)
  return { failure: error.kind, ...(isUnreached && { isUnreached }) }
}
