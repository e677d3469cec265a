/**
 * What stands out among the hosts of a crawl: short lists, of one worker or of all of them, each with what matters most
 * first. They are for people who look, by `webloom status` or a dashboard; nothing is decided by them.
 *
 * A crawl may know millions of hosts and names come from strangers, so a worker's lists are bounded in entries, in the
 * length of each text, and in bytes together.
 *
 * A host goes from worker to worker. What the worker that asked it last has seen counts, and not the worst that any of them
 * has seen. So entries say when that was, and a host that answers again is listed as such: it takes the place of the older
 * entries of other workers.
 *
 * All moments are milliseconds since 1970, by the clock of the process that gathered them; whoever reads those of another
 * machine corrects them (`shiftedHostLists`).
 */

import type { QueuedSlot } from '../ports/request-queue.ts'
import { highest } from './highest.ts'

/** A host whose last requests have had no good answer. */
export interface FailingHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** Failures in a row. */
  readonly failures: number
  /** The last failure as the log names it. */
  readonly reason: string
  /** When it failed last. */
  readonly seenAtMs: number
}

/** A host and how slowly it answers. */
export interface SlowHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** From a request's start to its answer, milliseconds: a mean in which the last eight or so answers count most. */
  readonly latencyMs: number
  /** When it answered last. */
  readonly seenAtMs: number
}

/** A host whose answers have been waited for for long: silent, very slow, in the middle of a large body, or with a page that takes a browser long to render. */
export interface UnansweredHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** How many requests have waited for UNANSWERED_FROM_MS or longer. */
  readonly requests: number
  /** When the first of them was sent. */
  readonly sinceMs: number
}

/** A host that is left alone for a while. */
export interface PausedHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** When the pause ends. */
  readonly untilMs: number
  /** The reason: `429, Retry-After 120 s`. */
  readonly reason: string
}

/** A host whose requests are dropped (HOST_FAILURES_MAX). It is not listed as failing, too. */
export interface GivenUpHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** The last failure as the log names it. */
  readonly reason: string
  /** When it was given up. */
  readonly sinceMs: number
  /** When it was tried last. */
  readonly seenAtMs: number
}

/** A host that had failed and answers again. */
export interface RecoveredHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** When it answered for the first time since. */
  readonly seenAtMs: number
}

/** What a host has answered those workers that are present, as far as they remember. */
export interface AnsweringHost {
  /** Its name, and its port where the URL gives one. */
  readonly host: string
  /** How often, by status or kind of failure. */
  readonly counts: Readonly<Record<string, number>>
  /** The last errors as the log names them, the latest first; HOST_ERRORS_MAX at most. */
  readonly errors: readonly HostError[]
  /** Since when it is counted. */
  readonly sinceMs: number
  /** When something came of it last. */
  readonly seenAtMs: number
}

/** An error of a host. */
export interface HostError {
  /** As the log names it. */
  readonly reason: string
  /** When it came. */
  readonly atMs: number
}

/** At most HOST_LIST_MAX entries a list, ANSWERING_HOSTS_MAX of `answers`, sorted: what matters most comes first. */
export interface HostLists {
  /** The slot of which most waits comes first. */
  readonly mostQueued: readonly QueuedSlot[]
  /** Most failures in a row come first. */
  readonly failing: readonly FailingHost[]
  /** Hosts that take SLOW_FROM_MS or longer, the slowest first. */
  readonly slowest: readonly SlowHost[]
  /** Hosts whose answers have been waited for for UNANSWERED_FROM_MS or longer, the longest wait first. */
  readonly unanswered: readonly UnansweredHost[]
  /** The pause that ends last comes first. */
  readonly paused: readonly PausedHost[]
  /** The host that was given up last comes first. */
  readonly givenUp: readonly GivenUpHost[]
  /** The host that answered last comes first. */
  readonly recovered: readonly RecoveredHost[]
  /** The host that was asked last comes first. */
  readonly answers: readonly AnsweringHost[]
}

/** The most entries of one list. */
export const HOST_LIST_MAX = 200

/** The most hosts of which is told what they have answered: some 100 bytes each. */
export const ANSWERING_HOSTS_MAX = 100

/** The most errors that are kept of a host. */
export const HOST_ERRORS_MAX = 3

/** The most bytes of one worker's lists, as JSON in UTF-8: a heartbeat may carry them. */
export const HOST_LISTS_BYTES_MAX = 64 * 1024

/** A host that answers sooner does not stand out, and is not listed as slow. */
export const SLOW_FROM_MS = 500

/** A request that has waited less long for the whole of its answer does not stand out. */
export const UNANSWERED_FROM_MS = 10_000

// The longest name that DNS has is 253 characters; a `meta.download_slot` may be longer.
const TEXT_CHARS_MAX = 256

/**
 * Returns the lists sorted and within all bounds. Where their bytes are too many, `answers` is halved first, then each list, until
 * they fit.
 */
export function boundedHostLists(lists: HostLists): HostLists {
  let bounded = topOfHostLists(lists, HOST_LIST_MAX)
  for (let most = ANSWERING_HOSTS_MAX / 2; most >= 1 && isTooLong(bounded); most /= 2)
    bounded = { ...bounded, answers: bounded.answers.slice(0, most) }
  for (let most = HOST_LIST_MAX / 2; most >= 1 && isTooLong(bounded); most /= 2)
    bounded = topOfHostLists(bounded, Math.floor(most))
  return bounded
}

/**
 * Returns the lists of all workers, or of all parts of one, as one, sorted, with HOST_LIST_MAX entries a list at the most.
 *
 * @param all those that were gathered last come first: how much waits for a slot is taken from the first that names it
 */
export function mergedHostLists(all: readonly Partial<HostLists>[]): HostLists {
  const { mostQueued, failing, slowest, unanswered, paused, givenUp, recovered, answers } = joined(all)
  const seen = newestOf<Seen>([...failing, ...givenUp, ...recovered])
  const isNewest = (entry: Seen) => seen.get(entry.host) === entry
  const merged: HostLists = {
    // Of entries with the same name a map keeps the last.
    mostQueued: [...new Map(mostQueued.toReversed().map((entry) => [entry.slot, entry])).values()],
    failing: failing.filter(isNewest),
    slowest: [...newestOf(slowest).values()],
    unanswered: mergedUnanswered(unanswered),
    paused: [...latestOf(paused, ({ untilMs }) => untilMs).values()],
    givenUp: givenUp.filter(isNewest),
    recovered: recovered.filter(isNewest),
    answers: mergedAnswers(answers),
  }
  return topOfHostLists(merged, HOST_LIST_MAX)
}

/** Returns the lists with all moments so many milliseconds later, for a clock that is ahead by that. */
export function shiftedHostLists(lists: HostLists, byMs: number): HostLists {
  const seen = <Entry extends Seen>(entry: Entry) => ({ ...entry, seenAtMs: entry.seenAtMs + byMs })
  return {
    mostQueued: lists.mostQueued,
    failing: lists.failing.map(seen),
    slowest: lists.slowest.map(seen),
    unanswered: lists.unanswered.map((entry) => ({ ...entry, sinceMs: entry.sinceMs + byMs })),
    paused: lists.paused.map((entry) => ({ ...entry, untilMs: entry.untilMs + byMs })),
    givenUp: lists.givenUp.map((entry) => ({ ...seen(entry), sinceMs: entry.sinceMs + byMs })),
    recovered: lists.recovered.map(seen),
    answers: lists.answers.map((entry) => ({
      ...seen(entry),
      sinceMs: entry.sinceMs + byMs,
      errors: entry.errors.map(({ reason, atMs }) => ({ reason, atMs: atMs + byMs })),
    })),
  }
}

/** Returns one entry a host, which several workers may wait for. */
function mergedUnanswered(entries: readonly UnansweredHost[]): UnansweredHost[] {
  return [...Map.groupBy(entries, ({ host }) => host).values()].map((same) =>
    same.reduce((one, other) => ({
      host: one.host,
      requests: one.requests + other.requests,
      sinceMs: Math.min(one.sinceMs, other.sinceMs),
    })),
  )
}

/** Returns one entry a host: what all workers have counted of it. */
export function mergedAnswers(entries: readonly AnsweringHost[]): AnsweringHost[] {
  return [...Map.groupBy(entries, ({ host }) => host).values()].map((same) => same.reduce(sumOfAnswers))
}

function sumOfAnswers(one: AnsweringHost, other: AnsweringHost): AnsweringHost {
  const counts = new Map(Object.entries(one.counts))
  for (const [kind, count] of Object.entries(other.counts)) counts.set(kind, (counts.get(kind) ?? 0) + count)
  return {
    host: one.host,
    counts: Object.fromEntries(counts),
    errors: [...one.errors, ...other.errors].sort((a, b) => b.atMs - a.atMs).slice(0, HOST_ERRORS_MAX),
    sinceMs: Math.min(one.sinceMs, other.sinceMs),
    seenAtMs: Math.max(one.seenAtMs, other.seenAtMs),
  }
}

type FormOf<Value> = Value extends number
  ? 'number'
  : Value extends string
    ? 'string'
    : Value extends readonly unknown[]
      ? 'errors'
      : 'counts'
type Form<Entry> = { readonly [Field in keyof Entry]: FormOf<Entry[Field]> }

const FORMS: { readonly [Name in keyof HostLists]: Form<HostLists[Name][number]> } = {
  mostQueued: { slot: 'string', waiting: 'number' },
  failing: { host: 'string', failures: 'number', reason: 'string', seenAtMs: 'number' },
  slowest: { host: 'string', latencyMs: 'number', seenAtMs: 'number' },
  unanswered: { host: 'string', requests: 'number', sinceMs: 'number' },
  paused: { host: 'string', untilMs: 'number', reason: 'string' },
  givenUp: { host: 'string', reason: 'string', sinceMs: 'number', seenAtMs: 'number' },
  recovered: { host: 'string', seenAtMs: 'number' },
  answers: { host: 'string', counts: 'counts', errors: 'errors', sinceMs: 'number', seenAtMs: 'number' },
}

/** Returns what can be read of lists that another release may have written: it may leave out some, or give entries another form. */
export function readableHostLists(written: { readonly [Name in keyof HostLists]?: unknown }): HostLists {
  const entries = Object.entries(FORMS).map(([name, form]) => {
    const list = written[name as keyof HostLists]
    return [name, Array.isArray(list) ? list.filter((entry) => hasForm(entry, form)) : []] as const
  })
  return joined([Object.fromEntries(entries)])
}

function hasForm(entry: unknown, form: Readonly<Record<string, string>>): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  return Object.entries(form).every(([field, type]) => isOf(type, entry[field as keyof typeof entry]))
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'errors')
    return (
      Array.isArray(value) && value.every((entry) => hasForm(entry, { reason: 'string', atMs: 'number' }))
    )
  if (type !== 'counts') return typeof value === type
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((count) => typeof count === 'number')
  )
}

interface Seen {
  readonly host: string
  readonly seenAtMs: number
}

function joined(all: readonly Partial<HostLists>[]): HostLists {
  const every = <Name extends keyof HostLists>(name: Name) =>
    all.flatMap((lists) => (lists[name] ?? []) as HostLists[Name][number][])
  return {
    mostQueued: every('mostQueued'),
    failing: every('failing'),
    slowest: every('slowest'),
    unanswered: every('unanswered'),
    paused: every('paused'),
    givenUp: every('givenUp'),
    recovered: every('recovered'),
    answers: every('answers'),
  }
}

function newestOf<Entry extends Seen>(entries: readonly Entry[]): Map<string, Entry> {
  return latestOf(entries, ({ seenAtMs }) => seenAtMs)
}

/** Returns by host its entry with the latest moment; of two with the same one the first. */
function latestOf<Entry extends { readonly host: string }>(
  entries: readonly Entry[],
  momentOf: (entry: Entry) => number,
): Map<string, Entry> {
  const latest = new Map<string, Entry>()
  for (const entry of entries) {
    const known = latest.get(entry.host)
    if (!known || momentOf(entry) > momentOf(known)) latest.set(entry.host, entry)
  }
  return latest
}

function topOfHostLists(lists: HostLists, most: number): HostLists {
  const top = <Entry extends object>(entries: readonly Entry[], rank: (entry: Entry) => number) =>
    highest(entries, most, rank).map(shortened)
  return {
    mostQueued: top(lists.mostQueued, ({ waiting }) => waiting),
    failing: top(lists.failing, ({ failures }) => failures),
    slowest: top(lists.slowest, ({ latencyMs }) => latencyMs),
    unanswered: top(lists.unanswered, ({ sinceMs }) => -sinceMs),
    paused: top(lists.paused, ({ untilMs }) => untilMs),
    givenUp: top(lists.givenUp, ({ sinceMs }) => sinceMs),
    recovered: top(lists.recovered, ({ seenAtMs }) => seenAtMs),
    answers: top(lists.answers, ({ seenAtMs }) => seenAtMs).slice(0, ANSWERING_HOSTS_MAX),
  }
}

function isTooLong(lists: HostLists): boolean {
  return Buffer.byteLength(JSON.stringify(lists)) > HOST_LISTS_BYTES_MAX
}

function shortened<Entry extends object>(entry: Entry): Entry {
  const short = (value: unknown) =>
    typeof value === 'string' && value.length > TEXT_CHARS_MAX
      ? `${value.slice(0, TEXT_CHARS_MAX - 1)}…`
      : value
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, short(value)])) as Entry
}
