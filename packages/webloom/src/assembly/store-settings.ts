/** Settings of where a crawl is kept that do not go with one another. */

import { type Settings, SettingsError } from '@webloom/core'

/** What SCHEDULER asks for and does not get, in one line; undefined when there is nothing to say. */
export function schedulerWarning(
  settings: Settings,
  keptIn: 'redis' | 'jobdir' | 'memory',
): string | undefined {
  const scheduler = settings.get('SCHEDULER')
  if (scheduler === null || scheduler === 'scrapy') return undefined
  if (scheduler !== 'scrapy-redis')
    return `SCHEDULER is ${typeof scheduler === 'string' ? scheduler : 'a class'}, and nothing is read of it: there is one scheduler. DUPEFILTER_CLASS, SCHEDULER_QUEUE_CLASS and REDIS_URL choose its parts`
  if (keptIn === 'redis') return undefined
  return keptIn === 'jobdir'
    ? 'SCHEDULER is scrapy-redis’s, but JOBDIR is set: this crawl is kept in that folder and no other worker can join it. Unset JOBDIR for a crawl on Redis'
    : 'SCHEDULER is scrapy-redis’s, but no Redis is named: this crawl is in memory, ends with its process, and no other worker can join it. Set REDIS_URL=redis://localhost:6379 (where scrapy-redis looks unless told otherwise)'
}

/** QUEUE_SHARDS, where the other settings go with it. */
export function shardsAsked(settings: Settings): number {
  const shards = settings.getInt('QUEUE_SHARDS')
  const refused = [
    ...(settings.get('QUEUE_MODE') === 'job' ? [SHARDS_OF_JOBS] : []),
    ...(settings.get('RECRAWL') !== 'off' ? [SHARDS_OF_VISITS] : []),
  ]
  if (shards > 1 && refused.length > 0)
    throw new SettingsError(refused.map((why) => `QUEUE_SHARDS is ${shards}, and ${why}`))
  return shards
}

const SHARDS_OF_JOBS =
  'QUEUE_MODE is job, whose jobs have no lines of hosts that could be shared out: they stay on one server. Use QUEUE_MODE=turns, or -s QUEUE_SHARDS=1'
const SHARDS_OF_VISITS =
  'RECRAWL is on: when pages were visited is kept on one server, in the step that ends a page there. Use -s QUEUE_SHARDS=1'

/** What a worker warns of where more than one is asked for. */
export function shardsOnOneServer(shards: number): string {
  return `QUEUE_SHARDS is ${shards}, and the queue’s Redis is no cluster: one server carries all shards, at a higher price a page than one, and no crawl is faster for it. Use 1, unless you mean to move this crawl to a cluster later`
}
