/** The dupefilter of a crawl, opened by the first look at it and kept open. */

import {
  type Crawler,
  type DupeFilter,
  type DupeFilterDescription,
  type FilterSeen,
  type FingerprintAlgorithm,
  filterFingerprinterOf,
  type KnownSeen,
  Request,
  type Settings,
  UsageError,
} from '@webloom/core'
import { notedFilterOf, type SettingsTold } from '@webloom/queue'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { chooseDupefilter, refuseInvisible } from '../assembly/open-dupefilter.ts'
import { settingsAsNoted } from '../redis/filter-note.ts'
import type { RedisServers } from '../redis/redis-servers.ts'

/** Bloom filters say more than others. */
type Described = DupeFilterDescription & {
  readonly capacity?: number
  readonly fillRatio?: number
  readonly errorNow?: number
  readonly pagesLost?: number
  readonly warnings?: readonly string[]
}

/** Those with longer names first, as one begins with another. */
const ALGORITHMS: readonly FingerprintAlgorithm[] = ['scrapy-redis', 'scrapy-2.6', 'scrapy']

export class DeskFilter {
  readonly #crawl: CrawlFromOutside
  readonly #told: SettingsTold | undefined
  #chosen: Promise<DupeFilter> | undefined
  #isOpen = false

  constructor(crawl: CrawlFromOutside, told: SettingsTold | undefined) {
    this.#crawl = crawl
    this.#told = told
  }

  async seen(): Promise<FilterSeen> {
    const { filter, exists } = await this.#opened()
    return filterSeen(filter, this.#crawl.crawler.settings, exists)
  }

  async isKnown(url: string): Promise<KnownSeen> {
    const { filter, exists } = await this.#opened()
    return knownSeen(filter, this.#crawl.crawler.settings, url, exists)
  }

  /** Looking at it makes nothing: one of which nothing is stored stays closed. */
  async #opened(): Promise<{ readonly filter: DupeFilter; readonly exists: boolean }> {
    this.#chosen ??= this.#choose()
    const filter = await this.#chosen.catch((error: unknown) => {
      this.#chosen = undefined
      throw error
    })
    if (!this.#isOpen) {
      if (!((await filter.exists?.()) ?? true)) return { filter, exists: false }
      await filter.open()
      this.#isOpen = true
    }
    return { filter, exists: true }
  }

  async #choose(): Promise<DupeFilter> {
    const { crawler: written, servers, folder } = this.#crawl
    const settings = settingsAsNoted(written.settings, await notedFilterOf(this.#crawl))
    const crawler = { ...written, settings }
    refuseElsewhere(this.#told, crawler.servers)
    await refuseInvisible(crawler.settings, folder)
    const filter = await chooseDupefilter(crawler as Crawler, { folder, servers })
    await servers.open()
    return filter
  }

  async close(): Promise<void> {
    if (this.#isOpen) await (await this.#chosen)?.close()
  }
}

/** @param exists false: nothing is stored of it, and it is not open */
export async function filterSeen(filter: DupeFilter, settings: Settings, exists = true): Promise<FilterSeen> {
  const described: Described = await filter.describe()
  const { capacity } = described
  return {
    name: described.name,
    fingerprinter: described.fingerprinter,
    urlRules: described.urlRules ?? null,
    exists,
    count: exists ? described.count : 0,
    capacity: capacity ?? null,
    fill: described.fillRatio ?? null,
    errorNow: described.errorNow ?? null,
    errorAtCapacity: capacity === undefined ? null : settings.getFloat('BLOOMFILTER_ERROR_RATE'),
    pagesLost: described.pagesLost ?? null,
    memoryBytes: (exists ? await filter.memoryBytes?.() : 0) ?? null,
    warnings: described.warnings ?? [],
  }
}

/** Resolves to whether the filter has seen the URL, asked for by GET. */
export async function knownSeen(
  filter: DupeFilter,
  settings: Settings,
  url: string,
  exists = true,
): Promise<KnownSeen> {
  const request = new Request(url)
  const known = filter.has ? exists && (await filter.has(request)) : null
  // As the filter makes it.
  const { fingerprinter: name } = await filter.describe()
  const auto = ALGORITHMS.find((algorithm) => name.startsWith(algorithm)) ?? 'scrapy'
  return { url: request.url, known, fingerprint: filterFingerprinterOf(settings, auto).fingerprint(request) }
}

/** Refuses a filter on servers of its own that are not named here: workers do not tell their passwords. */
function refuseElsewhere(told: SettingsTold | undefined, servers: RedisServers): void {
  const url = told?.settings.find(({ name }) => name === 'DUPEFILTER_REDIS_URL')?.value
  if (url === undefined || url === null) return
  const setting = servers.targets('dupefilter')[0]?.setting
  if (setting === 'DUPEFILTER_REDIS_URL') return
  throw new UsageError(
    'WL_USAGE',
    `the filter is on ${[url].flat().join(', ')}; set DUPEFILTER_REDIS_URL where the dashboard runs`,
  )
}
