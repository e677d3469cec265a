/**
 * Which dupefilter a crawl was begun with, as its record notes it. Workers with another one would fetch again what the others have fetched,
 * and commands with another one would look at, or empty, what no worker asks.
 */

import {
  type Crawler,
  crawlKey,
  crawlNameOf,
  DUPEFILTER_NAMES,
  type DupeFilter,
  type SettingName,
  Settings,
  SettingsError,
  type SpiderLike,
} from '@webloom/core'
import { type CrawlRedisKeys, type CrawlsFilter, crawlShown, type FilterNoted } from '@webloom/queue'
import { typedSetting } from '../loading/typed-spider.ts'
import { typedCrawl, typedSet } from './typed-crawl.ts'

/** What else decides under which keys a filter keeps what, and by which of them a request is found. */
const DECIDING = [
  'DUPEFILTER_CLASS',
  'SCHEDULER_DUPEFILTER_KEY',
  'DUPEFILTER_SHARDS',
  'DUPEFILTER_DIGEST',
  'URL_RULES',
  'BLOOMFILTER_BIT',
  'BLOOMFILTER_HASH_NUMBER',
  'BLOOMFILTER_CAPACITY',
  'BLOOMFILTER_ERROR_RATE',
  'BLOOMFILTER_BLOCK_NUM',
  'BLOOMFILTER_LEAF_BIT',
  'BLOOMFILTER_SPLITS_MAX',
  'BLOOMFILTER_COMPAT',
  'BLOOMFILTER_PARTITION_BY',
  'BLOOMFILTER_PARTITIONS',
] as const satisfies readonly SettingName[]

/** What lies where it lies by number: the queue, and the filter. */
const TYPED = ['QUEUE_SHARDS', ...DECIDING] as const satisfies readonly SettingName[]

/** The filter that was chosen, as the crawl's record has it. */
export interface ChosenFilter {
  /** The name in DUPEFILTER_CLASS, or of the user's own class. */
  readonly shown: string
  readonly isBuiltin: boolean
  readonly filter: DupeFilter
  /** The main key of one on Redis. */
  readonly key: string | undefined
  /** Throws SettingsError where other parts of it are stored than are meant, or a whole one. Writes nothing. */
  readonly refuseOtherParts: () => Promise<void>
}

export type NotedCrawler = Pick<Crawler, 'settings' | 'spider'>

/** Returns what the record is to have: `same` for all workers, and `settings` for commands, which find the filter by them. */
export function filterNote(
  { settings, spider }: NotedCrawler,
  { shown, isBuiltin, key }: ChosenFilter,
): FilterNoted {
  const pattern = PATTERNS.find((one) => crawlKey(one, crawlNameOf(settings, spider.name)) === key)
  const written = DECIDING.filter((name) => settings.isSet(name)).map(
    (name) => [name, settings.get(name)] as const,
  )
  const noted = {
    ...(key !== undefined && pattern !== undefined && { SCHEDULER_DUPEFILTER_KEY: pattern }),
    ...Object.fromEntries(written.filter(([, value]) => isPlain(value))),
    ...(isBuiltin && { DUPEFILTER_CLASS: shown }),
  }
  return {
    same: JSON.stringify([shown, ...(key === undefined ? [] : [key])]),
    settings: JSON.stringify(noted),
  }
}

/** Under which a filter on Redis lies where SCHEDULER_DUPEFILTER_KEY is not set. */
const PATTERNS = ['%(spider)s:dupefilter', '%(spider)s:bloomfilter']

/** Returns the settings by which a crawl's workers have made its filter; those that were given for a crawl without a note. */
export function settingsAsNoted(settings: Settings, noted: FilterNoted | undefined): Settings {
  if (!noted) return settings
  const values = JSON.parse(noted.settings) as Record<string, unknown>
  const defaults = new Settings({})
  // A class of the user's own is the project's, and no file is loaded because Redis names it.
  const isClassKnown = BUILTIN.includes(String(values.DUPEFILTER_CLASS))
  const named = DECIDING.filter((name) => name in values && (name !== 'DUPEFILTER_CLASS' || isClassKnown))
  const unset = DECIDING.filter(
    (name) =>
      !(name in values) && !STAYS.includes(name) && settings.isSet(name) && isPlain(settings.get(name)),
  )
  return settings.with(
    'command',
    Object.fromEntries([
      ...unset.map((name) => [name, defaults.get(name)]),
      ...named.map((name) => [name, values[name]]),
    ]),
  )
}

const BUILTIN: readonly string[] = ['none', ...DUPEFILTER_NAMES]
/** Noted wherever a command can go by it. */
const STAYS: readonly SettingName[] = ['DUPEFILTER_CLASS', 'SCHEDULER_DUPEFILTER_KEY']

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/**
 * Returns the note of the filter as a command finds it. Throws SettingsError where the crawl was begun with another one, as one of the user's own
 * that the command's settings do not name; or where other parts of it are stored than are meant, or a whole one. Writes nothing.
 */
export async function comparedNote(
  crawler: NotedCrawler,
  chosen: ChosenFilter,
  { keys, noted }: { readonly keys: CrawlRedisKeys; readonly noted: FilterNoted | undefined },
): Promise<FilterNoted> {
  const { settings, spider } = crawler
  const note = filterNote(crawler, chosen)
  if (noted && noted.same !== note.same)
    throw otherFilter(keys, noted, { note, typed: typedCrawl(spider, settings) })
  await chosen.refuseOtherParts()
  return note
}

/** The filter of a worker, or as a command finds it. */
export interface OwnFilter {
  readonly note: FilterNoted
  /** The crawl as it is typed. */
  readonly typed: string
}

/**
 * Returns the filter of a worker, with its refusals.
 *
 * @param servers on which it is, without passwords
 */
export function crawlsFilter(keys: CrawlRedisKeys, own: OwnFilter, servers: readonly string[]): CrawlsFilter {
  const otherPlace = () =>
    new SettingsError([
      `the dupefilter at ${servers.join(', ')} is not that of the workers at work on ${crawlShown(keys)}: what they have fetched would be fetched again. Give this worker the Redis that they have (DUPEFILTER_REDIS_URL, FILTER_URL or REDIS_URL). If it has that, it has just lost its data: start again in a minute, or end all workers and start them anew (webloom stop ${own.typed})`,
    ])
  const leftBehind = () =>
    new SettingsError([
      `the dupefilter at ${servers.join(', ')} knows pages of an earlier crawl of this name, and would leave them out, while ${crawlShown(keys)} goes on with another dupefilter, and is well. Give this worker the Redis that the workers before it had (DUPEFILTER_REDIS_URL, FILTER_URL or REDIS_URL)`,
    ])
  const refusal = (noted: FilterNoted) => otherFilter(keys, noted, own)
  return { noted: own.note, refusal, otherPlace, leftBehind }
}

/** The error of a worker, or a command, whose filter is another one than the crawl's. */
function otherFilter(keys: CrawlRedisKeys, noted: FilterNoted, { note, typed }: OwnFilter): SettingsError {
  const now = JSON.parse(note.settings) as Record<string, unknown>
  const goOn = Object.entries(JSON.parse(noted.settings) as Record<string, unknown>)
    .filter(([name, value]) => now[name] !== value && !(isOwnKey(name, value) && isOwnKey(name, now[name])))
    .map(([name, value]) => typedSetting(name, value))
    .join(' ')
  return new SettingsError([
    `the dupefilter is ${shownFilter(note.same)} here (DUPEFILTER_CLASS, SCHEDULER_DUPEFILTER_KEY), and ${crawlShown(keys)} was begun with ${shownFilter(noted.same)}: what its workers have fetched would be fetched again. Go on with ${goOn === '' ? 'the settings that it was begun with' : goOn}, or begin the crawl anew: webloom clear ${typed}`,
  ])
}

/** A filter has its own key where none is set. */
function isOwnKey(name: string, value: unknown): boolean {
  return name === 'SCHEDULER_DUPEFILTER_KEY' && (value === undefined || PATTERNS.includes(String(value)))
}

function shownFilter(same: string): string {
  const [shown, key] = JSON.parse(same) as [string, string?]
  return key === undefined ? shown : `${shown} under the key ${key}`
}

/** Returns `-s NAME=value` for each of them that this command line has: without it a crawl whose record is gone would be looked for elsewhere. */
function typedNotes(settings: Settings): string[] {
  return typedSet(settings, (name) => TYPED.includes(name as (typeof TYPED)[number]))
}

/** Returns the crawl as it is typed, with the settings by which it is found once its record is gone. */
export function typedWithNotes(spider: Pick<SpiderLike, 'name'>, settings: Settings): string {
  return [typedCrawl(spider, settings), ...typedNotes(settings)].join(' ')
}
