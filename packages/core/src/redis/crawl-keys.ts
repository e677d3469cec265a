import { SettingsError } from '../errors/errors.ts'

/** A crawl's name. A spider crawls several times, also at once, under different CRAWL_IDs. */
export interface CrawlName {
  /** The spider's name. */
  readonly spider: string
  /** CRAWL_ID. Null: keys are exactly scrapy-redis's. */
  readonly crawlId: string | null
}

/**
 * Returns a Redis key of a crawl: `%(spider)s` and `%(name)s` in the pattern stand for the spider, with its CRAWL_ID if it
 * has one.
 */
export function crawlKey(pattern: string, { spider, crawlId }: CrawlName): string {
  const name = crawlId === null ? spider : `${spider}:${crawlId}`
  return pattern.replaceAll('%(spider)s', () => name).replaceAll('%(name)s', () => name)
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
