import { type CrawlName, crawlQueueName, type KeyPrefixes } from '@webloom/core'

/**
 * The keys that a crawl has on the queue's Redis beside BullMQ's own, all in one slot with them, so that one script sees
 * record and queue. `%(queue)s` stands for the queue's name, which is a hash tag: `{quotes}`, `{quotes@2026-11}`.
 *
 * A key that is used by several files is named here; patterns are listed in docs/redis-keys.md.
 */
export interface CrawlRedisKeys {
  /** BullMQ's name of the queue, e.g. `{quotes}`. */
  readonly queueName: string
  /** BullMQ's prefix: `webloom` unless REDIS_KEY_PREFIX or QUEUE_PREFIX says otherwise. */
  readonly bullPrefix: string
  /** What every key of the queue begins with, BullMQ's and ours: `webloom:{quotes}`. */
  readonly base: string
  /** Hash of all crawls with this prefix, in a slot of its own: outside/crawl-registry.ts. */
  readonly crawls: string
  /** Hash: state, start cursor and who runs start(), times, why it was stopped, whether it is paused. */
  readonly record: string
  /** Hash: worker id → heartbeat as JSON. */
  readonly workers: string
  /** Hash: worker id → what stands out among its hosts, as JSON. */
  readonly hostLists: string
  /** Hash: host → what somebody has ordered for it, as JSON. */
  readonly hostOrders: string
  /** String: the settings that its workers have, as JSON. */
  readonly settings: string
  /** List: samples of what the crawl was doing, see crawl-samples.ts. */
  readonly history: string
  /** Hash: run id → what that run came to, as JSON. */
  readonly runs: string
  /** Hash: run id → what monitors have noted of that run, as JSON. */
  readonly monitors: string
  /** String: the run that `webloom clear` ended while workers were known to it. */
  readonly cleared: string
  /** Hash: worker id → id of the request that it runs alone, as a suspect. */
  readonly alone: string
  /** Hash: request id → quarantined request and its history as JSON. */
  readonly quarantine: string
  /** Hash: request id → failure of a request that was given up; `<failures>:<name>`: what belongs to it, `lua/failures/ledger.lua`. */
  readonly failures: string
  /** Set: hosts and ports of start requests. */
  readonly startHosts: string
  /** Set: those of them that had a public address, and so are not let inside any more. */
  readonly publicHosts: string
  /** Hash: shape of pages → in which form they must be fetched (`meta.browser: 'auto'`). */
  readonly pageForms: string
  /** `<schedules>:<name>`: when runs of the spider begin, whatever their CRAWL_ID; BullMQ's, and what `schedule-keys.ts` names. */
  readonly schedules: string
  /** `<budgets>:<name>`, hashes: what a run and days have spent. */
  readonly budgets: string
  /** `<visits>:<name>`: when pages were visited and are due again, `lua/visits/wheel.lua`. */
  readonly visits: string
  /** `<noted>:<asker>`, set: ids that were pushed under an asker which is not settled. */
  readonly noted: string
  /** Hash: request id → packed request that is set aside in doubt; `<doubts>:<name>`: what belongs to it. */
  readonly doubts: string
  /** Hash: `waiting`, `delayed`, `leased` of QUEUE_MODE=turns, and what else that queue keeps count of. */
  readonly frontierCounts: string
  /** `<frontier>:<name>`: all else of QUEUE_MODE=turns, `lua/slots/keys.lua`. */
  readonly frontier: string
}

export function crawlRedisKeys(name: CrawlName): CrawlRedisKeys {
  return keysOf({ bullPrefix: bullPrefixOf(name), crawls: crawlsKey(name), queueName: crawlQueueName(name) })
}

/**
 * The same of a shard of the crawl, in a slot of its own; what belongs to the crawl as a whole is at its home.
 *
 * @param queueName of the shard, `{quotes#07.12}`: shard-tag.ts
 */
export function shardRedisKeys({ bullPrefix, crawls }: CrawlRedisKeys, queueName: string): CrawlRedisKeys {
  return keysOf({ bullPrefix, crawls, queueName })
}

function keysOf({
  bullPrefix,
  crawls,
  queueName,
}: Pick<CrawlRedisKeys, 'bullPrefix' | 'crawls' | 'queueName'>): CrawlRedisKeys {
  const base = `${bullPrefix}:${queueName}`
  // As docs/redis-keys.md has them.
  const key = (pattern: string) => pattern.replace('webloom:%(queue)s', () => base)
  return {
    queueName,
    bullPrefix,
    base,
    crawls,
    record: key('webloom:%(queue)s:record'),
    workers: key('webloom:%(queue)s:workers'),
    hostLists: key('webloom:%(queue)s:host-lists'),
    hostOrders: key('webloom:%(queue)s:host-orders'),
    settings: key('webloom:%(queue)s:settings'),
    history: key('webloom:%(queue)s:history'),
    runs: key('webloom:%(queue)s:runs'),
    monitors: key('webloom:%(queue)s:monitors'),
    cleared: key('webloom:%(queue)s:cleared'),
    alone: key('webloom:%(queue)s:alone'),
    quarantine: key('webloom:%(queue)s:quarantine'),
    failures: key('webloom:%(queue)s:failures'),
    startHosts: key('webloom:%(queue)s:start-hosts'),
    publicHosts: key('webloom:%(queue)s:public-hosts'),
    pageForms: key('webloom:%(queue)s:page-forms'),
    schedules: key('webloom:%(queue)s:schedules'),
    budgets: key('webloom:%(queue)s:budgets'),
    visits: key('webloom:%(queue)s:visits'),
    noted: key('webloom:%(queue)s:noted'),
    doubts: key('webloom:%(queue)s:doubts'),
    frontierCounts: key('webloom:%(queue)s:frontier:counts'),
    frontier: key('webloom:%(queue)s:frontier'),
  }
}

/** The set of spiders that have schedules, with these prefixes. */
export function scheduledSpidersKey(prefixes: KeyPrefixes): string {
  return `${bullPrefixOf(prefixes)}:schedules`
}

/** The hash of all crawls that have these prefixes. */
export function crawlsKey(prefixes: KeyPrefixes): string {
  return `${bullPrefixOf(prefixes)}:crawls`
}

function bullPrefixOf({ keyPrefix = '', queuePrefix = 'webloom' }: KeyPrefixes): string {
  return keyPrefix + queuePrefix
}

/** Returns what messages call the crawl: `crawl "quotes"`, or `crawl "quotes" (CRAWL_ID 2026-11)`; the same for each of its shards. */
export function crawlShown({ queueName }: Pick<CrawlRedisKeys, 'queueName'>): string {
  const [spider, id] = queueName
    .replace(/^\{|#[\d.]+\}$|\}$/g, '')
    .split('@')
    .map(decodeURIComponent)
  return `crawl ${JSON.stringify(spider)}${id === undefined ? '' : ` (CRAWL_ID ${id})`}`
}

/** Keys of what must be looked at together to tell how a crawl is doing, in the order of crawl/counts.lua. */
export function stateKeys(keys: CrawlRedisKeys): string[] {
  const bull = ['wait', 'paused', 'prioritized', 'waiting-children', 'delayed', 'active']
  return [
    keys.record,
    keys.workers,
    keys.frontierCounts,
    keys.quarantine,
    ...bull.map((list) => `${keys.base}:${list}`),
    keys.doubts,
  ]
}
