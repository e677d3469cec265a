import { type Awaitable, type Crawler, RecentBytes, type Settings, SiteTable } from '@webloom/core'

interface Asked {
  /** When the site is to be asked again, by `Date.now()`. Until then the entry holds. */
  readonly askAgainAtMs: number
}

/** The site has a robots.txt. */
export interface RobotsRules extends Asked {
  readonly outcome: 'rules'
  /** The lines that count (`rulesAlone`), one character for each byte. */
  readonly file: string
}

/** The site has no robots.txt, none that can be fetched (4xx), or one that forbids nothing: everything may be fetched. */
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

/** What the parts of a worker's memory of robots.txt may take, in bytes. */
export interface RobotsCacheShares {
  readonly sitesBytes: number
  readonly filesBytes: number
  readonly troublesBytes: number
  readonly parsedBytes: number
}

/** Divides ROBOTSTXT_CACHE_MAXSIZE. */
export function robotsCacheShares(settings: Settings): RobotsCacheShares {
  const eighth = Math.floor(settings.getInt('ROBOTSTXT_CACHE_MAXSIZE') / 8)
  return { sitesBytes: 3 * eighth, filesBytes: 2 * eighth, troublesBytes: eighth, parsedBytes: 2 * eighth }
}

interface Trouble {
  readonly entry: RobotsUnreachable
  readonly untilMs: number
}

export interface MemoryRobotsStoreOptions extends Omit<RobotsCacheShares, 'parsedBytes'> {
  /** Called when an entry, or a file that sites share, is forgotten before its time as there is no room. */
  readonly onForgotten?: () => void
  /** `Date.now` by default. */
  readonly now?: () => number
}

// The answers in the table of sites: this one, or the number of a file.
const ABSENT = 1
// A string, an entry of a map, and an object; measured 220 to 300.
const TROUBLE_BYTES = 512
const FILE_BYTES_MIN = 256

/**
 * Entries in this process, bounded by bytes. A site takes 20 bytes in a table; equal files are kept once, and the one used
 * longest ago goes first. Sites that could not tell, which are few, have a map of their own. Times are kept in whole seconds,
 * rounded up.
 */
export class MemoryRobotsStore implements RobotsStore {
  readonly #sites: SiteTable
  readonly #files: RecentBytes<number, string>
  readonly #numbers = new Map<string, number>()
  readonly #troubles: RecentBytes<string, Trouble>
  readonly #now: () => number
  #lastNumber = ABSENT

  constructor(options: MemoryRobotsStoreOptions) {
    const { sitesBytes, filesBytes, troublesBytes, onForgotten = () => {}, now = Date.now } = options
    this.#sites = new SiteTable(sitesBytes, onForgotten)
    this.#files = new RecentBytes(filesBytes, (_, file) => {
      this.#numbers.delete(file)
      onForgotten()
    })
    this.#troubles = new RecentBytes(troublesBytes, onForgotten)
    this.#now = now
  }

  static fromCrawler({ settings, stats }: Crawler): MemoryRobotsStore {
    return new this({ ...robotsCacheShares(settings), onForgotten: () => stats.inc('robotstxt/forgotten') })
  }

  get(origin: string): RobotsEntry | undefined {
    const trouble = this.#troubles.get(origin)
    if (trouble) return trouble.untilMs > this.#now() ? trouble.entry : undefined
    const site = this.#sites.get(origin)
    if (!site || site.untilS * 1000 <= this.#now()) return undefined
    const askAgainAtMs = site.askAgainAtS * 1000
    if (site.answer === ABSENT) return { outcome: 'absent', askAgainAtMs }
    const file = this.#files.get(site.answer)
    return file === undefined ? undefined : { outcome: 'rules', file, askAgainAtMs }
  }

  set(origin: string, entry: RobotsEntry, ttlMs: number): void {
    const nowMs = this.#now()
    const untilMs = nowMs + ttlMs
    if (entry.outcome === 'unreachable') {
      this.#sites.delete(origin)
      this.#troubles.set(origin, { entry, untilMs }, TROUBLE_BYTES + origin.length)
      return
    }
    this.#troubles.delete(origin)
    const answer = entry.outcome === 'absent' ? ABSENT : this.#numberOf(entry.file)
    const [askAgainAtS, untilS] = [Math.ceil(entry.askAgainAtMs / 1000), Math.ceil(untilMs / 1000)]
    this.#sites.set(origin, { answer, askAgainAtS, untilS }, nowMs / 1000)
  }

  #numberOf(file: string): number {
    const known = this.#numbers.get(file)
    const number = known ?? ++this.#lastNumber
    if (known === undefined) {
      this.#numbers.set(file, number)
      this.#files.set(number, file, FILE_BYTES_MIN + file.length)
    } else this.#files.get(number)
    return number
  }
}
