/** A Redis, or its Sentinels, that will not have us. */

import { type RedisTarget, redisUrlText, SettingsError, WebloomError } from '@webloom/core'

export interface Refusal {
  /** In words, with what to do. */
  readonly why: string
  /** True: it is a server by itself, and neither a cluster nor watched over by what is named. */
  readonly isSingle?: boolean
  /** What the URL lacks behind its question mark: `ssl_ca_certs=/path/ca.pem`. */
  readonly params?: readonly string[]
  /** The command that tells what to write. */
  readonly question?: string
}

/** What was refused will be refused again. */
export class IsRefused extends WebloomError {
  readonly refusal: Refusal

  constructor(shown: string, refusal: Refusal, cause?: unknown) {
    super('WL_REDIS_REFUSED', `Redis at ${shown} cannot be used: ${refusal.why}`, { cause })
    this.refusal = refusal
  }
}

/** A master of a cluster does not let us in, though others do. */
export class IsLockedAtMaster extends IsRefused {
  /** `host:port` */
  readonly node: string

  constructor(shown: string, node: string, refusal: Refusal) {
    super(shown, refusal)
    this.node = node
  }
}

/** A server of another kind than its URL says. */
export class IsOtherwise extends SettingsError {
  readonly kind: 'cluster' | 'sentinel'
  /** What to write in place of the URL, without user and password. */
  readonly url: string

  constructor(problem: string, kind: 'cluster' | 'sentinel', url: string) {
    super([problem])
    this.kind = kind
    this.url = url
  }
}

/** Returns the error of a URL at which a Sentinel is, which has no keys. */
export function sentinelInstead(target: RedisTarget): IsOtherwise {
  return otherwise(
    target,
    'sentinel',
    'is a Sentinel, and keeps no keys',
    '/name, where the name is what it calls the server: redis-cli SENTINEL MASTERS tells it',
  )
}

/** Returns the error of a URL of one server at which a cluster is: a single connection sees only a part of its keys. */
export function clusterInstead(target: RedisTarget): IsOtherwise {
  return otherwise(
    target,
    'cluster',
    'is a node of a Redis Cluster (cluster_enabled:1)',
    ', with other nodes after commas',
  )
}

function otherwise(
  { shown, setting, options }: RedisTarget,
  kind: 'cluster' | 'sentinel',
  what: string,
  hint: string,
): IsOtherwise {
  const { host = '', port = 6379, tls, nodes } = options
  const addresses = nodes ?? [{ host, port }]
  const url = redisUrlText({ kind, isTls: tls !== undefined, addresses })
  const written = url.replace('://', '://user:password@').replace(/\/0$/, '')
  return new IsOtherwise(`${shown} ${what}. Write ${setting}=${written}${hint}`, kind, url)
}

/** Returns the error of a database that the server does not have. */
export function noDatabase({ shown, options }: RedisTarget, { message }: Error): SettingsError {
  return new SettingsError([
    `${shown} names database ${options.db}, which cannot be used there: ${message}. Name one that it has (0 to 15 unless \`databases\` in its configuration says otherwise; in a Redis Cluster only 0). Crawls need no databases of their own: CRAWL_ID keeps them apart`,
  ])
}
