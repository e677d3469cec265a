/**
 * Where a Redis is, as a setting says it in one line:
 *
 *     redis://user:password@host:port/db                    one server
 *     redis+sentinel://host:port,host:port/name/db          the server that Sentinels call `name`
 *     redis+cluster://host:port,host:port                   a Redis Cluster, by some of its nodes
 *
 * `rediss` instead of `redis` speaks TLS. After a question mark stand names of REDIS_PARAMS. User and password are
 * percent-encoded; as in redis-py a % that begins no escape stands for itself, as in a password that was pasted.
 */

import { didYouMean } from '@webloom/url'
import { SettingsError } from '../errors/errors.ts'
import { IGNORED_PARAMS, TEXT_PARAMS } from './redis-params.ts'

/** Where something listens. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
}

/** What a URL says. What it leaves open is absent. */
export interface RedisUrl {
  readonly kind: 'server' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  /** Of a server one, else several. */
  readonly addresses: readonly RedisAddress[]
  /** What the Sentinels call the server. */
  readonly name?: string
  readonly db?: number
  readonly username?: string
  readonly password?: string
  /** By the names of REDIS_PARAMS. */
  readonly params: Readonly<Record<string, string>>
}

const FORMS = {
  server: 'redis://host:port/db',
  sentinel: 'redis+sentinel://host:port,host:port/name/db',
  cluster: 'redis+cluster://host:port,host:port',
} as const
const PORTS = { server: 6379, sentinel: 26_379, cluster: 6379 } as const
const FORMS_SHOWN = `${FORMS.server}, ${FORMS.sentinel} or ${FORMS.cluster}, and rediss instead of redis for TLS`

/** Throws `SettingsError`, which names the setting and what to write, and shows no password. */
export function parseRedisUrl(text: string, setting: string): RedisUrl {
  const refused = (why: string) =>
    new SettingsError([`${setting} is ${JSON.stringify(withoutPassword(text))}; ${why}`])
  const [, anyCase, rest = ''] = /^([\w+]+):\/\/(.*)$/s.exec(text.trim()) ?? []
  // Schemes have no case (RFC 3986, 3.1).
  const [, scheme, plus] = /^(rediss?)(?:\+(sentinel|cluster))?$/.exec(anyCase?.toLowerCase() ?? '') ?? []
  if (scheme === undefined) throw refused(`expected ${FORMS_SHOWN}`)
  const kind = plus === undefined ? 'server' : (plus as 'sentinel' | 'cluster')
  const [, authority = '', path = '', query = '', fragment] =
    /^([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? []
  const params = paramsOf(query)
  const unknown = Object.keys(params).find((name) => !isParam(name))
  if ([path, fragment ?? '', unknown ?? ''].some((part) => part.includes('@')))
    throw refused('in a user or password write %2F for /, %3F for ? and %23 for #')
  if (fragment !== undefined) throw refused(`nothing may stand behind a #; expected ${FORMS[kind]}`)
  if (unknown !== undefined)
    throw refused(
      `there is no parameter ${JSON.stringify(unknown)}.${didYouMean(unknown, TEXT_PARAMS)} After the ? may stand ${TEXT_PARAMS.join(', ')}, joined by &`,
    )
  const at = authority.lastIndexOf('@')
  // As of several URLs; a password that has this in it is percent-encoded.
  const isGivenAgain = kind !== 'server' && AGAIN.test(authority.slice(0, Math.max(0, at)))
  if (isGivenAgain)
    throw refused(
      `it has a user or password at more than one host. They stand once, before the first: ${FORMS[kind].replace('://', '://user:password@')} (write %2C for a , in a password, and %40 for an @)`,
    )
  const addresses = authority
    .slice(at + 1)
    .split(',')
    .map((part) => addressOf(part.trim(), PORTS[kind]))
  if (!addresses.every((address) => address !== undefined)) throw refused(`expected ${FORMS[kind]}`)
  if (kind === 'server' && addresses.length > 1)
    throw refused(`it names several servers, as only ${FORMS.sentinel} and ${FORMS.cluster} may`)
  const { name, db } = placeOf(kind, path, params.db, refused)
  return {
    kind,
    isTls: scheme === 'rediss',
    addresses,
    ...(name !== undefined && { name }),
    ...(db !== undefined && { db }),
    ...loginOf(authority.slice(0, Math.max(0, at))),
    params: Object.fromEntries(Object.entries(params).filter(([param]) => param !== 'db')),
  }
}

/** As in redis-py, where a database is given twice the one after the question mark counts. */
function placeOf(
  kind: RedisUrl['kind'],
  path: string,
  asked: string | undefined,
  refused: (why: string) => SettingsError,
): { name?: string | undefined; db?: number | undefined } {
  const parts = path.split('/').slice(1).map(unquoted)
  const name = kind === 'sentinel' ? parts.shift() : undefined
  const inPath = parts.shift() ?? ''
  const db = asked ?? inPath
  if (kind === 'sentinel' && (name === undefined || name === ''))
    throw refused(`it does not say what the Sentinels call the server; expected ${FORMS.sentinel}`)
  if (!/^\d*$/.test(db) || parts.some((part) => part !== '')) throw refused(`expected ${FORMS[kind]}`)
  if (kind === 'cluster' && Number(db) !== 0)
    throw refused(`a Redis Cluster has only database 0. Leave /${db} away: CRAWL_ID keeps crawls apart`)
  return { name, db: db === '' ? undefined : Number(db) }
}

/** Behind a login: a host, a comma, and another login. */
const AGAIN = /@(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?\s*,/i

function loginOf(login: string): { username?: string; password?: string } {
  const colon = login.indexOf(':')
  const username = unquoted(colon < 0 ? login : login.slice(0, colon))
  const password = colon < 0 ? '' : unquoted(login.slice(colon + 1))
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) }
}

function addressOf(text: string, port: number): RedisAddress | undefined {
  const [, bracketed, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = bracketed ?? name
  const named = digits === undefined ? port : Number(digits)
  return host === undefined || named < 1 || named > 65_535 ? undefined : { host, port: named }
}

function paramsOf(query: string): Record<string, string> {
  return Object.fromEntries(
    query
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const [name, ...value] = part.split('=')
        return [unquoted(name!), unquoted(value.join('='))]
      }),
  )
}

function isParam(name: string): boolean {
  return name === 'db' || TEXT_PARAMS.includes(name) || IGNORED_PARAMS.includes(name)
}

function unquoted(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
}

/** Returns a Redis URL for messages: its passwords are hidden, however broken the rest. So is what stands behind a name that is none: a misspelt one may be a password's. */
export function withoutPassword(url: string): string {
  const quiet = url.replace(/([?&]([^=&#]*)=)[^&]*/g, (param, named, name) =>
    isParam(unquoted(name)) && !/password/i.test(unquoted(name)) ? param : `${named}***`,
  )
  const hidden = quiet.replace(/^([\w+]+:\/\/[^:@/]*):.*@/s, '$1:***@')
  return hidden === quiet ? quiet.replace(/^([\w+]+:\/\/)?.*@/s, '$1***@') : hidden
}

/** Returns the URL of such a place without user and password. */
export function redisUrlText({ kind, isTls, addresses, name, db }: Omit<RedisUrl, 'params'>): string {
  const scheme = `${isTls ? 'rediss' : 'redis'}${kind === 'server' ? '' : `+${kind}`}`
  const hosts = addresses.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  const path =
    kind === 'cluster'
      ? ''
      : [...(name === undefined ? [] : [name]), db ?? 0].map((part) => `/${part}`).join('')
  return `${scheme}://${hosts.join(',')}${path}`
}
