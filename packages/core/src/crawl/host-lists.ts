/**
 * What stands out among the hosts of a crawl: short lists, of one worker or of all of them, each with what matters most
 * first. They are for people who look, by `webloom status` or a dashboard; nothing is decided by them.
 *
 * A crawl may know millions of hosts and names come from strangers, so a worker's lists are bounded in entries, in the
 * length of each text, and in bytes together.
 */

/** A slot and how much waits for it. */
export interface QueuedSlot {
  readonly slot: string
  /** Requests that wait, as many as this worker knows of. */
  readonly waiting: number
}

/** A host whose last requests have had no good answer. */
export interface FailingHost {
  readonly host: string
  /** Failures in a row. */
  readonly failures: number
  /** The last failure as the log names it. */
  readonly lastError: string
}

/** A host and how slowly it answers. */
export interface SlowHost {
  readonly host: string
  /** Mean of the times from a request's start to its answer, milliseconds. */
  readonly latencyMs: number
}

/** A host that is left alone for a while. */
export interface PausedHost {
  readonly host: string
  /** When the pause ends, milliseconds since 1970. */
  readonly untilMs: number
  readonly why: string
}

/** A host whose requests are dropped (HOST_FAILURES_MAX). */
export interface GivenUpHost {
  readonly host: string
  readonly why: string
  /** When it was given up, milliseconds since 1970. */
  readonly sinceMs: number
}

/** At most HOST_LIST_MAX entries a list, sorted: what matters most comes first. */
export interface HostLists {
  readonly mostQueued: readonly QueuedSlot[]
  readonly failing: readonly FailingHost[]
  readonly slowest: readonly SlowHost[]
  /** The pause that ends last comes first. */
  readonly paused: readonly PausedHost[]
  /** Who was given up last comes first. */
  readonly givenUp: readonly GivenUpHost[]
}

/** The most entries of one list. */
export const HOST_LIST_MAX = 200

/** The most bytes of one worker's lists, as JSON in UTF-8: each heartbeat may carry them. */
export const HOST_LISTS_BYTES_MAX = 64 * 1024

// The longest name that DNS has is 253 characters; a `meta.download_slot` may be longer.
const TEXT_CHARS_MAX = 256

/** Returns the lists sorted and within all bounds. Where their bytes are too many, each list is halved until they fit. */
export function boundedHostLists(lists: HostLists): HostLists {
  let entriesMax = HOST_LIST_MAX
  let bounded = topOfHostLists(lists, entriesMax)
  while (entriesMax > 1 && Buffer.byteLength(JSON.stringify(bounded)) > HOST_LISTS_BYTES_MAX) {
    entriesMax = Math.floor(entriesMax / 2)
    bounded = topOfHostLists(bounded, entriesMax)
  }
  return bounded
}

/** Returns the lists of all workers as one. Of a host that several workers list, the worst that one of them knows is kept. */
export function mergedHostLists(all: readonly HostLists[], entriesMax = HOST_LIST_MAX): HostLists {
  return topOfHostLists(
    {
      mostQueued: all.flatMap((lists) => lists.mostQueued),
      failing: all.flatMap((lists) => lists.failing),
      slowest: all.flatMap((lists) => lists.slowest),
      paused: all.flatMap((lists) => lists.paused),
      givenUp: all.flatMap((lists) => lists.givenUp),
    },
    entriesMax,
  )
}

function topOfHostLists(lists: HostLists, entriesMax: number): HostLists {
  return {
    mostQueued: top(lists.mostQueued, entriesMax, (entry) => entry.waiting),
    failing: top(lists.failing, entriesMax, (entry) => entry.failures),
    slowest: top(lists.slowest, entriesMax, (entry) => entry.latencyMs),
    paused: top(lists.paused, entriesMax, (entry) => entry.untilMs),
    givenUp: top(lists.givenUp, entriesMax, (entry) => entry.sinceMs),
  }
}

function top<Entry extends QueuedSlot | { readonly host: string }>(
  entries: readonly Entry[],
  entriesMax: number,
  rank: (entry: Entry) => number,
): Entry[] {
  const names = new Set<string>()
  const isFirst = (name: string) => names.size < names.add(name).size
  return [...entries]
    .sort((a, b) => rank(b) - rank(a))
    .filter((entry) => names.size < entriesMax && isFirst('slot' in entry ? entry.slot : entry.host))
    .map(shortened)
}

function shortened<Entry extends object>(entry: Entry): Entry {
  const short = (value: unknown) =>
    typeof value === 'string' && value.length > TEXT_CHARS_MAX
      ? `${value.slice(0, TEXT_CHARS_MAX - 1)}…`
      : value
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, short(value)])) as Entry
}
