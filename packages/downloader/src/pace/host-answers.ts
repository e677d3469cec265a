import {
  ANSWERING_HOSTS_MAX,
  type AnsweringHost,
  ENTRY_BYTES,
  HOST_ERRORS_MAX,
  RecentBytes,
} from '@webloom/core'

interface CountedHost {
  readonly sinceMs: number
  seenAtMs: number
  /** By status or kind of failure. */
  readonly counts: Map<string, number>
  /** The last ones, the latest first. */
  errors: { readonly reason: string; readonly atMs: number }[]
}

// 2 ** 21, 2 MiB: some 3 000 hosts. One that is forgotten is counted from 0 when it is asked again.
const HOSTS_BYTES_MAX = 2_097_152
/** Kinds that are counted of a host; a server may make up statuses. What comes after these is one kind. */
const KINDS_MAX = 12
const OTHER_KINDS = 'other'
const REASON_CHARS_MAX = 160
// The object, its map with a few kinds, and the texts of its last errors.
const COUNTED_BYTES = 480

/**
 * What the hosts that this worker has asked last have answered, for people who look at one host: how often by status or kind of
 * failure, and the last errors. A page costs a look into a map and an addition.
 */
export class HostAnswers {
  readonly #hosts: RecentBytes<string, CountedHost>
  readonly #now: () => number

  /** @param now milliseconds since 1970; Date.now otherwise */
  constructor(now: () => number = Date.now, hostsBytesMax = HOSTS_BYTES_MAX) {
    this.#now = now
    this.#hosts = new RecentBytes(hostsBytesMax)
  }

  /**
   * @param name as `shownHostOf` has it
   * @param kind the status, or the name of the failure
   * @param error what went wrong, as the log names it; absent for a good answer
   */
  came(name: string, kind: string, error?: string): void {
    const host = this.#of(name)
    const { counts } = host
    const counted = counts.has(kind) || counts.size < KINDS_MAX ? kind : OTHER_KINDS
    counts.set(counted, (counts.get(counted) ?? 0) + 1)
    host.seenAtMs = this.#now()
    if (error === undefined) return
    const reason = error.slice(0, REASON_CHARS_MAX)
    host.errors = [{ reason, atMs: host.seenAtMs }, ...host.errors].slice(0, HOST_ERRORS_MAX)
  }

  /** Returns those that have answered last, as many as are ever told of. */
  list(): AnsweringHost[] {
    const others = Math.max(0, this.#hosts.size - ANSWERING_HOSTS_MAX)
    return [...this.#hosts.entries().drop(others)].map(([host, { counts, errors, ...times }]) => ({
      host,
      counts: Object.fromEntries(counts),
      errors,
      ...times,
    }))
  }

  #of(name: string): CountedHost {
    const known = this.#hosts.get(name)
    if (known) return known
    const now = this.#now()
    const host: CountedHost = { sinceMs: now, seenAtMs: now, counts: new Map(), errors: [] }
    this.#hosts.set(name, host, ENTRY_BYTES + COUNTED_BYTES + name.length)
    return host
  }
}
