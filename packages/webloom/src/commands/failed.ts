/** `webloom failed list|show|retry|drop`: the requests that were given up. `webloom quarantine list|retry` are these for one reason. */

import { gunzipSync } from 'node:zlib'
import {
  type FailureReason,
  type FailureSummary,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerGroup,
  UsageError,
} from '@webloom/core'
import { dropFailed, failedRequests, type LedgerFilter, retryFailed } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { byteSize, counted, grouped } from '../terminal/figures.ts'
import { commandName } from '../terminal/resume-line.ts'
import { visible, visibleJson, visibleLines } from '../terminal/sanitize.ts'
import { withFailures } from '../transfer/crawl-failures.ts'
import { withCrawlTarget } from '../transfer/crawl-target.ts'
import { type FilterFlags, filterOf, isFiltered } from '../transfer/failure-filter.ts'

export interface FailedListFlags extends OutsideFlags, FilterFlags {
  readonly limit?: string
}

export interface FailedActFlags extends OutsideFlags, FilterFlags {
  readonly all?: boolean
}

export interface FailedShowFlags extends OutsideFlags {
  readonly body?: boolean
}

const LISTED_BY_DEFAULT = 1000

/** Prints the signatures; with a filter each request that it means. */
export async function failedList(
  Class: SpiderClass,
  flags: FailedListFlags,
  config: LoadedConfig,
): Promise<void> {
  await list(Class, flags, config, (entry) => entry)
}

/** The same of those in quarantine. As JSON they have their older names, too. */
export async function quarantineList(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
): Promise<void> {
  await list(Class, { ...flags, reason: 'quarantined' }, config, (entry) => ({
    ...entry,
    reason: entry.message,
    quarantinedAt: entry.at,
  }))
}

async function list(
  Class: SpiderClass,
  flags: FailedListFlags,
  config: LoadedConfig,
  toJson: (entry: LedgerEntry) => object,
): Promise<void> {
  const filter = filterOf(flags)
  await withFailures(Class, flags, config, async ({ failures }) => {
    const counts = await failures.counts()
    if (!isFiltered(filter)) {
      const groups = await failures.groups()
      if (flags.json) console.log(visibleJson(JSON.stringify({ ...counts, groups })))
      else printGroups(counts, groups)
      return
    }
    const max = limitOf(flags)
    const { listed, isMore } = await firstOf(failedRequests(failures, filter), max)
    if (flags.json) {
      console.log(visibleJson(JSON.stringify(listed.map(toJson))))
      return
    }
    for (const entry of listed) printEntry(entry)
    if (listed.length === 0) console.log(nothing(filter.reason))
    else if (isMore) console.log(`these are the first ${grouped(max)}; --limit shows more`)
  })
}

/** Prints one request with all that is known of it, or a signature with its first response. */
export async function failedShow(
  Class: SpiderClass,
  what: string,
  flags: FailedShowFlags,
  config: LoadedConfig,
): Promise<void> {
  await withFailures(Class, flags, config, async ({ failures, typed }) => {
    const entries = await failures.find([what])
    const groups = await failures.groups()
    const named = entries[0]?.signature ?? what
    const group = groups.find(({ signature }) => signature === named || signature.endsWith(`:${named}`))
    if (!group)
      throw new UsageError(
        'WL_USAGE',
        `${what} is neither a request that was given up nor a signature: ${commandName()} failed list ${typed}  shows them`,
      )
    const snapshot = await failures.snapshot(group.signature)
    const body = snapshot && textOf(snapshot.body)
    if (flags.json) {
      console.log(
        visibleJson(JSON.stringify({ entries, group, snapshot: snapshot && { ...snapshot, body } })),
      )
      return
    }
    if (flags.body) {
      if (body === undefined) throw new UsageError('WL_USAGE', `no response of ${group.signature} is kept`)
      process.stdout.write(visibleLines(body))
      return
    }
    for (const entry of entries) {
      printEntry(entry)
      console.log(
        visible(
          `  request    ${entry.request ? JSON.stringify(entry.request) : 'not kept: it cannot be retried'}`,
        ),
      )
    }
    printGroup(group)
    if (snapshot)
      console.log(
        visible(
          `  response   ${snapshot.status} ${snapshot.contentType}  ${byteSize(snapshot.bytes)} of ${snapshot.url} (--body prints it)`,
        ),
      )
  })
}

/** Queues requests again, each once, however often the same line is run. */
export async function failedRetry(
  Class: SpiderClass,
  ids: readonly string[],
  flags: FailedActFlags,
  config: LoadedConfig,
): Promise<void> {
  const filter = meant(ids, flags)
  await withCrawlTarget(Class, flags, config, async (target) => {
    let adopted: string | undefined
    const { queued, unreadable } = await retryFailed(target.failures, filter, {
      reopen: async () => {
        adopted = await target.adopt({ startEnded: false })
      },
      mark: (requests) => target.mark(requests),
    })
    if (flags.json) console.log(visibleJson(JSON.stringify({ queued, unreadable })))
    else reportRetried(queued, unreadable, filter)
    if (queued.length > 0 && adopted !== 'running' && !flags.json) {
      console.log(`${target.goesOnBy}  goes on with ${queued.length === 1 ? 'it' : 'them'}`)
      if (target.hasForgotten())
        console.log(
          'the requests seen were deleted when the crawl ended (SCHEDULER_PERSIST is false): links on these pages count as new and are crawled, too',
        )
    }
    checkAll(ids, queued, 'retried')
  })
}

/** Removes requests from the ledger; they are not crawled. */
export async function failedDrop(
  Class: SpiderClass,
  ids: readonly string[],
  flags: FailedActFlags,
  config: LoadedConfig,
): Promise<void> {
  const filter = meant(ids, flags)
  await withFailures(Class, flags, config, async ({ failures }) => {
    const gone = await dropFailed(failures, filter)
    if (flags.json) console.log(visibleJson(JSON.stringify(gone)))
    else
      console.log(gone.length === 0 ? nothing(filter.reason) : `dropped ${counted(gone.length, 'request')}`)
    checkAll(ids, gone, 'dropped')
  })
}

function meant(ids: readonly string[], flags: FailedActFlags): LedgerFilter {
  const filter = filterOf(flags)
  const all = ids.length > 0 ? { ...filter, ids } : filter
  const { reason, ...others } = all
  if (flags.all || isFiltered(others) || (reason !== undefined && reason !== 'quarantined')) return all
  throw new UsageError(
    'WL_USAGE',
    'name which ones are meant: ids (failed list prints them), --signature, --host, --status, --reason, --since, --until; or --all',
  )
}

function checkAll(ids: readonly string[], done: readonly string[], what: string): void {
  const missing = ids.filter((id) => !done.includes(id))
  if (missing.length > 0)
    throw new UsageError(
      'WL_USAGE',
      `not ${what}, because they do not exist, do not match, or cannot be read by this release: ${missing.join(', ')}`,
    )
}

function limitOf({ limit = `${LISTED_BY_DEFAULT}` }: FailedListFlags): number {
  const max = Number(limit)
  if (Number.isInteger(max) && max > 0) return max
  throw new UsageError('WL_USAGE', `--limit is ${limit}; expected a whole number, 1 or more`)
}

async function firstOf(
  pages: AsyncIterable<readonly LedgerEntry[]>,
  max: number,
): Promise<{ listed: LedgerEntry[]; isMore: boolean }> {
  const listed: LedgerEntry[] = []
  for await (const entries of pages) {
    listed.push(...entries)
    if (listed.length > max) return { listed: listed.slice(0, max), isMore: true }
  }
  return { listed, isMore: false }
}

function printGroups(
  { kept, total, trimmed, quarantined }: LedgerCounts,
  groups: readonly LedgerGroup[],
): void {
  if (groups.length === 0) console.log(total === 0 ? 'no request was given up' : 'the ledger is empty')
  if (groups.length === 0 && total === 0) return
  for (const group of groups) printGroup(group)
  const gone = trimmed > 0 ? `; ${grouped(trimmed)} were removed, as FAILED_MAX was reached` : ''
  console.log(
    `${counted(kept, 'request')} of ${grouped(total)} that were given up${gone}; ${grouped(quarantined)} quarantined`,
  )
}

function printGroup({ signature, kept, total, trimmed, first, last }: LedgerGroup): void {
  const gone = trimmed > 0 ? `, ${grouped(trimmed)} removed` : ''
  console.log(visible(`${signature}  ${grouped(kept)} of ${grouped(total)}${gone}`))
  console.log(visible(`  ${first.reason}: ${first.message}`))
  console.log(visible(`  first  ${whenAndWhere(first)}`))
  if (last.at !== first.at || last.url !== first.url) console.log(visible(`  last   ${whenAndWhere(last)}`))
}

function printEntry(entry: LedgerEntry): void {
  const { id, url, reason, message, signature, attempts, worker, history = [] } = entry
  console.log(visible(`${id}  ${url || '(cannot be read by this release)'}`))
  if (reason !== 'quarantined') {
    const by = worker === '' ? '' : `  ${worker}`
    console.log(visible(`  ${momentOf(entry)}  ${signature}  ${counted(attempts, 'try', 'tries')}${by}`))
    console.log(visible(`  ${reason}: ${message}`))
    return
  }
  console.log(visible(`  ${momentOf(entry)}  ${message}`))
  for (const { at, worker: who, what } of history)
    console.log(visible(`  ${momentOf({ at })}  ${what}  ${who}`))
}

function reportRetried(queued: readonly string[], unreadable: readonly string[], filter: LedgerFilter): void {
  if (filter.ids || queued.length <= 20) for (const id of queued) console.log(visible(`queued again  ${id}`))
  else console.log(`queued ${counted(queued.length, 'request')} again`)
  if (unreadable.length > 0)
    console.log(
      `${counted(unreadable.length, 'request')} cannot be retried: too large to be kept, or of another release. They stay`,
    )
  if (queued.length + unreadable.length === 0) console.log(nothing(filter.reason))
}

function nothing(reason?: FailureReason): string {
  return reason === 'quarantined' ? 'nothing is quarantined' : 'no request that was given up matches'
}

function whenAndWhere(failure: FailureSummary): string {
  return `${momentOf(failure)}  ${failure.url || '(cannot be read by this release)'}`
}

function momentOf({ at }: { readonly at: number }): string {
  return new Date(at).toISOString()
}

function textOf(body: string): string {
  return gunzipSync(Buffer.from(body, 'base64')).toString('utf8')
}
