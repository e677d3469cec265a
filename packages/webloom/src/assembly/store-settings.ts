/** Settings of where a crawl is kept that do not go with one another. */

import {
  type ComponentClass,
  persistsOf,
  type RedisTarget,
  type SettingName,
  type Settings,
  SettingsError,
} from '@webloom/core'
import { type AlikeSetting, type AlikeSettings, comparableValue } from '@webloom/queue'
import { typedSetting } from '../loading/typed-spider.ts'

/** Returns what SCHEDULER asks for and does not get, in one line; undefined when there is nothing to say. */
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

/** Returns what a worker warns of where more than one is asked for. */
export function shardsOnOneServer(shards: number): string {
  return `QUEUE_SHARDS is ${shards}, and the queue’s Redis is no cluster: one server carries all shards, at a higher price a page than one, and no crawl is faster for it. Use 1, unless you mean to move this crawl to a cluster later`
}

/** DUPEFILTER_SHARDS. Throws SettingsError where the filter has a place, or bits, that are not to be shared out. */
export function partsAsked(settings: Settings, targets: readonly RedisTarget[]): number {
  const parts = settings.getInt('DUPEFILTER_SHARDS')
  const compat = settings.get('BLOOMFILTER_COMPAT')
  const refused = [
    ...(targets.length > 1 ? [ON_SERVERS] : []),
    ...(compat === 'native' ? [] : [ofPython(compat)]),
  ]
  if (parts > 1 && refused.length > 0)
    throw new SettingsError(refused.map((why) => `DUPEFILTER_SHARDS is ${parts}, and ${why}`))
  return parts
}

const ON_SERVERS =
  'DUPEFILTER_REDIS_URL names several servers, each of which has a part of the filter already: name one server or cluster, or use -s DUPEFILTER_SHARDS=1'

function ofPython(compat: string): string {
  return `BLOOMFILTER_COMPAT is ${compat}: the bits of a Python crawler are under one key, where that crawler looks for them. Use -s DUPEFILTER_SHARDS=1, or a filter of its own (unset BLOOMFILTER_COMPAT)`
}

/** Returns the error for a class of the user's own that makes no part of a filter. */
export function partless({ name }: ComponentClass<unknown>, parts: number): SettingsError {
  return new SettingsError([
    `DUPEFILTER_SHARDS is ${parts}, and the class ${name} makes no part of a filter: its fromCrawler must pass on redisFilterOptionsOf(crawler), which says which part. Or use -s DUPEFILTER_SHARDS=1`,
  ])
}

/** Returns what a worker warns of where more than one is asked for. */
export function partsOnOneServer(parts: number): string {
  return `DUPEFILTER_SHARDS is ${parts}, and the dupefilter’s Redis is no cluster: one server answers for all parts, at a higher price a page than for one. Use 1, unless you mean to move this crawl to a cluster later`
}

/*
 * In which settings the workers of a crawl are to be alike, and why: docs/guides/many-workers.md has the same for users. Whatever is not here may differ, as
 * it is about a machine (CONCURRENT_REQUESTS, proxies, outputs), or about the one page that a worker has. BUDGETS may: workers are replaced one by one to change them.
 *
 * Settings that say where things lie have checks of their own: QUEUE_MODE, QUEUE_SHARDS (crawl-format.ts), those of the dupefilter (filter-note.ts, and the filter's
 * own record).
 */

const PACE = 'a host is asked at the pace of whichever worker has its turn'
const FETCHED = 'which pages are fetched depends on which worker gets the page before them'
const VISITED = 'when a page is visited again depends on which worker fetches it'

const TOLD_OF_PACE = [
  'DOWNLOAD_DELAY',
  'CONCURRENT_REQUESTS_PER_DOMAIN',
  'DOWNLOAD_SLOTS',
  'AUTOTHROTTLE_ENABLED',
  'CRAWL_DELAY',
] as const satisfies readonly SettingName[]
const TOLD_OF_PAGES = [
  'ROBOTSTXT_OBEY',
  'DEPTH_LIMIT',
  'URLLENGTH_LIMIT',
] as const satisfies readonly SettingName[]
const TOLD_OF_VISITS = [
  'RECRAWL_INTERVAL',
  'RECRAWL_INTERVAL_MIN',
  'RECRAWL_INTERVAL_MAX',
] as const satisfies readonly SettingName[]

/** Returns those of a worker. */
export function alikeSettingsOf(settings: Settings): AlikeSettings {
  const inTurns = settings.get('QUEUE_MODE') === 'turns'
  const all = (names: readonly SettingName[], why: string) => names.map((name) => alike(settings, name, why))
  return {
    // With QUEUE_MODE=job each worker has lines and a pace of its own.
    fixed: inTurns
      ? all(
          ['POLITENESS_GROUP_BY'],
          'what waits there is in lines by that, and a site would be asked at two paces at once',
        )
      : [],
    together: [
      ...all(['RECRAWL'], 'whether and when a page is visited again would depend on which worker fetches it'),
      {
        name: 'SCHEDULER_PERSIST',
        value: String(persistsOf(settings)),
        why: 'the worker that leaves last would keep queue and filter, or delete them, by its own',
      },
    ],
    told: [
      ...(inTurns ? all(TOLD_OF_PACE, PACE) : []),
      ...all(
        ['SCHEDULER_QUEUE_CLASS'],
        'each worker takes requests in its own order, so that the crawl has neither',
      ),
      ...all(TOLD_OF_PAGES, FETCHED),
      ...(settings.get('RECRAWL') === 'off' ? [] : all(TOLD_OF_VISITS, VISITED)),
      ...all(
        ['STATS_KEY'],
        'limits such as CLOSESPIDER_PAGECOUNT, status and the dashboard count those of one key',
      ),
    ],
    typed: typedSetting,
  }
}

function alike(settings: Settings, name: SettingName, why: string): AlikeSetting {
  const value: unknown = settings.get(name)
  const text = typeof value === 'string' ? value : JSON.stringify(value, sortedFields)
  return { name, value: comparableValue(text), why }
}

/** The order in which fields were written makes no other setting. */
function sortedFields(_name: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
