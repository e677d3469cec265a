/**
 * A crawl as it is typed behind a command, so that a line in a message is about the same crawl as the message: with another prefix, or on another
 * database, it may delete somebody else's.
 */

import {
  environmentVariable,
  persistsOf,
  type SettingName,
  type Settings,
  type SpiderLike,
} from '@webloom/core'
import { typedArguments, typedByName } from '../loading/typed-spider.ts'
import { shellQuoted } from '../terminal/resume-line.ts'
import { shownPair } from '../terminal/shown-pair.ts'
import { namesRedis } from './desk-servers.ts'

/** Returns the spider, with all that says where its crawl is and that only this command line, or its environment, has said. */
export function typedCrawl(spider: Pick<SpiderLike, 'name'>, settings: Settings): string {
  return [typedByName(spider, settings.get('CRAWL_ID')), ...typedSet(settings, saysWhere)].join(' ')
}

/** The same with everything else that was set there, and the spider's arguments: for a worker that is to do what this one does. */
export function typedWorker(spider: Pick<SpiderLike, 'name'>, settings: Settings): string {
  const isTyped = (name: SettingName) =>
    saysWhere(name) || (settings.source(name) === 'command' && !isOfProcess(name))
  const words = [...typedArguments(spider), ...typedSet(settings, isTyped)]
  return [typedByName(spider, settings.get('CRAWL_ID')), ...words].join(' ')
}

/** The same for a crawl that is kept on Redis, or not: a worker without SCHEDULER_PERSIST would delete at its end what others have kept. */
export function typedWorkerOf(
  spider: Pick<SpiderLike, 'name'>,
  settings: Settings,
  { isKept }: { readonly isKept: boolean },
): string {
  const keeps = isKept && !persistsOf(settings) ? ' -s SCHEDULER_PERSIST=true' : ''
  return `${typedWorker(spider, settings)}${keeps}`
}

/** Returns `-s NAME=value` for each of these settings that has its value from the command line, or for this command alone from the environment. */
export function typedSet(settings: Settings, isMeant: (name: SettingName) => boolean): string[] {
  const names = settings.namesSet() as SettingName[]
  return names
    .filter((name) => name !== 'CRAWL_ID' && isMeant(name) && isOfThisLine(settings, name))
    .flatMap((name) => typedAsSet(settings, name))
}

/** The keys that a command looks under beside those of the queue. */
const KEYS: readonly SettingName[] = ['STATS_KEY', 'REDIS_START_URLS_KEY']

function saysWhere(name: SettingName): boolean {
  return namesRedis(name) || KEYS.includes(name)
}

/** Of a process of `--processes` these are its own: LOG_FORMAT is for its parent, and no two have one METRICS_PORT. */
function isOfProcess(name: SettingName): boolean {
  return process.send !== undefined && (name === 'LOG_FORMAT' || name === 'METRICS_PORT')
}

/** A variable may have been set for one command. One without which no Redis is named may stay away: then the line says so, and does no harm. */
function isOfThisLine(settings: Settings, name: SettingName): boolean {
  const source = settings.source(name)
  if (source !== 'environment') return source === 'command'
  const isElsewhere = settings
    .explain(name)
    .layers.some(({ layer }) => layer === 'config' || layer === 'spider')
  return isElsewhere || !NAMES_SERVER.test(name)
}

const NAMES_SERVER = /_URL$|^REDIS_(?:HOST|PORT|PARAMS)$/

function typedAsSet(settings: Settings, name: SettingName): string[] {
  const written = settings.written(name)
  // A value that a program gave may be what nobody can type.
  if (typeof written === 'function' || written === undefined) return []
  const pair = `${name}=${typeof written === 'string' ? written : JSON.stringify(written)}`
  const shown = shownPair(pair)
  return shown !== pair && settings.source(name) === 'environment'
    ? ['-s', `"${name}=$${environmentVariable(name)}"`]
    : ['-s', shellQuoted(shown)]
}
