/** The ledger of failures as a desk shows it. */

import { gunzipSync } from 'node:zlib'
import type {
  FailedFilter,
  FailedRequest,
  FailureGroup,
  FailureLedger,
  FailureReason,
  FailuresSeen,
  LedgerEntry,
  LedgerGroup,
  ResponseSnapshot,
} from '@webloom/core'
import { failedRequests, type LedgerFilter } from '@webloom/queue'

const EXAMPLES_MAX = 3
/** Groups with examples: those that are looked at first. The others have none. */
const GROUPS_WITH_EXAMPLES = 20
/** As much of a body as anybody reads. */
const TEXT_CHARS_MAX = 100_000

export async function readFailures(ledger: FailureLedger): Promise<FailuresSeen> {
  const [{ kept, trimmed, quarantined }, groups] = await Promise.all([ledger.counts(), ledger.groups()])
  const seen = groups.map(async (group, n) => {
    const entries = n < GROUPS_WITH_EXAMPLES ? await examplesOf(ledger, group) : []
    return groupSeen(group, entries)
  })
  return { count: kept + quarantined, trimmed, groups: await Promise.all(seen) }
}

/** Reads at most `max` of those requests that the filter means, those in quarantine first, then each signature's latest first. */
export async function readFailed(
  ledger: FailureLedger,
  filter: FailedFilter,
  max: number,
): Promise<FailedRequest[]> {
  const found: FailedRequest[] = []
  for await (const entries of failedRequests(ledger, ledgerFilter(filter))) {
    found.push(...entries.map(requestSeen))
    if (found.length >= max) break
  }
  return found.slice(0, max)
}

export async function readResponse(
  ledger: FailureLedger,
  signature: string,
): Promise<ResponseSnapshot | undefined> {
  const snapshot = await ledger.snapshot(signature)
  if (!snapshot) return undefined
  const { url, status, contentType, bytes, body } = snapshot
  return { url, status, headers: [['content-type', contentType]], text: textOf(body), bytes }
}

export function ledgerFilter({
  ids,
  signature,
  host,
  status,
  reason,
  since,
  until,
}: FailedFilter): LedgerFilter {
  return {
    ...(ids && { ids }),
    ...(signature !== undefined && { signature }),
    ...(host !== undefined && { host }),
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason: reason as FailureReason }),
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  }
}

async function examplesOf(
  ledger: FailureLedger,
  { signature }: LedgerGroup,
): Promise<readonly LedgerEntry[]> {
  const { entries } = await ledger.page(EXAMPLES_MAX, { signature })
  return entries.slice(0, EXAMPLES_MAX)
}

function groupSeen(
  { signature, kept, total, first, last }: LedgerGroup,
  entries: readonly LedgerEntry[],
): FailureGroup {
  return {
    signature,
    reason: last.reason,
    message: last.message,
    status: last.status ?? null,
    count: kept,
    total,
    firstAt: momentOf(first.at),
    lastAt: momentOf(last.at),
    examples: entries.map(requestSeen),
  }
}

function requestSeen(entry: LedgerEntry): FailedRequest {
  const { id, url, reason, message, status, attempts, worker, signature, at, request } = entry
  return {
    id,
    url,
    method: request?.m ?? 'GET',
    reason,
    message,
    status: status ?? null,
    attempts,
    worker,
    signature,
    at: momentOf(at),
  }
}

function momentOf(at: number): string {
  return new Date(at).toISOString()
}

function textOf(body: string): string {
  return gunzipSync(Buffer.from(body, 'base64')).toString('utf8').slice(0, TEXT_CHARS_MAX)
}
