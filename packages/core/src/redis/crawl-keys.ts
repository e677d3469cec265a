/** Which crawl: a spider crawls several times, or several times at once, under different CRAWL_IDs. */
export interface CrawlName {
  /** The spider's name. */
  readonly spider: string
  /** CRAWL_ID; null: keys are exactly scrapy-redis's. */
  readonly crawlId: string | null
}

/** A Redis key of a crawl: `%(spider)s` and `%(name)s` in the pattern stand for the spider, and its CRAWL_ID if it has one. */
export function crawlKey(pattern: string, { spider, crawlId }: CrawlName): string {
  const name = crawlId === null ? spider : `${spider}:${crawlId}`
  return pattern.replaceAll('%(spider)s', () => name).replaceAll('%(name)s', () => name)
}

/**
 * The crawl's queue as BullMQ and Bull Board know it: `{quotes}`, or `{quotes@2026-11}` with a CRAWL_ID. The braces make it
 * a hash tag: Redis Cluster keeps all keys of the queue in one slot. BullMQ allows no colon in it.
 */
export function crawlQueueName({ spider, crawlId }: CrawlName): string {
  return `{${encodeURIComponent(spider)}${crawlId === null ? '' : `@${encodeURIComponent(crawlId)}`}}`
}
