/**
 * The desks of all crawls that are noted on some Redis servers (`webloom:crawls`), whichever machine their projects are on. Their settings
 * are those that their workers have told there, without secrets; where the servers of the other roles are is known to whoever looks.
 *
 * A crawl's desk is made by the first look at it and kept. A Redis that does not answer costs its own crawls alone, and is asked again
 * with the next look.
 */

import { type CrawlDesk, type CrawlDesks, type CrawlSummary, within } from '@webloom/core'
import { crawlRedisKeys, type KnownCrawl, readCrawls, readSettings } from '@webloom/queue'
import type { DeskServer } from '../redis/desk-servers.ts'
import { readSummary } from './read-summary.ts'
import { isAway, RedisCrawlDesk } from './redis-crawl-desk.ts'
import { toldCrawl } from './told-crawl.ts'

const ANSWER_MS_MAX = 1500
/** Whose settings are read anew so often: a worker that joins may have others. */
const TOLD_FRESH_MS = 30_000
/** Crawls of each server that are listed, those that were joined last. */
const LISTED_MAX = 100

interface DeskOfCrawl {
  readonly desk: RedisCrawlDesk
  readonly madeAt: number
}

export class RegistryDesks implements CrawlDesks {
  readonly #servers: readonly DeskServer[]
  readonly #desks = new Map<string, DeskOfCrawl>()
  readonly #spiders: readonly string[]
  /** With the last look at each server that answered. */
  #listed: readonly Listed[] = []

  /** @param spiders whose crawls are shown; none: all are */
  constructor(servers: readonly DeskServer[], spiders: readonly string[] = []) {
    this.#servers = servers
    this.#spiders = spiders
  }

  async crawls(): Promise<readonly CrawlSummary[]> {
    const summaries = await Promise.all(
      (await this.#list()).map(async (one) => {
        const desk = await this.#deskOf(one)
        return readSummary(one.id, desk.crawl)
      }),
    )
    return summaries.sort(inOrder)
  }

  async desk(id: string): Promise<CrawlDesk | undefined> {
    const isMeant = (one: Listed) => one.id === id
    const one = this.#listed.find(isMeant) ?? (await this.#list()).find(isMeant)
    return one && this.#deskOf(one)
  }

  async close(): Promise<void> {
    for (const { desk } of this.#desks.values()) await desk.close().catch(() => {})
    for (const { servers } of this.#servers) servers.close()
  }

  async #list(): Promise<readonly Listed[]> {
    const lists = await Promise.all(this.#servers.map((server, n) => this.#listOf(server, n + 1)))
    this.#listed = lists.flat()
    return this.#listed
  }

  async #listOf(server: DeskServer, number: number): Promise<readonly Listed[]> {
    const redis = server.servers.connection('queue')!
    const { shown } = server.servers.targets('queue')[0]!
    const before = this.#listed.filter((one) => one.server === server)
    try {
      if (isAway(redis)) throw new Error(`Redis at ${shown} cannot be reached`)
      const known = await within(ANSWER_MS_MAX, `Redis at ${shown}`, readCrawls(redis))
      return known
        .filter(({ spider }) => this.#spiders.length === 0 || this.#spiders.includes(spider))
        .slice(0, LISTED_MAX)
        .map((crawl) => ({ id: idOf(crawl, number), crawl, server }))
    } catch (error) {
      if (before.length > 0) return before
      throw error
    }
  }

  async #deskOf({ id, crawl, server }: Listed): Promise<RedisCrawlDesk> {
    const known = this.#desks.get(id)
    if (known && performance.now() - known.madeAt < TOLD_FRESH_MS) return known.desk
    const told = await this.#told(crawl, server).catch(() => undefined)
    if (known && (told === undefined || known.desk.isOf(told))) {
      this.#desks.set(id, { desk: known.desk, madeAt: performance.now() })
      return known.desk
    }
    const desk = new RedisCrawlDesk(id, await toldCrawl(crawl, told, server), told)
    this.#desks.set(id, { desk, madeAt: performance.now() })
    await known?.desk.close().catch(() => {})
    return desk
  }

  #told(crawl: KnownCrawl, { servers }: DeskServer) {
    return within(
      ANSWER_MS_MAX,
      'the settings of the crawl',
      readSettings(servers.connection('queue')!, crawlRedisKeys(crawl)),
    )
  }
}

interface Listed {
  readonly id: string
  readonly crawl: KnownCrawl
  readonly server: DeskServer
}

/** The queue's name without its braces; a crawl of the second server has its number behind it. */
function idOf({ queueName }: KnownCrawl, server: number): string {
  const name = queueName.slice(1, -1)
  return server === 1 ? name : `${name}:${server}`
}

function inOrder(a: CrawlSummary, b: CrawlSummary): number {
  const rank = ({ state }: CrawlSummary) =>
    state === 'running' ? 0 : state === 'stopped' ? 1 : state === 'finished' ? 2 : 3
  return rank(a) - rank(b) || (b.begunAt ?? '').localeCompare(a.begunAt ?? '') || a.id.localeCompare(b.id)
}
