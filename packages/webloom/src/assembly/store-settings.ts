import type { Settings } from '@webloom/core'

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
