/** REDIS_PARAMS: how a Redis is spoken to, by the names of redis-py or of ioredis. In a URL the same names stand after the question mark. */

import { readFileSync } from 'node:fs'
import { SettingsError } from '../errors/errors.ts'

/** As Node's `tls.connect` has it, but for what is not JSON. */
export interface RedisTls {
  /** Certificates of those that sign the server's, in PEM. */
  readonly ca?: string
  /** Our own, where the server asks for one, with its key. */
  readonly cert?: string
  readonly key?: string
  readonly passphrase?: string
  /** False: whoever answers is believed. */
  readonly rejectUnauthorized?: boolean
  /** False: the certificate may name another host. */
  readonly checkHostname?: boolean
  /** Where it is from, for lines that somebody may type: paths by `ssl_ca_certs` and the like. */
  readonly files?: Readonly<Record<string, string>>
  readonly [other: string]: unknown
}

/** What is said to Sentinels, which have users of their own. */
export interface SentinelParams {
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
  /** Null: Sentinels speak no TLS, though their servers do. */
  readonly sentinelTLS?: RedisTls | null
}

// Of redis-py. In a URL all of them are texts.
const TLS_FILES = { ssl_ca_certs: 'ca', ssl_certfile: 'cert', ssl_keyfile: 'key' } as const
const TLS_TEXTS = { ssl_ca_data: 'ca', ssl_password: 'passphrase' } as const
const TIMES = { socket_timeout: 'socketTimeout', socket_connect_timeout: 'connectTimeout' } as const
const SENTINEL_TEXTS = {
  sentinel_username: 'sentinelUsername',
  sentinel_password: 'sentinelPassword',
} as const

/** Those that a URL may have. */
export const TEXT_PARAMS: readonly string[] = [
  ...Object.keys({ ...TLS_FILES, ...TLS_TEXTS }),
  'ssl_cert_reqs',
  'ssl_check_hostname',
  ...Object.keys({ ...TIMES, ...SENTINEL_TEXTS }),
]

/** Options of redis-py alone: here they always hold, or mean nothing. */
export const IGNORED_PARAMS: readonly string[] = [
  'retry_on_timeout',
  'retry_on_error',
  'retry',
  'encoding',
  'encoding_errors',
  'decode_responses',
  'redis_cls',
  'client_name',
  'max_connections',
  'health_check_interval',
  'socket_keepalive',
  'protocol',
]

type Params = Readonly<Record<string, unknown>>

/** What all params come to, with ioredis's names. */
export interface ReadParams {
  /** All that are not redis-py's, as they are. */
  readonly others: Params
  readonly times: { readonly socketTimeout?: number; readonly connectTimeout?: number }
  readonly sentinel: SentinelParams
  /** Absent: they do not ask for TLS. */
  readonly tls?: RedisTls
}

/**
 * Reads the files that are named. Throws `SettingsError` for one that cannot be read, and for a value that means nothing.
 *
 * @param isTls the URL asks for TLS
 */
export function readRedisParams(params: Params, setting: string, isTls: boolean): ReadParams {
  const { ssl, tls: given, sentinel_kwargs, ...rest } = params
  const mapped = [TLS_FILES, TLS_TEXTS, TIMES, SENTINEL_TEXTS].flatMap((names) => Object.keys(names))
  const ours = [...mapped, 'ssl_cert_reqs', 'ssl_check_hostname', ...IGNORED_PARAMS]
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !ours.includes(name)))
  const asksForTls = isTls || ssl === true || (given !== undefined && given !== null && given !== false)
  const tls = asksForTls ? tlsOf(rest, setting, typeof given === 'object' ? given : null) : undefined
  return {
    others,
    times: timesOf(rest, setting),
    sentinel: sentinelOf({ ...rest, ...loginOfSentinel(sentinel_kwargs) }, sentinel_kwargs, tls),
    ...(tls && { tls }),
  }
}

function tlsOf(params: Params, setting: string, given: object | null): RedisTls {
  const named = Object.entries(TLS_FILES).filter(([name]) => typeof params[name] === 'string')
  const paths = Object.fromEntries(named.map(([name]) => [name, String(params[name])]))
  const files = named.map(([name, option]) => [option, fileText(paths[name]!, `${name} of ${setting}`)])
  const texts = Object.entries(TLS_TEXTS)
    .filter(([name]) => typeof params[name] === 'string')
    .map(([name, option]) => [option, params[name]])
  const { ssl_cert_reqs: reqs, ssl_check_hostname: checks } = params
  if (reqs !== undefined && ![null, 'none', 'optional', 'required'].includes(reqs as string))
    throw new SettingsError([
      `ssl_cert_reqs of ${setting} is ${JSON.stringify(reqs)}; expected "required", or "none" to believe any certificate`,
    ])
  return {
    ...given,
    ...Object.fromEntries([...files, ...texts]),
    ...(named.length > 0 && { files: paths }),
    ...((reqs === null || reqs === 'none') && { rejectUnauthorized: false }),
    ...((checks === false || /^(?:false|no|0)$/i.test(String(checks))) && { checkHostname: false }),
  }
}

function fileText(path: string, called: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SettingsError([
      `${called} is ${JSON.stringify(path)}, which cannot be read (${code ?? message}); expected the path of a PEM file, absolute or from ${process.cwd()}`,
    ])
  }
}

/** Redis-py counts in seconds. */
function timesOf(params: Params, setting: string): ReadParams['times'] {
  return Object.fromEntries(
    Object.entries(TIMES)
      .filter(([name]) => params[name] !== undefined && params[name] !== null)
      .map(([name, option]) => {
        const seconds = Number(params[name])
        if (!(seconds > 0))
          throw new SettingsError([
            `${name} of ${setting} is ${JSON.stringify(params[name])}; expected seconds, such as 4`,
          ])
        return [option, seconds * 1000]
      }),
  )
}

/** Redis-py's `sentinel_kwargs` are params of the connections to Sentinels. */
function loginOfSentinel(kwargs: unknown): Params {
  const { username, password } = (kwargs ?? {}) as Params
  return {
    ...(username !== undefined && { sentinel_username: username }),
    ...(password !== undefined && { sentinel_password: password }),
  }
}

function sentinelOf(params: Params, kwargs: unknown, tls: RedisTls | undefined): SentinelParams {
  const texts = Object.entries(SENTINEL_TEXTS)
    .filter(([name]) => typeof params[name] === 'string')
    .map(([name, option]) => [option, params[name]])
  const { ssl } = (kwargs ?? {}) as Params
  const sentinelTls = ssl === false ? null : ssl === true ? (tls ?? {}) : tls
  return { ...Object.fromEntries(texts), ...(sentinelTls !== undefined && { sentinelTLS: sentinelTls }) }
}
