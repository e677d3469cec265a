/**
 * The desks of all crawls that are noted on some Redis servers (`webloom:crawls`), whichever machine their projects are on. Their settings
 * are those that their workers have told there, without secrets; where the servers of the other roles are is known to whoever looks.
 *
 * A crawl's desk is made by the first look at it and kept. A Redis that does not answer costs its own crawls alone, and is asked again
 * with the next look. If none of its crawls is known yet, it stands in the list itself, in their place.
 */

import {
  type CrawlDesk,
  type CrawlDesks,
  type CrawlSummary,
  mastersOf,
  type ScheduledRunsSeen,
  within,
} from '@webloom/core'
import { crawlRedisKeys, type KnownCrawl, readCrawls, readScheduledRuns, readSettings } from '@webloom/queue'
import type { DeskServer } from '../redis/desk-servers.ts'
import { readSummary, silentSummary } from './read-summary.ts'
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
  /** Servers that did not answer the last look, and none of whose crawls is known. */
  #silent: readonly Silent[] = []

  /** @param spiders whose crawls are shown; none: all are */
  constructor(servers: readonly DeskServer[], spiders: readonly string[] = []) {
    this.#servers = servers
    this.#spiders = spiders
  }

  async crawls(): Promise<readonly CrawlSummary[]> {
    await this.#look()
    const summaries = await Promise.all(
      this.#listed.map(async (one) => {
        const desk = await this.#deskOf(one)
        return readSummary(one.id, desk.crawl)
      }),
    )
    const silent = this.#silent.map(({ shown, error }) => silentSummary(shown, error.message))
    return [...summaries, ...silent].sort(inOrder)
  }

  async desk(id: string): Promise<CrawlDesk | undefined> {
    const isMeant = (one: Listed) => one.id === id
    if (!this.#listed.some(isMeant)) await this.#look()
    const one = this.#listed.find(isMeant)
    if (one) return this.#deskOf(one)
    // It may be there, for all that is known.
    const [silent] = this.#silent
    if (silent) throw silent.error
    return undefined
  }

  async answers(): Promise<boolean> {
    const masters = this.#servers
      .flatMap(({ servers }) => mastersOf(servers.connection('queue')!))
      // A question to another one would wait for it, beside those before.
      .filter(({ status }) => status === 'ready' || status === 'wait')
    const pings = masters.map((master) => within(ANSWER_MS_MAX, 'PING', master.ping()))
    return Promise.any(pings).then(
      () => true,
      () => false,
    )
  }

  async scheduledRuns(): Promise<readonly ScheduledRunsSeen[]> {
    const looks = this.#servers.map((server, n) => this.#scheduledOn(server, n + 1).catch(() => []))
    return (await Promise.all(looks)).flat()
  }

  async #scheduledOn({ servers, prefixes }: DeskServer, number: number): Promise<ScheduledRunsSeen[]> {
    const redis = servers.connection('queue')!
    if (isAway(redis)) return []
    const all = await within(ANSWER_MS_MAX, 'schedules', readScheduledRuns(redis, prefixes))
    return all
      .filter(({ spider }) => this.#spiders.length === 0 || this.#spiders.includes(spider))
      .slice(0, LISTED_MAX)
      .map(({ id, counts }) => ({ id: idOnServer(id, number), counts }))
  }

  async close(): Promise<void> {
    for (const { desk } of this.#desks.values()) await desk.close().catch(() => {})
    for (const { servers } of this.#servers) servers.close()
  }

  async #look(): Promise<void> {
    const looks = await Promise.all(this.#servers.map((server, n) => this.#lookAt(server, n + 1)))
    this.#listed = looks.flatMap(({ listed }) => listed)
    this.#silent = looks.flatMap(({ silent }) => silent ?? [])
  }

  /** What was listed before stays while its server is away. */
  async #lookAt(server: DeskServer, number: number): Promise<Look> {
    const redis = server.servers.connection('queue')!
    const { shown } = server.servers.targets('queue')[0]!
    const before = this.#listed.filter((one) => one.server === server)
    try {
      if (isAway(redis)) throw new Error(`Redis at ${shown} cannot be reached`)
      const known = await within(ANSWER_MS_MAX, `Redis at ${shown}`, readCrawls(redis, server.prefixes))
      const listed = known
        .filter(({ spider }) => this.#spiders.length === 0 || this.#spiders.includes(spider))
        .slice(0, LISTED_MAX)
        .map((crawl) => ({ id: idOf(crawl, number), crawl, server }))
      return { listed }
    } catch (error) {
      return before.length > 0 ? { listed: before } : { listed: [], silent: { shown, error: error as Error } }
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

interface Silent {
  /** Its address, without its password. */
  readonly shown: string
  readonly error: Error
}

interface Look {
  readonly listed: readonly Listed[]
  readonly silent?: Silent
}

/** The queue's name without its braces; a crawl of the second server has its number behind it. */
function idOf({ queueName }: KnownCrawl, server: number): string {
  return idOnServer(queueName.slice(1, -1), server)
}

function idOnServer(name: string, server: number): string {
  return server === 1 ? name : `${name}:${server}`
}

function inOrder(a: CrawlSummary, b: CrawlSummary): number {
  const rank = ({ state }: CrawlSummary) =>
    state === 'running' ? 0 : state === 'stopped' ? 1 : state === 'finished' ? 2 : 3
  return rank(a) - rank(b) || (b.begunAt ?? '').localeCompare(a.begunAt ?? '') || a.id.localeCompare(b.id)
}
