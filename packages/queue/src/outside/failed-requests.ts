/**
 * What one does with the ledger of failures from outside: `webloom failed`, `webloom quarantine`, and whatever shows a crawl. All of
 * them go through here.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FailureLedger,
  type FailureReason,
  hostNameOf,
  type LedgerEntry,
  type QueuedRequest,
  slotNamed,
} from '@webloom/core'
import { retriedOf } from '../failures/failed-entry.ts'

/** Which failures are meant: those for which all that is named holds. With nothing named all are. */
export interface LedgerFilter {
  /** Ids of requests. */
  readonly ids?: readonly string[]
  /** A signature, or the hash at its end. */
  readonly signature?: string
  /** The host of the URL. */
  readonly host?: string
  readonly status?: number
  readonly reason?: FailureReason
  /** Given up at this moment or later, milliseconds since 1970. */
  readonly since?: number
  /** Given up before this moment. */
  readonly until?: number
}

export interface RetryOptions {
  /**
   * Lets the crawl go on: called before the first request is queued, and again when the crawl has ended meanwhile. Not called
   * when there is nothing to retry.
   */
  readonly reopen: () => Promise<unknown>
  /** Called with each part before it is queued: the filter records that these pages are seen. */
  readonly mark?: (requests: readonly QueuedRequest[]) => Promise<() => Promise<void>>
}

export interface RetriedFailures {
  /** Ids of the requests that are queued. */
  readonly queued: readonly string[]
  /** Ids of those that stay, as they are too large to be kept, or cannot be read by this release. */
  readonly unreadable: readonly string[]
}

const MAX_ENTRIES_PER_PAGE = 200
/** The crawl may be just being emptied by the last of its workers. */
const REOPENED_MAX = 40
const REOPEN_AFTER_MS = 250

/** Yields the failures that are meant, in parts, those in quarantine first; each once. */
export async function* failedRequests(
  ledger: FailureLedger,
  filter: LedgerFilter = {},
): AsyncGenerator<readonly LedgerEntry[]> {
  if (filter.ids) {
    yield (await ledger.find(filter.ids)).filter((entry) => isMeant(entry, filter))
    return
  }
  const signature = filter.signature && (await wholeSignature(ledger, filter.signature))
  const taken = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.page(MAX_ENTRIES_PER_PAGE, {
      ...(cursor && { cursor }),
      ...(signature && { signature }),
    })
    const fresh = page.entries.filter((entry) => isMeant(entry, filter) && !taken.has(entry.key + entry.id))
    // Only what is in quarantine may come twice.
    for (const { key, id, history } of fresh) if (history) taken.add(key + id)
    if (fresh.length > 0) yield fresh
    if (page.cursor === undefined) return
    cursor = page.cursor
  }
}

/**
 * Queues the failures that are meant, each in the step in which it leaves the ledger: killed at any moment and called again, it
 * queues each once. One that fails again meanwhile stays.
 */
export async function retryFailed(
  ledger: FailureLedger,
  filter: LedgerFilter,
  { reopen, mark }: RetryOptions,
): Promise<RetriedFailures> {
  const queued: string[] = []
  const unreadable: string[] = []
  const isLater = await ledger.laterThanNow()
  let isOpen = false
  for await (const entries of failedRequests(ledger, filter)) {
    const meant = entries.filter((entry) => !isLater(entry))
    const readable = meant.filter((entry) => retriedOf(entry) !== undefined)
    for (const { id } of meant) if (!readable.some((one) => one.id === id)) unreadable.push(id)
    if (readable.length === 0) continue
    if (!isOpen) await reopen()
    isOpen = true
    const settle = await mark?.(readable.map((entry) => retriedOf(entry)!))
    queued.push(...(await queuedOf(ledger, readable, reopen)))
    await settle?.()
  }
  return { queued, unreadable }
}

/** Removes the failures that are meant; returns the ids of their requests. When all are meant, what was counted of them goes, too. */
export async function dropFailed(ledger: FailureLedger, filter: LedgerFilter): Promise<readonly string[]> {
  const gone: string[] = []
  for await (const entries of failedRequests(ledger, filter)) gone.push(...(await ledger.drop(entries)))
  if (Object.keys(filter).length === 0) await ledger.forgetGone()
  return gone
}

async function queuedOf(
  ledger: FailureLedger,
  entries: readonly LedgerEntry[],
  reopen: () => Promise<unknown>,
): Promise<readonly string[]> {
  const all: string[] = []
  let rest = entries
  for (let times = 0; times < REOPENED_MAX; times++) {
    const queued = await ledger.retry(rest)
    if (queued === 'ended') {
      await sleep(times === 0 ? 0 : REOPEN_AFTER_MS)
      await reopen()
      continue
    }
    all.push(...queued)
    rest = queued.length < rest.length ? await stillThere(ledger, rest) : []
    if (rest.length === 0 || queued.length === 0) return all
  }
  throw new Error(
    'the crawl has ended, and is being emptied by one of its workers. Nothing is lost: run the same line again in some seconds',
  )
}

/** Returns the requests that were passed over though they are there: in a shard that has ended, when others have not. */
async function stillThere(
  ledger: FailureLedger,
  entries: readonly LedgerEntry[],
): Promise<readonly LedgerEntry[]> {
  const keys = new Set(entries.map(({ id, key }) => `${id} ${key}`))
  const found = await ledger.find(entries.map(({ id }) => id))
  return found.filter(({ id, key }) => keys.has(`${id} ${key}`))
}

/** Returns the signature that ends with this hash, or is this. */
async function wholeSignature(ledger: FailureLedger, named: string): Promise<string> {
  const groups = await ledger.groups()
  const whole = groups.find(({ signature }) => signature === named || signature.endsWith(`:${named}`))
  return whole?.signature ?? named
}

function isMeant(
  entry: LedgerEntry,
  { signature, host, status, reason, since, until }: LedgerFilter,
): boolean {
  const isOfSignature =
    signature === undefined || entry.signature === signature || entry.signature.endsWith(`:${signature}`)
  return (
    isOfSignature &&
    (host === undefined || hostNameOf(entry.url) === slotNamed(host)) &&
    (status === undefined || entry.status === status) &&
    (reason === undefined || entry.reason === reason) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  )
}
