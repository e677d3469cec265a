/**
 * The crawl that asks a filter, as other crawls of the same filter see it.
 *
 * Several crawls may share a filter, on queues of their own and on several servers. Links that one of them was told are new
 * are queued by it alone. So the names of its askers end in a tag of the crawl and its run, and it has a list `settled` of
 * its own. The filter's record notes the crawl as `crawl:<tag>` → `<ms> <name>`; each worker that joins writes that note,
 * renews it with a question about once a second, and each minute in any case. So a crawl that ends knows whether others go
 * on. A note that is gone, though no crawl has removed it, shows that Redis has lost the filter.
 *
 * The other way about, the queue's Redis may have lost the crawl: what it had queued is gone, and the filter would leave it out. A
 * worker that sees that notes `lost:<tag>`. It may not have lived to see it; so a note of a crawl of the same name that began otherwise
 * tells the same, unless it is renewed: then that crawl is at work on another queue's server.
 *
 * The record also has a random text, `place`, written by the first that asks for it: workers of a crawl that read different ones ask
 * different servers.
 */

import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, type ProtocolTimes, redisNowMs, type StatsCollector } from '@webloom/core'
import type { FilterKeys } from './filter-keys.ts'
import { luaScript, type RedisConnection } from './redis-script.ts'

// 36 bits: of a thousand crawls that ever shared a filter, two have the same tag with a probability of 7 in a million.
const TAG_LETTERS = 6
/** How long workers that are still there know that the filter was emptied on purpose. */
const CLEARED_KEPT_MS = 600_000
/** How often a worker looks whether an earlier crawl of its name still speaks. */
const LOOK_EVERY_MS = 250

export interface FilterCrawlOptions {
  readonly redis: RedisConnection
  readonly keys: FilterKeys
  /** See `RedisDupeFilterOptions`. */
  readonly name: () => string
  readonly logger: Logger
  readonly stats: Pick<StatsCollector, 'inc'> | undefined
  readonly times: ProtocolTimes['filter']
}

/** What the record notes of a crawl. */
interface CrawlNote {
  readonly tag: string
  readonly atMs: number
  readonly name: string
  readonly isLost: boolean
}

const goesOnScript = luaScript('redis/crawl-goes-on.lua')

export class FilterCrawl {
  readonly #options: FilterCrawlOptions
  #name = ''
  #tag = ''
  /** The crawl's part of a question's header, also for a question that notes the crawl again. */
  #header: object = {}
  #notingHeader: object = {}
  /** True when this process has noted the crawl, or heard that it is noted, and has not emptied the filter since. */
  #isNoted = false
  /** True when the queue has lost this crawl. Pages that were in flight then may yet ask. */
  #isLost = false
  #noting: NodeJS.Timeout | undefined
  #place: string | undefined
  #looking: Promise<string> | undefined

  constructor(options: FilterCrawlOptions) {
    this.#options = options
  }

  open(): void {
    this.#name = this.#options.name()
    this.#tag = tagOf(this.#name)
    this.#header = this.#tag === '' ? {} : { crawl: this.#tag, crawlName: this.#name }
    this.#notingHeader = this.#tag === '' ? {} : { ...this.#header, notesCrawl: true }
  }

  /** The end of askers' names; '' for a crawl without a name. */
  get tag(): string {
    return this.#tag
  }

  /** The key of the list of settled askers. All crawls without a name share one. */
  get settledKey(): string {
    const { settled } = this.#options.keys
    return this.#tag === '' ? settled : `${settled}:${this.#tag}`
  }

  /** An asker as Redis knows it. A SHA-1 takes 27 letters instead of 40, which more than pays for the tag. */
  tagged(asker: string): string {
    if (this.#tag === '') return asker
    const name = SHA1.test(asker) ? Buffer.from(asker, 'hex').toString('base64url') : asker
    return name + this.#tag
  }

  /** Returns the crawl's part of a question's header. A crawl that is lost is noted no more: only as lost, where a question has to note it. */
  header(isCleaning: boolean): object {
    return isCleaning && !this.#isLost ? this.#notingHeader : this.#header
  }

  /** @param goesOn a worker of this run has joined this filter before, and none has emptied it since */
  async join(goesOn: boolean): Promise<void> {
    // A process that has adopted a crawl opened the filter before the crawl had a name.
    this.open()
    if (this.#tag === '') return
    const { redis, keys } = this.#options
    const note = `${await redisNowMs(redis)} ${this.#name}`
    const isFirst = (await redis.hsetnx(keys.record, `crawl:${this.#tag}`, note)) === 1
    // It has come back, with the server that had it.
    await redis.hdel(keys.record, `lost:${this.#tag}`)
    this.#isNoted = true
    this.#isLost = false
    this.#staysNoted()
    if (isFirst && goesOn) this.#sayEmptied('when this worker joined the crawl', OTHER_SERVER)
  }

  close(): void {
    clearInterval(this.#noting)
  }

  /** Resolves to what tells the data of this filter from any other. Looks once at a time, however long Redis is away. */
  place(): Promise<string> {
    this.#looking ??= this.#lookForPlace().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /**
   * A place that is gone, with all data, is kept until another is there: by a worker that joins, or by the next question. Nothing is
   * written here, as a part's record that does not say which part it is looks like that of a whole filter.
   */
  async #lookForPlace(): Promise<string> {
    const { redis, keys } = this.#options
    const known = this.#place
    if (known === undefined) await redis.hsetnx(keys.record, 'place', randomUUID())
    const place = (await redis.hget(keys.record, 'place')) ?? known!
    // Unless the filter was emptied meanwhile.
    if (this.#place === known) this.#place = place
    return place
  }

  /** Renews the note: a crawl that is paused, or waits for slow hosts, asks nothing for long but is still there. */
  #staysNoted(): void {
    const { redis, keys, logger, times } = this.#options
    const note = () => goesOnScript.run(redis, [keys.record], [this.#tag, this.#name])
    const failed = (error: unknown) =>
      logger.debug({ err: error }, 'the crawl could not be noted in the filter; trying again')
    clearInterval(this.#noting)
    this.#noting = setInterval(() => note().catch(failed), times.crawlNotedEveryMs).unref()
  }

  /** Called when a question has found no note of this crawl, and has written it again. */
  async unknown(): Promise<void> {
    const wasNoted = this.#isNoted
    this.#isNoted = true
    this.#place = undefined
    if (this.#isLost) await this.#noteLost(this.#tag)
    // Now, as the note is there again: alone it would look like a filter of one part.
    this.place().catch(() => {})
    if (!wasNoted) return
    if ((await this.#options.redis.exists(clearedKey(this.#options.keys))) === 0)
      this.#sayEmptied('while the crawl was running')
  }

  /** Notes that the queue has lost this crawl. A filter that has lost it, too, knows nothing that would be left out. */
  async lost(): Promise<void> {
    this.#isLost = true
    this.close()
    if (this.#tag !== '') await this.#noteLost(this.#tag)
  }

  /**
   * Resolves to whether an earlier crawl of this name was lost. Waits until it is still: its last workers may be about to see that it
   * is lost, and ask until then. Rejects when `signal` fires.
   */
  async knowsLost(signal?: AbortSignal): Promise<boolean> {
    // A process that has adopted a crawl opened the filter before the crawl had a name.
    this.open()
    const { redis, logger, times } = this.#options
    const atFirst = new Map<string, number>()
    // Within it the workers of a crawl that is just lost have seen that.
    const knownAt = performance.now() + times.silenceMs
    for (let looks = 0; ; looks++) {
      const earlier = (await this.#notes()).filter(({ name }) => isEarlier(name, this.#name))
      if (earlier.length === 0) return false
      const now = await redisNowMs(redis)
      const silent = ({ atMs, isLost }: CrawlNote) =>
        now - atMs >= times.silenceMs + (isLost ? 0 : times.crawlNotedEveryMs)
      for (const { tag, atMs } of earlier) if (!atFirst.has(tag)) atFirst.set(tag, atMs)
      const gone = earlier.filter(({ tag, atMs, isLost }) => isLost || atMs === atFirst.get(tag))
      if (gone.length > 0 ? gone.every(silent) : performance.now() > knownAt) {
        // No worker of theirs may have lived to note it, and what has asked lately would look like another crawl that uses the filter.
        for (const { tag } of gone) await this.#noteLost(tag)
        return gone.length > 0
      }
      if (looks === 0) logger.info(waitsForLost(times.silenceMs + times.crawlNotedEveryMs))
      await sleep(LOOK_EVERY_MS, undefined, { ...(signal && { signal }) }).catch(() => {})
      signal?.throwIfAborted()
    }
  }

  /** The record of a filter that was emptied meanwhile stays gone: with this alone it would be that of a filter. */
  async #noteLost(tag: string): Promise<void> {
    const { redis, keys } = this.#options
    if ((await redis.hexists(keys.record, `crawl:${tag}`)) === 0) return
    await redis.hset(keys.record, `lost:${tag}`, '1')
  }

  /** Resolves to the names of other crawls that have asked lately. An earlier run of this crawl is over, and so is one that is lost. */
  async others(): Promise<string[]> {
    if (this.#tag === '') return []
    const { redis } = this.#options
    const now = await redisNowMs(redis)
    return (await this.#notes())
      .filter(
        ({ tag, name, atMs, isLost }) =>
          tag !== this.#tag &&
          !(isLost && isEarlier(name, this.#name)) &&
          crawlIn(name) !== crawlIn(this.#name) &&
          now - atMs < this.#options.times.crawlGoneMs,
      )
      .map(({ name }) => name)
  }

  /**
   * Resolves to the queues of crawls that have asked lately, but for this one. A crawl may be gone from its queue, so that only that is known: one of the
   * same name that still speaks is then at work on another server.
   *
   * @param run one of the crawl's, '' for one that is gone
   */
  async besides(queue: string, run = ''): Promise<string[]> {
    const { redis, times } = this.#options
    const now = await redisNowMs(redis)
    const using = (await this.#notes()).filter(({ name, atMs, isLost }) => {
      if (isLost || crawlIn(name) === crawlIn(run)) return false
      const isNamesake = queueIn(name) === queue
      return now - atMs < (isNamesake ? times.silenceMs + times.crawlNotedEveryMs : times.crawlGoneMs)
    })
    return [...new Set(using.map(({ name }) => queueIn(name)))].filter((one) => one !== '')
  }

  /** Resolves to the keys of all crawls that must go with the filter, and whether a crawl may still use it. */
  async keysOfAll(): Promise<{ keys: string[]; isInUse: boolean }> {
    const { settled } = this.#options.keys
    const notes = await this.#notes()
    return {
      keys: [settled, ...notes.map(({ tag }) => `${settled}:${tag}`)],
      isInUse: notes.some(({ tag }) => tag !== this.#tag),
    }
  }

  /** Notes that the filter was emptied. @param isInUse workers of a crawl may still be there, and must not warn */
  async cleared(isInUse: boolean): Promise<void> {
    this.#isNoted = false
    this.#place = undefined
    if (isInUse) await this.#options.redis.set(clearedKey(this.#options.keys), '1', 'PX', CLEARED_KEPT_MS)
  }

  /** Called when no key of this crawl is left on Redis. */
  async left(): Promise<void> {
    this.#isNoted = false
    const { redis, keys } = this.#options
    await redis.unlink(this.settledKey)
    await redis.hdel(keys.record, `crawl:${this.#tag}`, `lost:${this.#tag}`)
  }

  async #notes(): Promise<CrawlNote[]> {
    const record = await this.#options.redis.hgetall(this.#options.keys.record)
    return Object.entries(record).flatMap(([field, note]) => {
      const [, tag] = /^crawl:(.+)$/.exec(field) ?? []
      const [atMs, ...name] = note.split(' ')
      if (tag === undefined) return []
      return [{ tag, atMs: Number(atMs), name: name.join(' ') || tag, isLost: `lost:${tag}` in record }]
    })
  }

  /** @param orOther another cause that it may have, behind the first */
  #sayEmptied(when: string, orOther = ''): void {
    const { keys, logger, stats } = this.#options
    stats?.inc('dupefilter/emptied')
    logger.warn(
      { key: keys.main },
      `the dupefilter ${keys.main} was found empty ${when}, and no crawl has cleared it: its Redis lost its data (no append-only file, FLUSHALL, a deleted key)${orOther}. The crawl goes on, and fetches pages again when it meets them again. Set appendonly yes on that Redis`,
    )
  }
}

const waitsForLost = (atMostMs: number) =>
  `the dupefilter has met pages for a crawl of this name that its queue does not know: waiting until that is known to be over, ${Math.ceil(atMostMs / 1000)} s at the most`

const OTHER_SERVER = ', or it is another Redis than that of the workers before (DUPEFILTER_REDIS_URL)'

const SHA1 = /^[0-9a-f]{40}$/

function tagOf(name: string): string {
  if (name === '') return ''
  return Buffer.from(hash('sha1', name), 'hex').toString('base64url').slice(0, TAG_LETTERS)
}

/**
 * Returns the crawl's part of a name. A name is that of the crawl, which no crawl on another queue server has, a space, and
 * its run.
 */
function crawlIn(name: string): string {
  return name.slice(0, name.lastIndexOf(' '))
}

/** Returns true for a name of a crawl with the same queue that began another time, or on another server. */
function isEarlier(name: string, own: string): boolean {
  const [queue, ownQueue] = [queueIn(name), queueIn(own)]
  return queue !== '' && queue === ownQueue && crawlIn(name) !== crawlIn(own)
}

/** The queue in a crawl's name, before the id of its first run. */
function queueIn(name: string): string {
  const crawl = crawlIn(name)
  return crawl.slice(0, Math.max(0, crawl.lastIndexOf('/')))
}

function clearedKey({ settled }: FilterKeys): string {
  return settled.replace(/settled$/, 'cleared')
}
