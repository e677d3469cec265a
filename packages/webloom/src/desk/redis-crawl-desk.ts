/** The desk of a crawl on Redis: over the functions of the queue's package, which the commands call, too. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CrawlDesk,
  type CrawlStatus,
  type FailedFilter,
  type FailedRequest,
  type FailedRetried,
  type FailureLedger,
  type FailuresSeen,
  type FilterSeen,
  type HistorySample,
  type HostChange,
  type HostsSeen,
  type ItemsSeen,
  isEnded,
  type KnownSeen,
  type OneHostSeen,
  type ResponseSnapshot,
  type RunSeen,
  type ScaleSeen,
  type SettingSeen,
  within,
} from '@webloom/core'
import {
  dropFailed,
  pauseCrawl,
  readHostLists,
  readHostTotals,
  readPresence,
  readRuns,
  readSamples,
  refuseOtherFormat,
  resumeCrawl,
  retryFailed,
  type SettingsTold,
  seenRun,
  stopCrawl,
} from '@webloom/queue'
import type { Redis } from 'ioredis'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { failuresOf } from '../transfer/crawl-failures.ts'
import { withRedisTarget } from '../transfer/crawl-target.ts'
import { DeskFilter } from './desk-filter.ts'
import { readOneHost } from './hosts/read-one-host.ts'
import { setHost } from './hosts/set-host.ts'
import { ledgerFilter, readFailed, readFailures, readResponse } from './read-failures.ts'
import { readItems } from './read-items.ts'
import { readStatus } from './read-status.ts'
import { readScale } from './scale/read-scale.ts'
import { settingsSeen } from './settings-seen.ts'

/** While Redis hangs, a look at the crawl is refused after this time. */
const ANSWER_MS_MAX = 4000
/** How often a Redis is asked whether it is there, while something takes long. */
const THERE_ASKED_MS = 1000
const SAMPLE_EVERY_MS = 10_000
/** A day of them. */
const SAMPLES_MAX = 8640

export class RedisCrawlDesk implements CrawlDesk {
  readonly id: string
  readonly spider: string
  readonly crawlId: string | null
  readonly server: string
  readonly #crawl: CrawlFromOutside
  readonly #filter: DeskFilter
  readonly #told: SettingsTold | undefined

  /** @param told what its workers tell of their settings; undefined: they do not tell */
  constructor(id: string, crawl: CrawlFromOutside, told?: SettingsTold) {
    this.#told = told
    this.id = id
    this.spider = crawl.name.spider
    this.crawlId = crawl.name.crawlId
    this.server = crawl.shown
    this.#crawl = crawl
    this.#filter = new DeskFilter(crawl, told)
  }

  get crawl(): CrawlFromOutside {
    return this.#crawl
  }

  /** False: its workers have other settings now. */
  isOf(told: SettingsTold | undefined): boolean {
    return JSON.stringify(told) === JSON.stringify(this.#told)
  }

  status(): Promise<CrawlStatus> {
    return this.#ask('the state of the crawl', () => readStatus(this.#crawl))
  }

  hosts(): Promise<HostsSeen> {
    return this.#ask('its hosts', async () => {
      const { redis, keys, crawler } = this.#crawl
      await refuseOtherFormat(this.#crawl)
      const { present, readAt } = await readPresence(this.#crawl)
      const mode = crawler.settings.get('QUEUE_MODE')
      const [lists, totals] = await Promise.all([
        readHostLists(redis, keys, present),
        mode === 'turns' ? readHostTotals(redis, keys) : undefined,
      ])
      return { mode, lists, ...(totals && { totals }), readAt: readAt.toISOString() }
    })
  }

  host(name: string): Promise<OneHostSeen> {
    return this.#ask('that host', async () => readOneHost(this.#crawl, name, await this.hosts()))
  }

  scale(): Promise<ScaleSeen> {
    return this.#ask('its workers', async () => readScale(this.#crawl, await readStatus(this.#crawl)))
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

  /** Samples come every ten seconds: as many as that time may have. */
  history(sinceMs: number): Promise<readonly HistorySample[]> {
    return this.#ask('its history', async () => {
      const { redis, keys } = this.#crawl
      const most = Math.min(SAMPLES_MAX, Math.ceil((Date.now() - sinceMs) / SAMPLE_EVERY_MS) + 1)
      const samples = await readSamples(redis, keys, Math.max(1, most))
      return samples.filter(({ atMs }) => atMs >= sinceMs)
    })
  }

  runs(): Promise<readonly RunSeen[]> {
    return this.#ask('its runs', async () => {
      const { redis, keys } = this.#crawl
      return (await readRuns(redis, keys)).map(seenRun)
    })
  }

  settings(): Promise<readonly SettingSeen[]> {
    return Promise.resolve(settingsSeen(this.#told))
  }

  failures(): Promise<FailuresSeen> {
    return this.#ask('its failures', async () => readFailures(await this.#ledger()))
  }

  failed(filter: FailedFilter, max: number): Promise<readonly FailedRequest[]> {
    return this.#ask('its failures', async () => readFailed(await this.#ledger(), filter, max))
  }

  failedResponse(signature: string): Promise<ResponseSnapshot | undefined> {
    return this.#ask('that response', async () => readResponse(await this.#ledger(), signature))
  }

  /** Takes as long as there are requests to queue: each is queued once, even when its caller no longer waits. */
  async retryFailed(filter: FailedFilter): Promise<FailedRetried> {
    const retry = () =>
      withRedisTarget(this.#crawl, (target) =>
        retryFailed(target.failures, ledgerFilter(filter), {
          reopen: () => target.adopt({ startEnded: false }),
          mark: (requests) => target.mark(requests),
        }),
      )
    const { queued, unreadable } = await this.#whileThere(retry)
    return { queued: queued.length, unreadable: unreadable.length }
  }

  async dropFailed(filter: FailedFilter): Promise<number> {
    const gone = await this.#whileThere(async () => dropFailed(await this.#ledger(), ledgerFilter(filter)))
    return gone.length
  }

  #ledger(): Promise<FailureLedger> {
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

  async setHost(name: string, change: HostChange): Promise<void> {
    await this.#ask('that host', () => setHost(this.#crawl, name, change))
  }

  /** Lets go of the filter; the connections are its giver's. */
  close(): Promise<void> {
    return this.#filter.close()
  }

  /** A command would wait for a Redis that is away for as long as that takes. */
  async #ask<T>(what: string, act: () => Promise<T>): Promise<T> {
    this.#refuseAway()
    return within(ANSWER_MS_MAX, `${this.#crawl.shown}: ${what}`, act())
  }

  /** For what may take minutes: it may do so as long as Redis answers. */
  async #whileThere<T>(act: () => Promise<T>): Promise<T> {
    this.#refuseAway()
    const done = new AbortController()
    try {
      return await Promise.race([act(), this.#silence(done.signal)])
    } finally {
      done.abort()
    }
  }

  /** Rejects when Redis does not answer any more, and with `signal`. */
  async #silence(signal: AbortSignal): Promise<never> {
    const { redis, shown } = this.#crawl
    for (;;) {
      await within(ANSWER_MS_MAX, `Redis at ${shown}`, redis.ping())
      await sleep(THERE_ASKED_MS, undefined, { signal })
    }
  }

  #refuseAway(): void {
    const { redis, shown } = this.#crawl
    if (isAway(redis)) throw new Error(`Redis at ${shown} cannot be reached`)
  }
}

/** True while there is no connection; one that was given up is begun anew. */
export function isAway(redis: Redis): boolean {
  if (isEnded(redis)) redis.connect().catch(() => {})
  return redis.status === 'reconnecting' || redis.status === 'end' || redis.status === 'close'
}
