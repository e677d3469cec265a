import { SettingsError } from '../errors/errors.ts'
import type { Settings } from '../settings/settings.ts'

/** What the keys of crawls begin with, so that those of several teams keep apart on one Redis. */
export interface KeyPrefixes {
  /** REDIS_KEY_PREFIX: stands before every key. Absent: nothing does. */
  readonly keyPrefix?: string
  /** QUEUE_PREFIX, which is BullMQ's: what keys of the queue's slot begin with behind that. Absent: `webloom`. */
  readonly queuePrefix?: string
}

/** A crawl's name. A spider crawls several times, also at once, under different CRAWL_IDs. */
export interface CrawlName extends KeyPrefixes {
  /** The spider's name. */
  readonly spider: string
  /** CRAWL_ID. Null: keys are exactly scrapy-redis's. */
  readonly crawlId: string | null
}

/** Returns the name of the crawl that the settings are of. Throws `SettingsError` for a prefix that no key can begin with. */
export function crawlNameOf(settings: Settings, spider: string): CrawlName {
  return { spider, crawlId: settings.get('CRAWL_ID'), ...keyPrefixesOf(settings) }
}

/** Returns a crawl as lists and messages write it: `shop`, or `shop@big` with CRAWL_ID=big. */
export function crawlTitle(spider: string, crawlId: string | null | undefined): string {
  return crawlId === null || crawlId === undefined ? spider : `${spider}@${crawlId}`
}

/** Throws `SettingsError` for a prefix that no key can begin with. */
export function keyPrefixesOf(settings: Settings): KeyPrefixes {
  const keyPrefix = settings.getString('REDIS_KEY_PREFIX')
  const queuePrefix = settings.getString('QUEUE_PREFIX')
  const problems = [
    ...(KEY_PREFIX.test(keyPrefix)
      ? []
      : [
          `REDIS_KEY_PREFIX is ${JSON.stringify(keyPrefix)}; expected ${PREFIX_EXPECTED}, as in REDIS_KEY_PREFIX=team7:`,
        ]),
    ...(QUEUE_PREFIX.test(queuePrefix)
      ? []
      : [
          `QUEUE_PREFIX is ${JSON.stringify(queuePrefix)}; expected ${PREFIX_EXPECTED}, and no colon at its end: one follows it`,
        ]),
  ]
  if (problems.length > 0) throw new SettingsError(problems)
  return { keyPrefix, queuePrefix }
}

// Braces would be a hash tag, and what else SCAN and ACL patterns read would match keys of others.
const KEY_PREFIX = /^[\w.:/-]{0,100}$/
const QUEUE_PREFIX = /^[\w.:/-]{0,99}[\w./-]$/
const PREFIX_EXPECTED = 'at most 100 letters, digits and characters of : . _ / -'

/**
 * Returns a Redis key of a crawl: `%(spider)s` and `%(name)s` in the pattern stand for the spider, with its CRAWL_ID if it
 * has one. REDIS_KEY_PREFIX stands before all.
 */
export function crawlKey(pattern: string, { spider, crawlId, keyPrefix = '' }: CrawlName): string {
  const name = crawlId === null ? spider : `${spider}:${crawlId}`
  return `${keyPrefix}${pattern}`.replaceAll('%(spider)s', () => name).replaceAll('%(name)s', () => name)
}

/**
 * Throws `SettingsError` when the pattern of a crawl's key has another placeholder than `%(spider)s` and `%(name)s`: as a part of the key
 * it would be the same for all spiders.
 *
 * @param called how the message calls the pattern: `REDIS_START_URLS_KEY`
 */
export function checkKeyPattern(pattern: string, called: string): void {
  const strange = pattern.match(/%\([^)]*\)[a-z]?/g)?.find((written) => !PLACEHOLDERS.includes(written))
  if (strange === undefined) return
  throw new SettingsError([
    `${called} is ${JSON.stringify(pattern)}, and nothing stands for ${strange}; a key has ${PLACEHOLDERS.join(' or ')}, which stand for the spider`,
  ])
}

const PLACEHOLDERS: readonly string[] = ['%(spider)s', '%(name)s']

/**
 * Returns the crawl's queue as BullMQ and Bull Board name it: `{quotes}`, or `{quotes@2026-11}` with a CRAWL_ID. The braces
 * make it a hash tag: Redis Cluster keeps all keys of the queue in one slot. BullMQ allows no colon in it.
 */
export function crawlQueueName({ spider, crawlId }: CrawlName): string {
  return `{${encodeURIComponent(spider)}${crawlId === null ? '' : `@${encodeURIComponent(crawlId)}`}}`
}
