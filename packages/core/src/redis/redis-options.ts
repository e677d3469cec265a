import { didYouMean } from '@webloom/url'
import type { Redis } from 'ioredis'
import { SettingsError, WebloomError } from '../errors/errors.ts'
import type { Settings } from '../settings/settings.ts'
import { type RedisTls, readRedisParams, type SentinelParams } from './redis-params.ts'
import { parseRedisUrl, type RedisAddress, type RedisUrl, redisUrlText } from './redis-url.ts'

/** What a Redis server is used for. Each role may have a server of its own. */
export type RedisRole = 'queue' | 'dupefilter' | 'seeds' | 'items'

/** A connection to a Redis server, of ioredis. */
export type RedisClient = Redis

/** How to connect to a Redis: one server, the one that Sentinels name, or a Redis Cluster. With ioredis's names. */
export interface RedisOptions extends SentinelParams {
  readonly host?: string
  readonly port?: number
  readonly db?: number
  readonly username?: string
  readonly password?: string
  /** Set for `rediss://` and `REDIS_PARAMS.ssl`. */
  readonly tls?: RedisTls
  /** How long connecting may take, milliseconds. */
  readonly connectTimeout?: number
  /** A connection that awaits a reply is closed after so many milliseconds without a byte. */
  readonly socketTimeout?: number
  /** Sentinels of the server `name`; `host` and `port` then mean nothing. */
  readonly sentinels?: readonly RedisAddress[]
  readonly name?: string
  /** Some nodes of a Redis Cluster, which know the others; `host` and `port` then mean nothing. */
  readonly nodes?: readonly RedisAddress[]
}

/** How a connection behaves, with ioredis's names. */
export interface ClientBehaviour {
  readonly lazyConnect?: boolean
  readonly maxRetriesPerRequest?: number | null
  readonly maxLoadingRetryTime?: number
  readonly commandTimeout?: number
  /** Null: a connection that is lost stays lost. */
  readonly retryStrategy?: ((attempt: number) => number) | null
  readonly reconnectOnError?: (error: Error) => boolean | 1 | 2
  /** Hears of a new master from Sentinels, and goes there; not what is made of it. */
  readonly followsSentinels?: boolean
}

/** Returns whether somebody tells which other server has taken the place of one that is lost. */
export function namesSpares({
  nodes,
  sentinels,
}: { readonly [name in 'nodes' | 'sentinels']?: readonly unknown[] | null | undefined }): boolean {
  return !!nodes || !!sentinels
}

/** A server for messages and logs, without its password. */
export interface RedisTarget {
  readonly options: RedisOptions
  readonly shown: string
  /** The setting that names the server. */
  readonly setting: string
}

/** The settings that name a server for one role only, the nearest first. */
const ROLE_URLS = {
  queue: ['QUEUE_REDIS_URL'],
  dupefilter: ['FILTER_URL'],
  seeds: ['SEEDS_REDIS_URL'],
  items: ['ITEMS_REDIS_URL'],
} as const

/** All there are. */
export const REDIS_ROLES: readonly RedisRole[] = ['queue', 'dupefilter', 'seeds', 'items']

// A socket that hangs without an error must be noticed well before a lease of 6 s is lost.
const SOCKET_TIMEOUT_MS = 4000
const CONNECT_TIMEOUT_MS = 5000
// Where another server may take the place of one that is cut off, it is looked for soon: a lost SYN is sent again after a second.
const SPARED_CONNECT_TIMEOUT_MS = 1500

/**
 * Returns the servers of a role: none when the settings name no Redis, several only for `dupefilter` (DUPEFILTER_REDIS_URL
 * as a list shards it). Opens nothing. Throws `SettingsError` for a text that is not a URL.
 */
export function redisTargets(settings: Settings, role: RedisRole): RedisTarget[] {
  const shards = role === 'dupefilter' ? urlsIn(settings.getList('DUPEFILTER_REDIS_URL')) : []
  if (shards.length > 0) return shards.map((url) => target(settings, 'DUPEFILTER_REDIS_URL', url))
  const own = ROLE_URLS[role]
    .map((name) => [name, settings.get(name)] as const)
    .find(([, url]) => url !== null)
  if (own) return [target(settings, own[0], own[1]!)]
  if (role === 'dupefilter' && settings.get('FILTER_HOST') !== null) {
    const [host, port, db] = [
      settings.get('FILTER_HOST')!,
      settings.getInt('FILTER_PORT'),
      settings.getInt('FILTER_DB'),
    ]
    return [finished(settings, 'FILTER_HOST', { host, port, db })]
  }
  const url = settings.get('REDIS_URL')
  if (url !== null) return [target(settings, 'REDIS_URL', url)]
  const host = settings.get('REDIS_HOST')
  if (host === null) return []
  const db = settings.getInt('REDIS_DB')
  const port = settings.getInt('REDIS_PORT')
  return [finished(settings, 'REDIS_HOST', { host, port, ...(db !== 0 && { db }) })]
}

/**
 * The `redis` of a crawler without one: throws the `SettingsError` that `Crawler.redis` throws where the settings name no
 * Redis.
 *
 * @param because what needs Redis
 */
export function noRedis(role: RedisRole, because = `a component ${asksFor(role)}`): never {
  checkRedisRole(role, because)
  throw new SettingsError([
    `${because}, and no Redis is named. Set REDIS_URL=redis://host:6379, or ${role.toUpperCase()}_REDIS_URL`,
  ])
}

/** Returns the end of a sentence that begins with a component. */
export function asksFor(role: RedisRole): string {
  return `asks for the Redis of role ${String(role) || '""'}`
}

/** Throws WL_COMPONENT_LOAD for a role that there is not. */
export function checkRedisRole(role: RedisRole, because = `a component ${asksFor(role)}`): void {
  if (REDIS_ROLES.includes(role)) return
  throw new WebloomError(
    'WL_COMPONENT_LOAD',
    `${because}; the roles are ${REDIS_ROLES.join(', ')}.${didYouMean(String(role), REDIS_ROLES)}`,
  )
}

/** The servers of one URL stand between commas, as do the URLs of a list that is written as one text. */
function urlsIn(parts: readonly string[]): string[] {
  return parts.length === 0 ? [] : parts.join(',').split(/,(?=[\w+]+:\/\/)/)
}

function target(settings: Settings, setting: string, text: string): RedisTarget {
  const { kind, isTls, addresses, params, ...named } = parseRedisUrl(text, setting)
  const place = {
    server: { ...addresses[0]! },
    sentinel: { sentinels: addresses },
    cluster: { nodes: addresses },
  }[kind]
  return finished(settings, setting, { ...place, ...named }, { isTls, params })
}

/** Adds REDIS_PARAMS. What the URL says counts more. */
function finished(
  settings: Settings,
  setting: string,
  named: RedisOptions,
  url: Pick<RedisUrl, 'isTls' | 'params'> = { isTls: false, params: {} },
): RedisTarget {
  const all = settings.getDict('REDIS_PARAMS')
  const readFrom = Object.keys(url.params).length > 0 ? `${setting} (or REDIS_PARAMS)` : 'REDIS_PARAMS'
  const { others, times, tls, sentinel } = readRedisParams({ ...all, ...url.params }, readFrom, url.isTls)
  const isElsewhere = namesSpares(named)
  const { sentinels, name, ...server } = others
  const hasSpares = isElsewhere || sentinels !== undefined
  const options: RedisOptions = {
    connectTimeout: hasSpares ? SPARED_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    ...(isElsewhere ? server : others),
    ...times,
    ...(tls && { tls }),
    ...((named.sentinels ?? sentinels) !== undefined && named.nodes === undefined && sentinel),
    ...named,
    db: named.db ?? (named.nodes ? 0 : databaseOf(others.db)),
  }
  return { options, shown: shownTarget(options), setting }
}

/** Returns REDIS_PARAMS.db; in Python's configurations it may be a text. */
function databaseOf(value: unknown = 0): number {
  const db = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof db === 'number' && Number.isSafeInteger(db) && db >= 0) return db
  throw new SettingsError([
    `REDIS_PARAMS.db is ${JSON.stringify(value)}; expected the number of a database, from 0 on`,
  ])
}

function shownTarget({ nodes, sentinels, name = 'mymaster', tls, host, port, db }: RedisOptions): string {
  const isTls = tls !== undefined
  if (nodes) return redisUrlText({ kind: 'cluster', isTls, addresses: nodes })
  if (sentinels)
    return redisUrlText({
      kind: 'sentinel',
      isTls,
      addresses: sentinels,
      name,
      ...(db !== undefined && { db }),
    })
  return redisUrlText({
    kind: 'server',
    isTls,
    addresses: [{ host: host ?? '', port: port ?? 6379 }],
    ...(db !== undefined && { db }),
  })
}
