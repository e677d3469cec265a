/** What is needed to look at a crawl whose project is elsewhere: from what its workers have told of their settings. */

import { silentLogger, type WrittenSettings } from '@webloom/core'
import type { KnownCrawl, SettingsTold } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import { crawlBase } from '../assembly/crawl-base.ts'
import { type CrawlFromOutside, crawlFromOutside } from '../assembly/crawl-from-outside.ts'
import type { DeskServer } from '../redis/desk-servers.ts'

/** Not the addresses of Redis, which the desk has itself, with their passwords; nor settings of what runs in a worker alone. */
const OF_A_CRAWL =
  /^(?:QUEUE_MODE|STATS_KEY|REDIS_ITEMS_KEY|REDIS_HIGH_WATER|SCHEDULER_\w*KEY|DUPEFILTER_(?!REDIS_URL)\w+|BLOOMFILTER_\w+|FINGERPRINT\w*|CANONICALIZER|NORMALIZE_URL_OPTIONS|URL_RULES|CONCURRENT_\w+|DOWNLOAD_(?:DELAY|SLOTS|DELAY_JITTER)|RANDOMIZE_DOWNLOAD_DELAY)$/

export async function toldCrawl(
  crawl: KnownCrawl,
  told: SettingsTold | undefined,
  server: DeskServer,
): Promise<CrawlFromOutside> {
  const settings = (told?.settings ?? []).filter(({ name }) => OF_A_CRAWL.test(name))
  const values = Object.fromEntries(settings.map(({ name, value }) => [name, value])) as WrittenSettings
  try {
    return await withSettings(crawl, told, server, values)
  } catch {
    // A value that was cut, or of a newer release: the crawl is seen all the same, with what its settings are by default.
    return withSettings(crawl, told, server, {})
  }
}

async function withSettings(
  { spider, crawlId, statsKey }: KnownCrawl,
  told: SettingsTold | undefined,
  { servers, named, folder }: DeskServer,
  values: WrittenSettings,
): Promise<CrawlFromOutside> {
  const Class = class extends Spider {
    override name = spider
  }
  const command = { ...named, ...values, ...(crawlId !== null && { CRAWL_ID: crawlId }) }
  const base = await crawlBase(Class, { layers: { command }, folder, createLogger: () => silentLogger })
  const crawler = { ...base, redis: servers.redis, servers, close() {} }
  return { ...crawlFromOutside(crawler, folder), statsKey, seedKey: told?.seedKey ?? null }
}
