/**
 * In which form a crawl lies on Redis, and which release has begun it. A crawl that was begun in another form is refused, and never half read. `webloom export`
 * reads the form of the release before this one, so that what is left of such a crawl can be taken along.
 */

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlShown } from '../redis/crawl-redis-keys.ts'
import { type AlikeSettings, alikeAsked, keptBySilent, otherSetting } from './alike-settings.ts'

/**
 * The form of this release, as the record's `format`; SHARDED_FORMAT of a crawl of several shards, which may be 2 if it was begun before there was another.
 * 1, which had no such field: a job and lines for each host.
 */
export const CRAWL_FORMAT = 2

/** The form of a crawl of several shards: releases that know no such crawl, or another number of buckets, refuse it. */
export const SHARDED_FORMAT = 3

/** This release, which is noted with each crawl: one that cannot read a crawl names it as the one to install. */
export const RELEASE = (
  JSON.parse(readFileSync(findPackageJSON('..', import.meta.url)!, 'utf8')) as { version: string }
).version

/** Returns the form of a crawl of so many shards that begins now. */
export function formatOf(shards: number): number {
  return shards > 1 ? SHARDED_FORMAT : CRAWL_FORMAT
}

interface CrawlOnRedis {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** The crawl as it is typed. Default: by its name. */
  readonly typed?: string
}

/** Resolves to the form of a crawl; to undefined where there is none, or one without anything that has a form. */
export async function crawlFormatOf({ redis, keys }: CrawlOnRedis): Promise<number | undefined> {
  const [format, due] = await Promise.all([
    redis.hget(keys.record, 'format'),
    redis.exists(`${formerBase(keys)}:due`),
  ])
  if (format !== null) return Number(format)
  return due === 1 ? 1 : undefined
}

/** Throws WL_CRAWL_FORMAT for a crawl in another form, with the release that can read it where the crawl names one. */
export async function refuseOtherFormat(crawl: CrawlOnRedis): Promise<void> {
  const format = await crawlFormatOf(crawl)
  if (format === undefined || (format >= CRAWL_FORMAT && format <= SHARDED_FORMAT)) return
  const release = await crawl.redis.hget(crawl.keys.record, 'release')
  const { typed = typedOf(crawl.keys) } = crawl
  throw new WebloomError(
    'WL_CRAWL_FORMAT',
    format > SHARDED_FORMAT
      ? `${crawlShown(crawl.keys)} was begun by ${release ? `Webloom ${release}` : 'a newer release of Webloom'} (format ${format}; this one knows ${SHARDED_FORMAT}). To go on with it: ${release ? `npm install webloom@${release}` : 'install that release'}. To give it up: clear it with that release`
      : `${crawlShown(crawl.keys)} was begun by ${release ? `Webloom ${release}` : 'an earlier release of Webloom'}, whose queue has another form (format ${format}; this one has ${CRAWL_FORMAT}). Go on with that release${release ? ` (npm install webloom@${release})` : ''}, or take along what is left (not what was seen: pages that are linked again are fetched again). With no worker running: webloom export ${typed} -o left.jsonl; webloom clear ${typed}; webloom import left.jsonl ${typed}`,
  )
}

/** Returns the base of the keys under which the release before this one had the queue of QUEUE_MODE=turns. */
export function formerBase({ base }: CrawlRedisKeys): string {
  return `${base}:turns`
}

/** The keys under which a crawl in an earlier form is counted; those that were given for any other. */
export async function keysAsStored({ redis, keys }: CrawlOnRedis): Promise<CrawlRedisKeys> {
  const format = await crawlFormatOf({ redis, keys })
  return format === 1 ? { ...keys, frontierCounts: `${formerBase(keys)}:counts` } : keys
}

/** The dupefilter of a crawl, as its record notes it. */
export interface FilterNoted {
  /** The same for all workers that fill one filter. */
  readonly same: string
  /** JSON: the settings by which a command finds it. */
  readonly settings: string
}

/** The filter of a worker. */
export interface CrawlsFilter {
  readonly noted: FilterNoted
  /** Returns the error for a crawl that was begun with another one. */
  readonly refusal: (begunWith: FilterNoted) => Error
  /** Returns the error for a crawl whose workers at work have one of the same name on another Redis. */
  readonly otherPlace: () => Error
  /** Returns the error for a run that goes on with another one, while this one knows an earlier crawl that was not finished with it. */
  readonly leftBehind: () => Error
}

/** Resolves to the dupefilter that the crawl was begun with; to undefined where none is noted, or all of it was emptied. */
export async function notedFilterOf({ redis, keys }: CrawlOnRedis): Promise<FilterNoted | undefined> {
  const [same, settings, emptied] = await redis.hmget(keys.record, 'filter', 'filterSettings', 'emptied')
  return same && settings && !emptied ? { same, settings } : undefined
}

/** QUEUE_MODE. */
export type QueueMode = 'turns' | 'job'

/** Resolves to the mode in which a crawl was begun; to undefined where none is noted. */
export async function notedModeOf({ redis, keys }: CrawlOnRedis): Promise<QueueMode | undefined> {
  return ((await redis.hget(keys.record, 'mode')) as QueueMode | null) ?? undefined
}

/** How a worker that may not join yet hears of others, and is heard of. */
export interface Waiting {
  /** When it fires, waiting ends, and the opening rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called with what it waits for, in words behind “it waits”; with undefined when that is over. */
  readonly onWait?: (words: string | undefined) => void
}

/** What a worker has that a crawl fixes when it begins. */
export interface FixedWhenBegun {
  /** QUEUE_SHARDS. Default: 1. */
  readonly shards?: number
  /** Absent: either may join. */
  readonly mode?: QueueMode
  /** Absent: any filter may join. */
  readonly filter?: CrawlsFilter
  /** Resolves to the run of a crawl a shard of which is lost, in whose place another is to begin; throws where none is to. */
  readonly lostRun?: (waiting: Waiting) => Promise<string | undefined>
  /** Absent: whatever they are. */
  readonly alike?: AlikeSettings
  /** The crawl as it is typed. Default: by its name. */
  readonly typed?: string
}

/** Returns what the record is asked with, as crawl/open.lua has it. */
export function askedOf({ shards = 1, mode, filter, alike }: FixedWhenBegun) {
  return {
    ...{ format: String(formatOf(shards)), release: RELEASE },
    ...(shards > 1 && { shards: String(shards) }),
    ...{ mode, filter: filter?.noted },
    ...(alike && { alike: alikeAsked(alike) }),
  }
}

/** Throws where the record has answered that the crawl was begun with something else. */
export function refuseOther(
  keys: CrawlRedisKeys,
  { shards = 1, mode, filter, alike, typed = typedOf(keys) }: FixedWhenBegun,
  [what, begunWith, more]: readonly (string | number | undefined)[],
): void {
  if (what === 'shards') throw otherShards(keys, Number(begunWith), shards, typed)
  if (what === 'filter') throw filter!.refusal({ same: String(begunWith), settings: String(more) })
  if (what === 'alike') throw otherSetting(keys, alike!, [String(begunWith), String(more)], typed)
  if (what === 'kept') throw keptBySilent(keys, [Number(begunWith), Number(more)], typed)
  if (what !== 'mode') return
  const goOn = `-s QUEUE_MODE=${begunWith}${Number(more) === shards ? '' : ` -s QUEUE_SHARDS=${more}`}`
  throw new WebloomError(
    'WL_USAGE',
    `QUEUE_MODE is ${mode}, and ${crawlShown(keys)} was begun with ${begunWith}: its requests lie where that mode puts them. Go on with ${goOn}, or begin it anew: webloom clear ${typed}`,
  )
}

/** A crawl was begun with another number of shards: its requests are where that number says. */
function otherShards(keys: CrawlRedisKeys, begunWith: number, asked: number, typed: string): WebloomError {
  return new WebloomError(
    'WL_USAGE',
    `QUEUE_SHARDS is ${asked}, and ${crawlShown(keys)} was begun with ${begunWith}: its requests lie where that number says. Go on with -s QUEUE_SHARDS=${begunWith}, or begin it anew: webloom clear ${typed} -s QUEUE_SHARDS=${begunWith}`,
  )
}

/** Returns a crawl as it stands behind a command, where nobody knows what else was typed. */
export function typedOf({ queueName }: CrawlRedisKeys): string {
  const [spider, id] = queueName.slice(1, -1).split('@')
  return id === undefined ? spider! : `${spider} -s CRAWL_ID=${id}`
}
