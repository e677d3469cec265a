/**
 * Writes items as JSON to a Redis list, as scrapy-redis does, or to a stream.
 *
 * An item is written before its page is committed, so it is there at least once. When the page runs again after a crash, or
 * a reply is lost, the item is there twice, under the same id. A stream's entry has the id in a field of its own, beside
 * the item. A list's entry is the item alone, so that consumers of scrapy-redis need no change; with REDIS_ITEMS_ID_FIELD
 * the id is put into the item under that name, unless the item has such a field.
 *
 * Items of a page come together: those of one turn of the event loop go in one round trip.
 *
 * A list that has reached its bound, or a full Redis, holds up the pages whose items wait here, and with them the crawl.
 * Only what cannot pass is an error: a key that holds another type, a login that may not write, a Redis that was waited for
 * in vain. Whatever was not written when the crawl closes is told then, with its number.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Crawler,
  checkKeyPattern,
  crawlKey,
  crawlNameOf,
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
import { tellUnwritten } from './unwritten-items.ts'

/** The part of an ioredis connection that the pipeline needs. */
export interface ItemsRedis extends ScriptRunner {
  /**
   * Resolves to the key's type, `none` when there is no key. Any other type than the pipeline's is an error before the
   * first fetch.
   */
  type(key: string): Promise<string>
}

/** Where the pipeline `redis` writes items, and how. */
export interface RedisPipelineOptions {
  /** Opened and closed by the caller. */
  readonly redis: ItemsRedis
  /** The key, with spider and CRAWL_ID filled in. */
  readonly key: string
  /** A list gets items at its end, a stream gets entries with one field. */
  readonly as: 'list' | 'stream'
  /** The most items that the key may hold. 0: no bound. */
  readonly itemsMax: number
  /** The field that gets an item's id in a list. Null: none. */
  readonly idField: string | null
  /** Tells when Redis is full or away. */
  readonly logger: Logger
  /** Counts what was written, and what waited for room. */
  readonly stats: Pick<StatsCollector, 'inc'>
}

/** An item under way, and the promise of its page. */
interface WaitingItem {
  readonly id: string
  readonly json: string
  readonly written: PromiseWithResolvers<void>
}

/** CONCURRENT_ITEMS may be large, but a script must be short. */
const MAX_ITEMS_PER_SCRIPT = 500
/** The pause before the next check for room. */
const FULL_PAUSE_MS = 200

/** Writes items as JSON to a Redis list or stream: `redis` in ITEM_PIPELINES. */
export class RedisPipeline implements ItemPipeline {
  readonly #options: RedisPipelineOptions
  readonly #script: RedisScript
  readonly #closing = new AbortController()
  #waiting: WaitingItem[] = []
  #isWriting = false
  /** Items that were refused. */
  #refusedCount = 0
  /** Why what was tried last was not written; undefined when it was. */
  #whyNot: string | undefined

  constructor(options: RedisPipelineOptions) {
    this.#options = options
    this.#script = SCRIPTS[options.as]
  }

  /** Makes the pipeline of the settings, on the crawl's connection for items. */
  static fromCrawler({ redis, settings, spider, logger, stats }: Crawler): RedisPipeline {
    checkKeyPattern(settings.getString('REDIS_ITEMS_KEY'), 'REDIS_ITEMS_KEY')
    return new this({
      redis: redis('items', 'ITEM_PIPELINES names redis'),
      key: crawlKey(settings.getString('REDIS_ITEMS_KEY'), crawlNameOf(settings, spider.name)),
      as: settings.get('REDIS_ITEMS_AS'),
      itemsMax: settings.getInt('REDIS_ITEMS_MAX'),
      idField: settings.get('REDIS_ITEMS_ID_FIELD'),
      logger,
      stats,
    })
  }

  /** Throws WL_OUTPUT_UNWRITABLE before any page is fetched when the key holds another type. */
  async openSpider(): Promise<void> {
    const { redis, key, as } = this.#options
    const type = await redis.type(key)
    if (type === 'none' || type === as) return
    throw new WebloomError(
      'WL_OUTPUT_UNWRITABLE',
      `items go to a ${as}, but the key ${key} holds a ${type}. Choose another REDIS_ITEMS_KEY or REDIS_ITEMS_AS`,
    )
  }

  /** Resolves when Redis has the item. Rejects with TypeError for an item that has no JSON form, and with WL_OUTPUT_FAILED. */
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
   * Leaves items that still wait unwritten, and their promises unsettled: an error would have their page committed, but it
   * must run again.
   */
  closeSpider(): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#tellUnwritten()
  }

  #tellUnwritten(): void {
    const { logger, stats, key } = this.#options
    tellUnwritten({
      logger,
      stats,
      stat: 'redis_items/unwritten_count',
      count: this.#refusedCount + this.#waiting.length,
      where: { key },
      // What is under way may arrive yet.
      mayBeThere: this.#whyNot === undefined,
      why: this.#whyNot ?? `the items’ Redis has not answered yet what was sent for ${key}`,
    })
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
        const refused = this.#waiting.splice(0)
        this.#refusedCount += refused.length
        this.#whyNot = (error as Error).message
        for (const { written } of refused) written.reject(error)
      }
    }
    this.#isWriting = false
  }

  async #write(batch: readonly WaitingItem[]): Promise<void> {
    await this.#add(batch)
    if (this.#whyNot === undefined || this.#closing.signal.aborted) return
    const { logger, stats, key } = this.#options
    const since = performance.now()
    stats.inc('redis_items/wait_count')
    logger.warn({ key }, `${this.#whyNot}; the crawl waits`)
    while (this.#whyNot !== undefined && !this.#closing.signal.aborted) {
      await sleep(FULL_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
      await this.#add(this.#waiting.slice(0, MAX_ITEMS_PER_SCRIPT))
    }
    const seconds = Math.round((performance.now() - since) / 100) / 10
    if (this.#whyNot === undefined) logger.info({ key, seconds }, 'items are written again')
  }

  /** Writes as many items as there is room for, and notes why the rest found none. */
  async #add(batch: readonly WaitingItem[]): Promise<void> {
    const { redis, key, as, itemsMax, stats } = this.#options
    const entries = batch.flatMap(({ id, json }) => (as === 'stream' ? [id, json] : [json]))
    let count: number
    try {
      count = Number(await this.#script.run(redis, [key], [itemsMax, ...entries]))
    } catch (error) {
      this.#whyNot = whyLater(error, key)
      return
    }
    for (const { written } of this.#waiting.splice(0, count)) written.resolve()
    if (count > 0) stats.inc('redis_items/written_count', count)
    this.#whyNot =
      count < batch.length
        ? `the list ${key} holds ${itemsMax} items (REDIS_ITEMS_MAX) and nobody takes them`
        : undefined
  }
}

const script = luaScriptsIn(new URL('../../lua/', import.meta.url))
const SCRIPTS = { list: script('items-list.lua'), stream: script('items-stream.lua') }

/** Returns why the write may succeed later. Throws WL_OUTPUT_FAILED when it never will. */
function whyLater(error: unknown, key: string): string {
  const { message } = error as Error
  if (isRedisFull(error)) return `the items’ Redis has reached its maxmemory and takes no more for ${key}`
  if (redisRefusal(error) === undefined) return `the items’ Redis takes nothing for ${key} (${message})`
  throw new WebloomError('WL_OUTPUT_FAILED', `items cannot be written to the key ${key}: ${message}`, {
    cause: error,
  })
}
