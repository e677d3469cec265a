/**
 * Settings in which the workers of a crawl are to be alike, and what becomes of one that is not. The record notes them when the crawl begins, and again
 * when a worker comes and no other is at work. What an earlier release has begun notes none, and goes on.
 */

import { hash } from 'node:crypto'
import { type Logger, silentLogger, WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlShown } from '../redis/crawl-redis-keys.ts'

export interface AlikeSetting {
  readonly name: string
  /** As text. */
  readonly value: string
  /** What happens otherwise, behind a colon. */
  readonly why: string
}

export interface AlikeSettings {
  /** Refused as long as anything waits: what is queued lies as they say. */
  readonly fixed: readonly AlikeSetting[]
  /** Refused while workers are at work that have another one. */
  readonly together: readonly AlikeSetting[]
  /** A WARNING while workers are at work that have another one. */
  readonly told: readonly AlikeSetting[]
  /** Returns it as it stands on a command line. */
  readonly typed: (name: string, value: string) => string
}

/** A value that is longer is shown, and noted, by its beginning, as words are to be read; and by the hash of the whole. */
const VALUE_CHARS_MAX = 400

/** Returns the value of a setting as it is noted, compared and shown. */
export function comparableValue(text: string): string {
  if (text.length <= VALUE_CHARS_MAX) return text
  const whole = hash('sha256', text).slice(0, 12)
  return `${text.slice(0, VALUE_CHARS_MAX)}… (${text.length} characters, SHA-256 ${whole})`
}

function isShortened(value: string): boolean {
  return /… \(\d+ characters, SHA-256 \w+\)$/.test(value)
}

/** Returns what the record is asked with, as members/alike.lua has it. */
export function alikeAsked({ fixed, together, told }: Omit<AlikeSettings, 'typed'>) {
  const pairs = (settings: readonly AlikeSetting[]) => settings.map(({ name, value }) => [name, value])
  return { fixed: pairs(fixed), together: pairs(together), told: pairs(told) }
}

/** Returns the error of a worker with another setting than the record notes. `typed`: the crawl as it is typed. */
export function otherSetting(
  keys: CrawlRedisKeys,
  { fixed, together, typed: typedSetting }: AlikeSettings,
  [name, noted]: readonly [string, string],
  typed: string,
): WebloomError {
  const isFixed = fixed.some((one) => one.name === name)
  const { value, why } = [...fixed, ...together].find((one) => one.name === name)!
  return new WebloomError(
    'WL_USAGE',
    isFixed
      ? `${name} is ${value}, and ${crawlShown(keys)} was begun with ${noted}: ${why}. Go on with ${typedSetting(name, noted)} until nothing waits there, or begin it anew: webloom clear ${typed}`
      : `${name} is ${value}, and the workers at work on ${crawlShown(keys)} have ${noted}: ${why}. Give this worker ${typedSetting(name, noted)}, end the others first: webloom stop ${typed} (one that was killed counts for ten seconds), or crawl beside them, under another name: -s CRAWL_ID=…`,
  )
}

/** Returns the error of a worker without SCHEDULER_PERSIST that comes to a kept crawl, of which so many workers are silent, since then (ms), and have not signed off. */
export function keptBySilent(
  keys: CrawlRedisKeys,
  [silent, heardAtMs]: readonly [number, number],
  typed: string,
): WebloomError {
  const who = silent === 1 ? 'a worker of it' : `${silent} workers of it`
  const heard = new Date(heardAtMs).toISOString()
  return new WebloomError(
    'WL_USAGE',
    `SCHEDULER_PERSIST is false, and ${crawlShown(keys)} is kept (it was begun with true): ${who} did not sign off, ${silent === 1 ? 'and was last heard' : 'the latest of them was heard'} on ${heard}, and may be at work again at any moment (a machine asleep, a network that is away), while this one would delete queue and filter at its end. Give this worker -s SCHEDULER_PERSIST=true, or give the crawl up: webloom clear ${typed}`,
  )
}

/** Returns with what members/beat.lua compares a worker before it notes it anew. */
export function alikeOnReturn(lostMs: number, alike: Omit<AlikeSettings, 'typed'> = NONE): string {
  const { fixed, together, told } = alikeAsked(alike)
  return JSON.stringify({ compared: [...fixed, ...together], told, lostMs })
}

const NONE = { fixed: [], together: [], told: [] }

/**
 * Whoever finds nobody at work goes on with settings of its own; so a worker that was only silent, and is no more noted, is compared as one that comes. Returns
 * true when it is to end, and tells why; a setting that may be another one is told, too.
 *
 * @param compared how many workers at work have which other values, as members/alike.lua tells it, '' for none; name and value of what it has otherwise
 */
export function hasToEndOnReturn(
  { logger = silentLogger, keys, alike }: { logger?: Logger; keys: CrawlRedisKeys; alike?: AlikeSettings },
  [have = '', name = '', value = '']: readonly string[],
): boolean {
  if (!alike) return false
  if (name === '') tellJoined(logger, keys, alike, [have, 0])
  else logger.error(othersSince(keys, alike, [name, value]))
  return name !== ''
}

function othersSince(
  keys: CrawlRedisKeys,
  { fixed, together, typed }: AlikeSettings,
  [name, noted]: readonly [string, string],
): string {
  const { value, why } = [...fixed, ...together].find((one) => one.name === name)!
  return `this worker sent no heartbeat for so long that it counted as lost, and ${crawlShown(keys)} goes on with another ${name}, which is ${value} here and ${noted} there: ${why}. This worker ends with other_settings, exit code 1, and deletes nothing; the others fetch what it had. To have it take part again, start it with ${typed(name, noted)}`
}

/**
 * Tells a worker that has joined what it should know of the crawl.
 *
 * @param joined how many workers at work have which other values, as members/alike.lua tells it, '' for none; 1 where the crawl was kept and this one, which is alone, keeps none
 */
export function tellJoined(
  logger: Logger,
  keys: CrawlRedisKeys,
  alike: AlikeSettings | undefined,
  [have, wasKept]: readonly unknown[],
): void {
  if (alike && have !== '') logger.warn(othersText(keys, alike, String(have)))
  if (wasKept === 1) logger.warn(deletingText(keys))
}

function othersText(keys: CrawlRedisKeys, { told, typed }: AlikeSettings, have: string): string {
  const counts = Object.entries(JSON.parse(have) as Record<string, Record<string, number>>)
  const values = new Map(counts.map(mostFirst))
  const others = told.filter(({ name }) => values.has(name))
  const words = others.map(
    ({ name, value, why }) => `${name} is ${value} here and ${values.get(name)!.join(' or ')} there: ${why}`,
  )
  const isLong = ({ name }: AlikeSetting) => isShortened(values.get(name)![0]!)
  const line = [
    ...others.filter((one) => !isLong(one)).map(({ name }) => typed(name, values.get(name)![0]!)),
    ...others.filter(isLong).map(({ name }) => `${name} as it is written there`),
  ].join(' ')
  return `workers at work on ${crawlShown(keys)} have other settings than this one. ${words.join('; ')}. To have theirs: ${line}`
}

function mostFirst([name, counts]: [string, Record<string, number>]): [string, string[]] {
  const byCount = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return [name, byCount.map(([value]) => value)]
}

/** By its end, in whatever order, the crawl is gone. */
function deletingText(keys: CrawlRedisKeys): string {
  // A parent starts another in place of one that was killed, and those whose parent is gone leave.
  const killing =
    process.send === undefined
      ? `this one: kill -9 ${process.pid}`
      : `those of this machine: kill -9 ${process.ppid} $(pgrep -P ${process.ppid})`
  return `${crawlShown(keys)} was kept on Redis until now (SCHEDULER_PERSIST was true), and this worker will delete it: SCHEDULER_PERSIST is false here, so the last worker that leaves empties queue and dupefilter, also after Ctrl-C or webloom stop. To keep it, kill all its workers (${killing}), and ten seconds later start them with -s SCHEDULER_PERSIST=true`
}

/** Resolves to settings in which the workers of a crawl are alike, by name, as text. */
export async function notedAlikeOf({
  redis,
  keys,
}: {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
}): Promise<Readonly<Record<string, string>>> {
  return JSON.parse((await redis.hget(keys.record, 'alike')) ?? '{}')
}
