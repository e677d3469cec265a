/** The desk of a crawl on Redis: over the functions of the queue's package, which the commands call, too. */

import {
  type CrawlDesk,
  type CrawlStatus,
  type FailedFilter,
  type FailedRequest,
  type FailureLedger,
  type FailuresSeen,
  type FilterSeen,
  type HostsSeen,
  type ItemsSeen,
  type KnownSeen,
  type OneHostSeen,
  type ResponseSnapshot,
  type SettingSeen,
  within,
} from '@webloom/core'
import {
  dropFailed,
  pauseCrawl,
  readHostLists,
  readPresence,
  resumeCrawl,
  retryFailed,
  stopCrawl,
} from '@webloom/queue'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { failuresOf } from '../transfer/crawl-failures.ts'
import { withRedisTarget } from '../transfer/crawl-target.ts'
import { DeskFilter } from './desk-filter.ts'
import { ledgerFilter, readFailed, readFailures, readResponse } from './read-failures.ts'
import { readItems } from './read-items.ts'
import { readOneHost } from './read-one-host.ts'
import { readStatus } from './read-status.ts'
import { settingsSeen } from './settings-seen.ts'

/** While Redis hangs, whoever looks is told so after this time. */
const ANSWER_MS_MAX = 4000

export class RedisCrawlDesk implements CrawlDesk {
  readonly id: string
  readonly spider: string
  readonly crawlId: string | null
  readonly server: string
  readonly #crawl: CrawlFromOutside
  readonly #filter: DeskFilter

  constructor(id: string, crawl: CrawlFromOutside) {
    this.id = id
    this.spider = crawl.name.spider
    this.crawlId = crawl.name.crawlId
    this.server = crawl.shown
    this.#crawl = crawl
    this.#filter = new DeskFilter(crawl)
  }

  status(): Promise<CrawlStatus> {
    return this.#ask('the state of the crawl', () => readStatus(this.#crawl))
  }

  hosts(): Promise<HostsSeen> {
    return this.#ask('its hosts', async () => {
      const { redis, keys, crawler } = this.#crawl
      const { present, readAt } = await readPresence(this.#crawl)
      const lists = await readHostLists(redis, keys, present)
      return { mode: crawler.settings.get('QUEUE_MODE'), lists, readAt: readAt.toISOString() }
    })
  }

  host(name: string): Promise<OneHostSeen> {
    return this.#ask('that host', async () => readOneHost(this.#crawl, name, await this.hosts()))
  }

  filter(): Promise<FilterSeen> {
    return this.#ask('its filter', () => this.#filter.seen())
  }

  isKnown(url: string): Promise<KnownSeen> {
    return this.#ask('its filter', () => this.#filter.isKnown(url))
  }

  items(): Promise<ItemsSeen> {
    return this.#ask('its items', async () => readItems(this.#crawl, await this.status()))
  }

  settings(): Promise<readonly SettingSeen[]> {
    return Promise.resolve(settingsSeen(this.#crawl.crawler.settings))
  }

  failures(): Promise<FailuresSeen> {
    return this.#ask('its failures', () => readFailures(this.#ledger))
  }

  failed(filter: FailedFilter, max: number): Promise<readonly FailedRequest[]> {
    return this.#ask('its failures', () => readFailed(this.#ledger, filter, max))
  }

  failedResponse(signature: string): Promise<ResponseSnapshot | undefined> {
    return this.#ask('that response', () => readResponse(this.#ledger, signature))
  }

  /** Takes as long as there are requests to queue: each is queued once, whoever tires of waiting. */
  async retryFailed(filter: FailedFilter): Promise<number> {
    const { queued } = await withRedisTarget(this.#crawl, (target) =>
      retryFailed(target.failures, ledgerFilter(filter), {
        reopen: () => target.adopt({ startEnded: false }),
        mark: (requests) => target.mark(requests),
      }),
    )
    return queued.length
  }

  async dropFailed(filter: FailedFilter): Promise<number> {
    return (await dropFailed(this.#ledger, ledgerFilter(filter))).length
  }

  get #ledger(): FailureLedger {
    return failuresOf(this.#crawl)
  }

  pause(): Promise<boolean> {
    return this.#ask('the pause', () => pauseCrawl(this.#crawl))
  }

  resume(): Promise<boolean> {
    return this.#ask('going on', () => resumeCrawl(this.#crawl))
  }

  stop(reason?: string): Promise<boolean> {
    return this.#ask('the stop', () => stopCrawl(this.#crawl, reason))
  }

  /** Lets go of the filter; the connections are its giver's. */
  close(): Promise<void> {
    return this.#filter.close()
  }

  /** A command would wait for a Redis that is away for as long as that takes. */
  async #ask<T>(what: string, act: () => Promise<T>): Promise<T> {
    const { redis, shown } = this.#crawl
    if (redis.status === 'reconnecting' || redis.status === 'end')
      throw new Error(`Redis at ${shown} cannot be reached`)
    return within(ANSWER_MS_MAX, `${shown}: ${what}`, act())
  }
}
