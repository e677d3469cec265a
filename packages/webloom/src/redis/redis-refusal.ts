/** What a Redis says that will not have us, in words. */

import {
  isLoginReply,
  markLockedOut,
  namesSpares,
  type ProtocolTimes,
  type RedisOptions,
  WebloomError,
} from '@webloom/core'
import { wayOut } from '../terminal/told-once.ts'
import type { Refusal } from './refusal.ts'
import { tlsRefusal } from './tls-refusal.ts'

const REFUSALS: readonly {
  readonly pattern: RegExp
  readonly words: (setting: string) => string
  readonly isSingle?: boolean
}[] = [
  {
    pattern: /^NOAUTH/,
    words: (setting) =>
      `it wants a password, and ${setting} gives none. Write :password@ or user:password@ behind its ://, as in redis://:password@host:6379`,
  },
  {
    pattern: /cluster support disabled/,
    words: (setting) => `it is a single server and no Redis Cluster. Write redis:// in ${setting}`,
    isSingle: true,
  },
  {
    pattern: /^(?:WRONGPASS|ERR invalid password)/,
    words: (setting) => `it does not know the user and password that ${setting} gives`,
  },
]

/**
 * Returns what a server means that does not let us in, and its own words; undefined when it says something else.
 *
 * @param setting the one that names the server
 */
export function serverRefusal(message: string, setting: string): Refusal | undefined {
  const found = REFUSALS.find(({ pattern }) => pattern.test(message))
  if (!found) return undefined
  const { words, isSingle = false } = found
  // Without its stop, which a look at the server is told without: what ends the crawl is told once.
  return { why: `${words(setting)} (Redis says: ${message.replace(/\.+$/, '')})`, isSingle }
}

/**
 * Returns why there is no connection, without what changes from try to try. Of Sentinels that are there ioredis says that they are unreachable,
 * too, and of a cluster only that its slots could not be asked for.
 */
export function outageInWords(
  error: Error & { readonly lastNodeError?: Error | null; readonly node?: string },
): string {
  const { message, lastNodeError, node } = error
  if (node !== undefined && !message.includes(node)) return `${inOurWords(message)} (node ${node})`
  if (NO_NODE.test(message))
    return !lastNodeError || IS_CLOSED.test(lastNodeError.message)
      ? 'no node of the cluster that is named answers'
      : inOurWords(lastNodeError.message)
  if (!/^All sentinels are unreachable/.test(message)) return inOurWords(message)
  const [, last = 'no Sentinel leads to a master that answers'] = /Last error: (.*)/s.exec(message) ?? []
  return IS_CLOSED.test(last) ? 'no Sentinel that is named answers' : inOurWords(last)
}

/** Of a cluster, when all that is known of its nodes has been asked in vain. */
const NO_NODE = /^Failed to refresh slots cache/
const IS_CLOSED = /^Connection is closed/

/** Of `outageInWords`. */
export const NO_REDIS =
  'what listens there is no Redis, as it does not speak its protocol (a web server, for one)'

/** Of `outageInWords`. */
export const CLOSED_EARLY = 'the connection was closed before there was an answer'

/** What ioredis says to whoever programs with it. */
function inOurWords(message: string): string {
  if (/^(?:Unknown RESP type|Protocol error)/.test(message)) return NO_REDIS
  if (IS_CLOSED.test(message)) return CLOSED_EARLY
  return message.replace(/\.+$/, '')
}

const EARLIER_MAX = 0.2

/**
 * Returns what tells in how many ms a lost connection is tried again, by how often it was tried: at once, then ever slower, but not too slow, as a
 * restarted Redis must be noticed.
 */
export function triesToReconnect(
  options: Pick<RedisOptions, 'nodes' | 'sentinels'>,
  { redis }: ProtocolTimes,
): (tries: number) => number {
  const msMax = namesSpares(options) ? redis.sparedReconnectMsMax : redis.reconnectMsMax
  // Not all at the same moment.
  return (tries) => Math.min(50 * 2 ** tries, msMax) * (1 - EARLIER_MAX * Math.random())
}

/** Returns what is told when a server is lost, and when it or another in its place is there. */
export function outageNotes({ nodes, sentinels }: Pick<RedisOptions, 'nodes' | 'sentinels'>): {
  readonly away: string
  readonly back: string
} {
  if (nodes)
    return {
      away: 'a server of the Redis Cluster cannot be reached; what is kept there waits until it is back, or a replica has taken its place',
      back: 'the Redis Cluster has a server again in the place of the one that was lost; the crawl goes on',
    }
  if (sentinels)
    return {
      away: 'the master of the Redis cannot be reached; the crawl waits for it, or for the one that the Sentinels name in its place',
      back: 'Redis has a master again; the crawl goes on',
    }
  return { away: 'Redis cannot be reached; the crawl waits for it', back: 'Redis is back; the crawl goes on' }
}

/** Connections to one server hear of its end within this time. */
const SAME_MS = 5000

/**
 * Which servers are away, and what the log has said of it. A worker has several connections to a server, and each hears of its end, in words that may differ
 * (refused, closed): that is one outage, and it is told once. A reason that comes later, such as that the server reads its file, is told when it comes.
 */
export class Outages {
  readonly #byServer = new Map<string, { readonly reasons: Set<string>; toldAtMs: number }>()

  /** Returns whether the log is to tell that a server is away. */
  isNews(server: string, reason: string): boolean {
    const known = this.#byServer.get(server)
    const nowMs = performance.now()
    if (!known) {
      this.#byServer.set(server, { reasons: new Set([reason]), toldAtMs: nowMs })
      return true
    }
    if (known.reasons.has(reason) || reason.startsWith(CLOSED_EARLY) || nowMs - known.toldAtMs < SAME_MS)
      return false
    known.reasons.add(reason)
    known.toldAtMs = nowMs
    return true
  }

  /** Notes that a server is there. Returns whether the log has told that it is away. */
  end(server: string): boolean {
    return this.#byServer.delete(server)
  }
}

/**
 * Returns what keeps Sentinels from telling the master; undefined when they are away.
 *
 * @param message of ioredis: `failed to connect to sentinel <place> because <reply>`, for one
 */
export function sentinelRefusal(
  message: string,
  { sentinels, name }: Pick<RedisOptions, 'sentinels' | 'name'>,
  setting: string,
): Refusal | undefined {
  const { host, port } = sentinels![0]!
  if (/invalid reply: null|No such master/.test(message))
    return {
      why: `the Sentinels know no master of the name ${name}, which stands behind the hosts in ${setting}. What they know is told by: redis-cli -h ${host} -p ${port} SENTINEL MASTERS`,
      question: 'SENTINEL MASTERS',
    }
  if (IS_NO_SENTINEL.test(message))
    return {
      why: `${host}:${port} is a Redis, and no Sentinel (it does not know the command SENTINEL). Sentinels have ports of their own, 26379 unless that is changed; for one server write redis:// in ${setting}`,
      isSingle: true,
    }
  const ofTls = tlsRefusal(message.replace(/^.*? because /s, ''), setting)
  if (ofTls) return { ...ofTls, why: `of a Sentinel: ${ofTls.why}` }
  const [, reply] = /because ((?:NOAUTH|WRONGPASS|ERR invalid password|NOPERM)\b.*)/s.exec(message) ?? []
  return reply === undefined
    ? undefined
    : {
        why: `the Sentinels do not let us in (they say: ${reply}). They have users of their own: add ?${SENTINEL_LOGIN.join('&')} to ${setting}, or set sentinel_kwargs in REDIS_PARAMS`,
        params: SENTINEL_LOGIN,
      }
}

const SENTINEL_LOGIN = ['sentinel_username=user', 'sentinel_password=password']

/** Redis says it otherwise from release to release, and otherwise again of a command that a script runs. */
const NO_RIGHT = /^NOPERM|ACL failure in script|executing the script can't (?:run|access)/i
const NO_COMMAND = /unknown (?:redis )?command(?! ['`]?sentinel\b)/i
const IS_NO_SENTINEL = /unknown command ['`]?sentinel\b/i

/** Comes before `aclLine`. */
export const RIGHTS_CURE =
  'This line, typed by an administrator of that Redis, gives the user all rights that Webloom needs'

/** The code of a reply that was explained. */
const REFUSED = 'WL_REDIS_REFUSED'

/** What a reply lacks that was refused, and what would give it. */
export interface MissingRight {
  /** What Redis said, and what it means. */
  readonly why: string
  /** What gives it, in words that come before `aclLine`. */
  readonly cure: string
  /** What would give all rights that are needed there: see `aclLine`. */
  readonly aclLine: string
  /** No right brings the command back. */
  readonly isRenamed?: boolean
}

/**
 * Returns what a command needs that this Redis does not let us run; undefined when it refused it for another reason, or not at all.
 *
 * @param asked the command, where it is known, and the server
 */
export function missingRight(message: string, asked: string, aclLine: string): MissingRight | undefined {
  if (NO_RIGHT.test(message))
    return {
      why: `${message} (${asked}): the user has no right to that command, key or channel`,
      cure: RIGHTS_CURE,
      aclLine,
    }
  if (NO_COMMAND.test(message))
    return {
      why: `${message} (${asked}): the command is renamed or disabled there (rename-command), or this Redis is too old for it`,
      cure: 'Take the line out of its redis.conf, and restart it. To keep others from a command rename none, but give the crawl a user of its own',
      aclLine,
      isRenamed: true,
    }
  return undefined
}

/** By the reply. Not among its fields, which are logged. */
const EXPLAINED = new WeakMap<Error, MissingRight>()

/** Makes the reply say what is missing. */
export function explain(error: Error, missing: MissingRight): void {
  const { why, cure, aclLine } = missing
  EXPLAINED.set(error, missing)
  Object.assign(error, {
    message: `${why}. ${wayOut(`${cure}: ${aclLine} (docs/deploy.md says more)`)}`,
    code: REFUSED,
  })
}

/** By the reply, like `EXPLAINED`. */
const LOGINS = new WeakMap<Error, Refusal>()

/** Returns whether an error is the reply to a login, or a cluster's last of several. */
export function isLoginRefused(error: Error & { readonly lastNodeError?: Error | null }): boolean {
  return LOGINS.has(error) || [error, error.lastNodeError].some((one) => one && isLoginReply(one))
}

/**
 * Makes the reply to a login say what to do; one that says something else stays as it is.
 *
 * @param atNode what is wrong at the node of a cluster that has refused it
 */
export function explainLogin(error: Error, shown: string, setting: string, atNode?: string): void {
  const refusal = isLoginReply(error) ? serverRefusal(error.message, setting) : undefined
  if (!refusal) return
  LOGINS.set(error, refusal)
  markLockedOut(error)
  Object.assign(error, {
    message: atNode
      ? `Redis at ${shown} cannot be used whole: ${atNode}`
      : `Redis at ${shown} does not let this process in any more: ${refusal.why}. ${wayOut(`Give that Redis the user and password back, or write in ${setting} those that it has now, and start again: the crawl goes on where it was`)}`,
    code: REFUSED,
  })
}

/** Returns why a login was refused whose reply says already what to do; undefined for all others. */
export function loginRefusalOf(error: unknown): Refusal | undefined {
  return error instanceof Error ? LOGINS.get(error) : undefined
}

/** Returns whether an error says in our words already what was refused. */
export function isExplained(error: Error): boolean {
  return 'code' in error && error.code === REFUSED
}

/** Returns the right that was missing when an error was explained, or the cause of one; undefined for all others. */
export function missingRightOf(error: unknown): MissingRight | undefined {
  const told = error instanceof WebloomError ? error.cause : error
  if (!(told instanceof Error)) return undefined
  const { lastNodeError } = told as { readonly lastNodeError?: Error | null }
  return EXPLAINED.get(told) ?? (lastNodeError ? EXPLAINED.get(lastNodeError) : undefined)
}

/** What the nodes of a cluster say of themselves while it is being connected to. */
export class NodeRefusals {
  readonly #byNode = new Map<string, Error>()

  /** Returns whether an error, the last of several, tells that each node has refused us: none will do otherwise a moment later. */
  areAllToldBy(error: Error & { readonly node?: string }): boolean {
    const { node, message } = error
    if (node !== undefined) this.#byNode.set(node, error)
    if (!NO_NODE.test(message)) return false
    const errors = [...this.#byNode.values()]
    this.#byNode.clear()
    return errors.length > 0 && errors.every((one) => isLoginReply(one) || EXPLAINED.has(one))
  }
}

/** A reply of Redis that names a missing right, as an error of ours; undefined for all others. */
export function refusalOf(error: unknown): WebloomError | undefined {
  return error instanceof Error && isExplained(error)
    ? new WebloomError(REFUSED, error.message, { cause: error })
    : undefined
}

/** Returns whether an answer to `INFO cluster` is by a node of a Redis Cluster. */
export function isClusterNode(info: string): boolean {
  return /^cluster_enabled:1\s*$/m.test(info)
}

/** Returns whether an answer to `INFO` is by a Sentinel. */
export function isSentinel(info: string): boolean {
  return /^redis_mode:sentinel\s*$/m.test(info)
}

/** Where a master is. */
export interface MasterPlace {
  readonly host: string
  readonly port: number
}

/** The master of a replica that takes no writes, as `INFO` names it; undefined of any other server. */
export function masterOfReplica(info: string): MasterPlace | undefined {
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? ''
  if (field('role') !== 'slave' || field('slave_read_only') !== '1') return undefined
  return { host: field('master_host'), port: Number(field('master_port')) }
}

/** A server that only its master may write. */
export class IsReplica extends WebloomError {
  readonly master: MasterPlace

  constructor(shown: string, setting: string, master: MasterPlace) {
    super(
      'WL_REDIS_UNREACHABLE',
      `Redis at ${shown} cannot be used: it is a replica of ${master.host}:${master.port}, and takes no writes. ${wayOut(`Name the master in ${setting}, or the Sentinels that know who it is: redis+sentinel://host:26379,host:26379/name`)}`,
    )
    this.master = master
  }
}
