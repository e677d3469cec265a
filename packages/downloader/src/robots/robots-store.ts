import type { Awaitable } from '@webloom/core'

interface Asked {
  /** When the site is to be asked again, by `Date.now()`. Until then the entry holds. */
  readonly askAgainAtMs: number
}

/** The site has a robots.txt. */
export interface RobotsRules extends Asked {
  readonly outcome: 'rules'
  /** The file, one character for each byte. */
  readonly file: string
}

/** The site has no robots.txt, or none that can be fetched (4xx): everything may be fetched. */
export interface RobotsAbsent extends Asked {
  readonly outcome: 'absent'
}

/** The site could not tell (5xx, no answer): nothing may be fetched. */
export interface RobotsUnreachable extends Asked {
  readonly outcome: 'unreachable'
  /** A status, or the kind of a `DownloadError`. */
  readonly reason: string
  readonly tries: number
  readonly sinceMs: number
  /** True: requests no longer wait for the site. */
  readonly isGivenUp: boolean
}

/** What a site answered when asked for its robots.txt. Plain JSON, as workers share it. */
export type RobotsEntry = RobotsRules | RobotsAbsent | RobotsUnreachable

/** Remembers what sites answered. A lost entry costs one more request to a site, and nothing else. */
export interface RobotsStore {
  /**
   * Returns the entry of an origin such as `https://example.com`, also one that no longer holds: it is used while the site
   * is unreachable.
   */
  get(origin: string): Awaitable<RobotsEntry | undefined>
  /** Stores the entry for `ttlMs` at the longest. */
  set(origin: string, entry: RobotsEntry, ttlMs: number): Awaitable<void>
}

interface Kept {
  readonly entry: RobotsEntry
  readonly untilMs: number
}

export interface MemoryRobotsStoreOptions {
  readonly sitesMax: number
  /** `Date.now` by default. */
  readonly now?: () => number
}

// Parsed, a file takes up to nine times as much (measured with the shortest of rules): 80 MiB in all at worst.
const FILE_BYTES_MAX = 8_388_608

/** Entries in this process. Past the bounds of sites or bytes, the entry that was used longest ago goes first. */
export class MemoryRobotsStore implements RobotsStore {
  readonly #kept = new Map<string, Kept>()
  readonly #sitesMax: number
  readonly #now: () => number
  #fileBytes = 0

  constructor({ sitesMax, now = Date.now }: MemoryRobotsStoreOptions) {
    this.#sitesMax = sitesMax
    this.#now = now
  }

  get(origin: string): RobotsEntry | undefined {
    const kept = this.#kept.get(origin)
    if (!kept) return undefined
    this.#forget(origin)
    if (kept.untilMs <= this.#now()) return undefined
    this.#keep(origin, kept)
    return kept.entry
  }

  set(origin: string, entry: RobotsEntry, ttlMs: number): void {
    this.#forget(origin)
    this.#keep(origin, { entry, untilMs: this.#now() + ttlMs })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#sitesMax && this.#fileBytes <= FILE_BYTES_MAX) break
      if (oldest !== origin) this.#forget(oldest)
    }
  }

  #keep(origin: string, kept: Kept): void {
    this.#kept.set(origin, kept)
    this.#fileBytes += fileBytesOf(kept.entry)
  }

  #forget(origin: string): void {
    const kept = this.#kept.get(origin)
    if (!kept) return
    this.#kept.delete(origin)
    this.#fileBytes -= fileBytesOf(kept.entry)
  }
}

function fileBytesOf(entry: RobotsEntry): number {
  return entry.outcome === 'rules' ? entry.file.length : 0
}
