import { didYouMean } from '@webloom/url'
import type { Redis } from 'ioredis'
import { SettingsError, WebloomError } from '../errors/errors.ts'
import type { Settings } from '../settings/settings.ts'

/** What a Redis server is used for. Each role may have a server of its own. */
export type RedisRole = 'queue' | 'dupefilter' | 'seeds' | 'items'

/** A connection to a Redis server, of ioredis. */
export type RedisClient = Redis

/** How to connect to one Redis server, with ioredis's names. */
export interface RedisOptions {
  readonly host?: string
  readonly port?: number
  readonly db?: number
  readonly username?: string
  readonly password?: string
  /** Set for `rediss://` and `REDIS_PARAMS.ssl`. */
  readonly tls?: Readonly<Record<string, unknown>>
  /** How long connecting may take, milliseconds. */
  readonly connectTimeout?: number
  /** A connection that awaits a reply is closed after so many milliseconds without a byte. */
  readonly socketTimeout?: number
  /** Sentinels of the server `name`. */
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[]
  readonly name?: string
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

/**
 * Returns the servers of a role: none when the settings name no Redis, several only for `dupefilter` (DUPEFILTER_REDIS_URL
 * as a list shards it). Opens nothing. Throws `SettingsError` for a text that is no URL.
 */
export function redisTargets(settings: Settings, role: RedisRole): RedisTarget[] {
  const shards = role === 'dupefilter' ? settings.getList('DUPEFILTER_REDIS_URL') : []
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

/** The end of a sentence that begins with a component. */
export function asksFor(role: RedisRole): string {
  return `asks for the Redis of role ${role}`
}

/** Throws WL_COMPONENT_LOAD for a role that there is not. */
export function checkRedisRole(role: RedisRole, because = `a component ${asksFor(role)}`): void {
  if (REDIS_ROLES.includes(role)) return
  throw new WebloomError(
    'WL_COMPONENT_LOAD',
    `${because}; the roles are ${REDIS_ROLES.join(', ')}.${didYouMean(String(role), REDIS_ROLES)}`,
  )
}

function target(settings: Settings, setting: string, text: string): RedisTarget {
  const url = URL.parse(text)
  // As in redis-py, where both are given the one after the question mark counts.
  const db = url ? (url.searchParams.get('db') ?? unquoted(url.pathname.slice(1))) : ''
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '' || !/^\d*$/.test(db)) {
    throw new SettingsError([
      `${setting} is ${JSON.stringify(withoutPassword(text))}; expected redis://host:port/db, or rediss:// for TLS`,
    ])
  }
  return finished(settings, setting, {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    ...(db !== '' && { db: Number(db) }),
    ...(url.username !== '' && { username: unquoted(url.username) }),
    ...(url.password !== '' && { password: unquoted(url.password) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
  })
}

/** As redis-py has it: a % that begins no escape stands for itself, as in a password that was pasted. */
function unquoted(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
}

/** Adds REDIS_PARAMS, with redis-py's names or ioredis's. What the URL says counts more. */
function finished(settings: Settings, setting: string, named: RedisOptions): RedisTarget {
  const { socket_timeout, socket_connect_timeout, ssl, ...params } = settings.getDict('REDIS_PARAMS')
  const known = Object.fromEntries(Object.entries(params).filter(([name]) => !PYTHON_ONLY.includes(name)))
  const options: RedisOptions = {
    connectTimeout:
      typeof socket_connect_timeout === 'number' ? socket_connect_timeout * 1000 : CONNECT_TIMEOUT_MS,
    socketTimeout: typeof socket_timeout === 'number' ? socket_timeout * 1000 : SOCKET_TIMEOUT_MS,
    ...(ssl === true && { tls: {} }),
    ...known,
    ...named,
    db: named.db ?? databaseOf(known.db),
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

// Options of redis-py alone: here they always hold, or mean nothing.
const PYTHON_ONLY: readonly string[] = [
  'retry_on_timeout',
  'encoding',
  'decode_responses',
  'redis_cls',
  'client_name',
]

function shownTarget({ sentinels, name, tls, host, port, db }: RedisOptions): string {
  if (sentinels)
    return `sentinel ${name ?? 'mymaster'} at ${sentinels.map((one) => `${one.host}:${one.port}`).join(', ')}`
  const shownHost = host?.includes(':') ? `[${host}]` : host
  return `${tls ? 'rediss' : 'redis'}://${shownHost}:${port}/${db}`
}

/** Returns a Redis URL for messages: its password is hidden, however broken the rest. */
export function withoutPassword(url: string): string {
  const hidden = url.replace(/^(\w+:\/\/[^:@/]*):.*@/s, '$1:***@')
  return hidden === url ? url.replace(/^(\w+:\/\/)?.*@/s, '$1***@') : hidden
}
