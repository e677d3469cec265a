/**
 * One filter in several parts: a request's fingerprint chooses the part that remembers it. Each part is on a server of its own
 * (DUPEFILTER_REDIS_URL as a list), or has keys of its own, which a Redis Cluster places and moves by itself (DUPEFILTER_SHARDS).
 *
 * A question goes at once to all parts that have links of it, one call each, and is answered when all have answered. While one of
 * them is away the question waits or fails as a whole. Asking again is harmless: parts that had answered tell the asker the same
 * again. Parts that were not asked are told later that the asker is settled (redis/filter-part.ts).
 *
 * Each part stores which one it is, and of how many. With the list in another order, or a longer one, most requests
 * would be looked up in the wrong part, so such a list is refused. Parts cannot be added to a crawl that is under way.
 */

import { hash } from 'node:crypto'
import type { Awaitable, DupeFilter, Logger, Request, Seen } from '@webloom/core'
import { IN_DOUBT_ASKER } from '../asking/claims.ts'
import type { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import { type ShardedDescription, shardedDescription } from './sharded-description.ts'

/** One part of a filter. */
export interface Shard {
  /** The filter, made with its part as `shard`. */
  readonly filter: RedisDupeFilter & Pick<DupeFilter, 'forget'>
  /** The server for logs and descriptions, without its password; `#07` for a part that has keys of its own. */
  readonly server: string
}

/** The options of a filter in several parts. */
export interface ShardedDupeFilterOptions {
  /** All of one kind, in the order of DUPEFILTER_REDIS_URL, or of their numbers. */
  readonly shards: readonly Shard[]
  /** They are on one Redis: it is told apart by the first of them. */
  readonly isOneRedis?: boolean
  /** Warns when some of the servers hold nothing of a filter that others have. */
  readonly logger: Logger
}

/** Any filter on Redis, in several parts. */
export class ShardedDupeFilter implements DupeFilter {
  /** Makes a request new again. Absent where the filters cannot forget. */
  readonly forget?: (request: Request) => Promise<void>
  readonly #shards: readonly Shard[]
  readonly #filters: readonly Shard['filter'][]
  readonly #placed: readonly Shard['filter'][]
  readonly #logger: Logger

  constructor({ shards, isOneRedis = false, logger }: ShardedDupeFilterOptions) {
    this.#shards = shards
    this.#filters = shards.map(({ filter }) => filter)
    this.#placed = isOneRedis ? this.#filters.slice(0, 1) : this.#filters
    this.#logger = logger
    if (this.#filters.every((filter) => filter.forget)) {
      this.forget = async (request) => this.#filterFor(request).forget?.(request)
    }
  }

  /** The main key of the whole filter. */
  get key(): string {
    return this.#filters[0]!.part.key
  }

  /** Throws SettingsError when other parts are stored than these. Writes nothing. */
  async refuseOther(): Promise<void> {
    await Promise.all(this.#filters.map(({ part }) => part.refuseOther()))
  }

  async open(): Promise<void> {
    // All parts are checked before the first is written to: a list that is refused must leave nothing on a new server.
    await this.refuseOther()
    await this.#warnOfNewcomers()
    await Promise.all(this.#filters.map((filter) => filter.open()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.close()))
  }

  async clear(): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.clear()))
  }

  async place(): Promise<string> {
    const places = await Promise.all(this.#placed.map((filter) => filter.place()))
    return hash('sha1', places.join())
  }

  async joined(goesOn: boolean): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.joined(goesOn)))
  }

  async crawlLost(): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.crawlLost()))
  }

  async knowsLostCrawl(signal?: AbortSignal): Promise<boolean> {
    return (await Promise.all(this.#filters.map((filter) => filter.knowsLostCrawl(signal)))).includes(true)
  }

  async crawlsBesides(queue: string, run?: string): Promise<string[]> {
    const besides = await Promise.all(this.#filters.map((filter) => filter.crawlsBesides(queue, run)))
    return [...new Set(besides.flat())]
  }

  async crawlEnded(): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.crawlEnded()))
  }

  /** Resolves to true when any server has keys of this filter. Writes nothing, and may be called before `open`. */
  async exists(): Promise<boolean> {
    return (await this.#existing()).includes(true)
  }

  async requestSeen(request: Request, asker?: string): Promise<boolean> {
    if (asker === undefined) return this.#filterFor(request).requestSeen(request)
    const [seen] = await this.requestsSeen([request], asker)
    return seen !== false
  }

  async requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]> {
    const asked = new Map<number, { readonly at: number[]; readonly requests: Request[] }>()
    for (const [n, request] of requests.entries()) {
      const index = this.#indexFor(request)
      const part = asked.get(index) ?? { at: [], requests: [] }
      asked.set(index, part)
      part.at.push(n)
      part.requests.push(request)
    }
    const questions = [...asked].map(([index, part]) =>
      this.#filters[index]!.requestsSeen(part.requests, asker),
    )
    const answers = await allOrNone(questions)
    const seen = new Array<Seen>(requests.length)
    for (const [index, { at }] of [...asked.values()].entries()) {
      for (const [n, place] of at.entries()) seen[place] = answers[index]![n]!
    }
    return seen
  }

  /** Settles the asker in the parts that told it of new links, and tells the others, which may have told an earlier attempt. */
  async settled(asker: string): Promise<void> {
    const asked = this.#askedBy(asker)
    // The one link of such an asker is in one part. Which one, another worker may have been told.
    if (asker.startsWith(IN_DOUBT_ASKER)) {
      await Promise.all((asked.length > 0 ? asked : this.#filters).map((filter) => filter.settled(asker)))
      return
    }
    const elsewhere = (asked[0] ?? this.#filters[0]!).part.settlingElsewhere(asker)
    const rooms: Promise<void>[] = []
    for (const filter of this.#filters) {
      const { part } = filter
      const room = part.hasTold(asker) ? filter.settled(asker) : part.settledElsewhere(asker, elsewhere)
      if (room) rooms.push(room)
    }
    await Promise.all(rooms)
  }

  /** The parts that the asker's present attempt has asked. */
  #askedBy(asker: string): Shard['filter'][] {
    return this.#filters.filter(({ part }) => part.hasAsked(asker))
  }

  async unsettled(askers: readonly string[]): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.unsettled(askers)))
  }

  mayBeOutdated(asker: string): Awaitable<boolean> {
    const answers = this.#askedBy(asker).map((filter) => filter.mayBeOutdated(asker))
    if (answers.every((answer) => typeof answer === 'boolean')) return answers.includes(true)
    return Promise.all(answers).then((all) => all.includes(true))
  }

  keepUnsettled(asker: string): () => void {
    const ends = this.#askedBy(asker).map((filter) => filter.keepUnsettled(asker))
    return () => {
      for (const end of ends) end()
    }
  }

  async givenBack(asker: string): Promise<void> {
    await Promise.all(this.#askedBy(asker).map((filter) => filter.givenBack(asker)))
  }

  /** Resolves to true when the request was seen before. Records nothing. */
  has(request: Request): Promise<boolean> {
    return this.#filterFor(request).has(request)
  }

  async describe(): Promise<ShardedDescription> {
    const descriptions = await Promise.all(this.#filters.map((filter) => filter.describe()))
    return shardedDescription(
      descriptions,
      this.#shards.map(({ server }) => server),
    )
  }

  /** Resolves to the bytes of all servers together; to undefined where one cannot tell. */
  async memoryBytes(): Promise<number | undefined> {
    let sum: number | undefined = 0
    for (const bytes of await Promise.all(this.#filters.map((filter) => filter.memoryBytes()))) {
      sum = sum === undefined || bytes === undefined ? undefined : sum + bytes
    }
    return sum
  }

  #filterFor(request: Request): Shard['filter'] {
    return this.#filters[this.#indexFor(request)]!
  }

  #indexFor(request: Request): number {
    const [first] = this.#filters
    return shardOf(first!.partTextOf(request), this.#filters.length)
  }

  #existing(): Promise<boolean[]> {
    return Promise.all(this.#filters.map((filter) => filter.exists()))
  }

  async #warnOfNewcomers(): Promise<void> {
    const existing = await this.#existing()
    if (!existing.includes(true) || !existing.includes(false)) return
    const servers = this.#shards.filter((_, index) => !existing[index]).map(({ server }) => server)
    this.#logger.warn(
      { servers },
      'these servers have nothing of the dupefilter, though others have: they are new, or have lost it. Pages that only they knew are crawled again',
    )
  }
}

/**
 * Returns which of `count` parts a fingerprint belongs to. It is hashed once more, as filters use its digits for bits and
 * strings.
 */
export function shardOf(fingerprint: string, count: number): number {
  return Number.parseInt(hash('sha1', `shard ${fingerprint}`).slice(0, 12), 16) % count
}

/** As Promise.all, but rejects only when all have ended: a late answer must not mix with the next question's. */
async function allOrNone<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
