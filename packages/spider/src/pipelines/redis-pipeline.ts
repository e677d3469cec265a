/**
 * Items as JSON to a Redis list, as scrapy-redis writes them, or to a stream.
 *
 * An item is written before its page is committed, so it is there at least once: when the page runs again after a crash,
 * or a reply is lost, it is there twice, under the same id. A stream's entry has the id in a field of its own, beside the
 * item. A list's entry is the item and nothing else, so that consumers of scrapy-redis read what they always read; with
 * REDIS_ITEMS_ID_FIELD the id is put into the item under that name, unless the item has such a field itself.
 *
 * The items of a page come all at once: what comes in one turn of the event loop goes in one round trip.
 *
 * A list that is full, or a Redis that is, holds up the pages whose items wait here, and with them the crawl. Only what no
 * waiting can cure is an error: a key that holds something else, a login that may not write.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Crawler,
  crawlKey,
  type ItemContext,
  type ItemPipeline,
  isRedisFull,
  type Logger,
  luaScriptsIn,
  type RedisScript,
  redisRefusal,
  type ScriptRunner,
  type StatsCollector,
  WebloomError,
} from '@webloom/core'
import { itemJson } from '../scraping/written-item.ts'

/** What the pipeline needs of an ioredis connection. */
export interface ItemsRedis extends ScriptRunner {
  /**
   * Of the key: `none` when there is nothing; any other type than the pipeline's is an error before the first fetch.
   */
  type(key: string): Promise<string>
}

/** Where the pipeline `redis` writes items, and how. */
export interface RedisPipelineOptions {
  /** Opened and closed by whoever gives it. */
  readonly redis: ItemsRedis
  /** With spider and CRAWL_ID in it. */
  readonly key: string
  /** A list takes items at its end, a stream as entries with one field. */
  readonly as: 'list' | 'stream'
  /** 0: no bound. */
  readonly itemsMax: number
  /** The field of an item that gets its id, in a list; null: none. */
  readonly idField: string | null
  /** Told when Redis is full or away. */
  readonly logger: Logger
  /** Counts what was written, and what waited for room. */
  readonly stats: Pick<StatsCollector, 'inc'>
}

/** An item on its way, and whom to tell that it is there. */
interface WaitingItem {
  readonly id: string
  readonly json: string
  readonly written: PromiseWithResolvers<void>
}

/** CONCURRENT_ITEMS may be large; a script must not be. */
const MAX_ITEMS_PER_SCRIPT = 500
/** How often is looked for room. */
const FULL_PAUSE_MS = 200

/** Writes items as JSON to a Redis list or stream: `redis` in ITEM_PIPELINES. */
export class RedisPipeline implements ItemPipeline {
  readonly #options: RedisPipelineOptions
  readonly #script: RedisScript
  readonly #closing = new AbortController()
  #waiting: WaitingItem[] = []
  #isWriting = false

  constructor(options: RedisPipelineOptions) {
    this.#options = options
    this.#script = SCRIPTS[options.as]
  }

  /** As the settings ask for it, on the crawl's connection for items. */
  static fromCrawler({ redis, settings, spider, logger, stats }: Crawler): RedisPipeline {
    return new this({
      redis: redis('items', 'ITEM_PIPELINES names redis'),
      key: crawlKey(settings.getString('REDIS_ITEMS_KEY'), {
        spider: spider.name,
        crawlId: settings.get('CRAWL_ID'),
      }),
      as: settings.get('REDIS_ITEMS_AS'),
      itemsMax: settings.getInt('REDIS_ITEMS_MAX'),
      idField: settings.get('REDIS_ITEMS_ID_FIELD'),
      logger,
      stats,
    })
  }

  /** Throws WL_OUTPUT_UNWRITABLE before anything is fetched, when the key holds something else. */
  async openSpider(): Promise<void> {
    const { redis, key, as } = this.#options
    const type = await redis.type(key)
    if (type === 'none' || type === as) return
    throw new WebloomError(
      'WL_OUTPUT_UNWRITABLE',
      `items go to a ${as}, but the key ${key} holds a ${type}. Choose another REDIS_ITEMS_KEY or REDIS_ITEMS_AS`,
    )
  }

  /** Resolves when Redis has the item. Throws TypeError for one that has no JSON form, and WL_OUTPUT_FAILED. */
  async processItem(item: unknown, { id }: ItemContext): Promise<unknown> {
    const written = Promise.withResolvers<void>()
    this.#waiting.push({ id, json: this.#jsonOf(item, id), written })
    if (!this.#isWriting) {
      this.#isWriting = true
      setImmediate(() => void this.#writeAll())
    }
    await written.promise
    return item
  }

  /**
   * What still waits for room stays unwritten, and nobody is told: told of an error, its page would be counted as done,
   * and it is to run again.
   */
  closeSpider(): void {
    this.#closing.abort()
  }

  #jsonOf(item: unknown, id: string): string {
    const { as, idField } = this.#options
    const json = itemJson(item)
    if (as === 'stream' || idField === null || !json.startsWith('{')) return json
    return JSON.stringify({ [idField]: id, ...(JSON.parse(json) as object) })
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      try {
        await this.#write(this.#waiting.slice(0, MAX_ITEMS_PER_SCRIPT))
      } catch (error) {
        for (const { written } of this.#waiting.splice(0)) written.reject(error)
      }
    }
    this.#isWriting = false
  }

  async #write(batch: readonly WaitingItem[]): Promise<void> {
    let whyNot = await this.#add(batch)
    if (whyNot === undefined || this.#closing.signal.aborted) return
    const { logger, stats, key } = this.#options
    const since = performance.now()
    stats.inc('redis_items/wait_count')
    logger.warn({ key }, `${whyNot}; the crawl waits`)
    while (whyNot !== undefined && !this.#closing.signal.aborted) {
      await sleep(FULL_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
      whyNot = await this.#add(this.#waiting.slice(0, MAX_ITEMS_PER_SCRIPT))
    }
    const seconds = Math.round((performance.now() - since) / 100) / 10
    if (whyNot === undefined) logger.info({ key, seconds }, 'items are written again')
  }

  /** Writes as many as there is room for; why there is none for the rest, or undefined. */
  async #add(batch: readonly WaitingItem[]): Promise<string | undefined> {
    const { redis, key, as, itemsMax, stats } = this.#options
    const entries = batch.flatMap(({ id, json }) => (as === 'stream' ? [id, json] : [json]))
    let count: number
    try {
      count = Number(await this.#script.run(redis, [key], [itemsMax, ...entries]))
    } catch (error) {
      return whyLater(error, key)
    }
    for (const { written } of this.#waiting.splice(0, count)) written.resolve()
    if (count > 0) stats.inc('redis_items/written_count', count)
    return count < batch.length
      ? `the list ${key} holds ${itemsMax} items (REDIS_ITEMS_MAX) and nobody takes them`
      : undefined
  }
}

const script = luaScriptsIn(new URL('../../lua/', import.meta.url))
const SCRIPTS = { list: script('items-list.lua'), stream: script('items-stream.lua') }

/** Why it may work later. Throws WL_OUTPUT_FAILED when it never will. */
function whyLater(error: unknown, key: string): string {
  const { message } = error as Error
  if (isRedisFull(error)) return `the items’ Redis has reached its maxmemory and takes no more for ${key}`
  if (redisRefusal(error) === undefined) return `the items’ Redis takes nothing for ${key} (${message})`
  throw new WebloomError('WL_OUTPUT_FAILED', `items cannot be written to the key ${key}: ${message}`, {
    cause: error,
  })
}
