/**
 * One filter spread over several servers: a request's fingerprint chooses the server that remembers it.
 *
 * A question goes to all of them at once, each with its part, and is answered when all have answered. While one of them is
 * away the question waits or fails as a whole. Asking again is harmless: servers that had answered tell the asker the same
 * again.
 *
 * Each server stores which part it is, and of how many. With the list in another order, or a longer one, most requests
 * would be looked up on the wrong server, so such a list is refused. Servers cannot be added to a crawl that is under way.
 */

import { hash } from 'node:crypto'
import type { DupeFilter, Logger, Request, Seen } from '@webloom/core'
import type { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import { type ShardedDescription, shardedDescription } from './sharded-description.ts'

/** One server's part of a filter. */
export interface Shard {
  /** The filter, made with its part as `shard`. */
  readonly filter: RedisDupeFilter & Pick<DupeFilter, 'forget'>
  /** The server for logs and descriptions, without its password. */
  readonly server: string
}

/** The options of a filter on several servers. */
export interface ShardedDupeFilterOptions {
  /** All of one kind, in the order of DUPEFILTER_REDIS_URL. */
  readonly shards: readonly Shard[]
  /** Warns when some of the servers hold nothing of a filter that others have. */
  readonly logger: Logger
}

/** Any filter on Redis, spread over several servers. */
export class ShardedDupeFilter implements DupeFilter {
  /** Makes a request new again. Absent where the filters cannot forget. */
  readonly forget?: (request: Request) => Promise<void>
  readonly #shards: readonly Shard[]
  readonly #filters: readonly Shard['filter'][]
  readonly #logger: Logger

  constructor({ shards, logger }: ShardedDupeFilterOptions) {
    this.#shards = shards
    this.#filters = shards.map(({ filter }) => filter)
    this.#logger = logger
    if (this.#filters.every((filter) => filter.forget)) {
      this.forget = async (request) => this.#filterFor(request).forget?.(request)
    }
  }

  async open(): Promise<void> {
    // All servers are checked before the first is written to: a list that is refused must leave nothing on a new server.
    await Promise.all(this.#filters.map((filter) => filter.refuseOtherShard()))
    await this.#warnOfNewcomers()
    await Promise.all(this.#filters.map((filter) => filter.open()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.close()))
  }

  async clear(): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.clear()))
  }

  async joined(goesOn: boolean): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.joined(goesOn)))
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
    const parts = this.#filters.map((filter) => ({ filter, at: [] as number[], requests: [] as Request[] }))
    for (const [n, request] of requests.entries()) {
      const part = parts[this.#indexFor(request)]!
      part.at.push(n)
      part.requests.push(request)
    }
    // Servers without a part of the question are told that the asker asks: its earlier attempt, which may have asked them,
    // is now over.
    const answers = await allOrNone(parts.map((part) => part.filter.requestsSeen(part.requests, asker)))
    const seen = new Array<Seen>(requests.length)
    for (const [index, { at }] of parts.entries()) {
      for (const [n, place] of at.entries()) seen[place] = answers[index]![n]!
    }
    return seen
  }

  /**
   * Settles the asker on all servers, as only they know which of them an earlier attempt asked. It travels with their next
   * question.
   */
  async settled(asker: string): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.settled(asker)))
  }

  async unsettled(askers: readonly string[]): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.unsettled(askers)))
  }

  async mayBeOutdated(asker: string): Promise<boolean> {
    const answers = await Promise.all(this.#filters.map((filter) => filter.mayBeOutdated(asker)))
    return answers.includes(true)
  }

  keepUnsettled(asker: string): () => void {
    const ends = this.#filters.map((filter) => filter.keepUnsettled(asker))
    return () => {
      for (const end of ends) end()
    }
  }

  async givenBack(asker: string): Promise<void> {
    await Promise.all(this.#filters.map((filter) => filter.givenBack(asker)))
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
    return shardOf(first!.fingerprintOf(request), this.#filters.length)
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
 * Returns which of `count` servers a fingerprint belongs to. It is hashed once more, as filters use its digits for bits and
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
