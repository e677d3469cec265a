/** The one place where options become a connection: of the crawl's own, and of the thread that keeps locks. */

import type { Socket } from 'node:net'
import type { Redis } from 'ioredis'
import { newClusterClient } from './cluster-client.ts'
import { endEachOnce } from './one-end.ts'
import { quietLogin, waitForLogin } from './quiet-login.ts'
import { quietReadyCheck } from './quiet-ready-check.ts'
import { type ClientBehaviour, namesSpares, type RedisClient, type RedisOptions } from './redis-options.ts'
import type { RedisTls } from './redis-params.ts'
import type { RedisAddress } from './redis-url.ts'
import { dropWhenUnanswered } from './silent-server.ts'

type IORedis = typeof import('ioredis')

/** The Sentinel that leads a fail-over tells of it last: once all replicas follow the new master, which takes seconds. Of two, one does not lead. */
const SENTINELS_HEARD = 2

/** @param ioredis the module, which is loaded by those alone that have a Redis */
export function newRedisClient(
  { Redis, Cluster }: Pick<IORedis, 'Redis' | 'Cluster'>,
  options: RedisOptions,
  { followsSentinels = false, ...behaviour }: ClientBehaviour,
): RedisClient {
  const { tls, sentinels, sentinelTLS, nodes, ...plain } = options
  if (nodes) {
    const { db: _, ...each } = plain
    const ofEach = { ...each, ...behaviour, ...(tls && { tls: tlsOptions(tls) }) }
    return newClusterClient(Cluster, { nodes }, ofEach)
  }
  const client = new Redis({
    ...plain,
    ...(tls && { tls: tlsOptions(tls) }),
    ...(sentinels && {
      sentinels: [...sentinels],
      // A Sentinel that hangs must not keep us from the next one.
      sentinelCommandTimeout: options.connectTimeout ?? 0,
      ...(followsSentinels && { failoverDetector: true, sentinelMaxConnections: SENTINELS_HEARD }),
      ...(tls && { enableTLSForSentinelMode: true }),
      ...(sentinelTLS && { sentinelTLS: tlsOptions(sentinelTLS) }),
    }),
    ...behaviour,
  })
  endEachOnce(client)
  quietReadyCheck(client)
  // ioredis does not ask it of what it sets a connection up with.
  quietLogin(client, (error) => void behaviour.reconnectOnError?.(error))
  waitForLogin(client, (error) => behaviour.reconnectOnError?.(error) === 2)
  if (sentinels) {
    dropWhenUnanswered(client, options.connectTimeout)
    quietSentinels(client, plain.name)
  }
  const duplicate = (more: ClientBehaviour = {}) =>
    newRedisClient({ Redis, Cluster }, options, { ...behaviour, ...more })
  return Object.assign(client, { duplicate })
}

/** As ioredis's client has it; the type keeps it from us. */
interface BySentinels {
  readonly connector: { readonly stream?: Socket; connectToSentinel(...given: unknown[]): Redis }
}

/** A Sentinel that is lost, or does not let itself be listened to, is made up for by others: of its own ioredis writes to stderr, past our log. */
function quietSentinels(client: Redis, name: string | undefined): void {
  const { connector } = client as unknown as BySentinels
  const connect = connector.connectToSentinel.bind(connector)
  connector.connectToSentinel = (...given) => {
    const sentinel = connect(...given)
    sentinel.on('error', () => {})
    quietLogin(sentinel)
    hearOnly(sentinel, name, () => connector.stream?.destroyed === false)
    return sentinel
  }
}

/**
 * Sentinels tell of the fail-overs of all masters that they watch, and ioredis takes each for one of its own. One that it hears of while it asks a
 * Sentinel for the master would end it for good: it does not ask the next one then.
 */
function hearOnly(sentinel: Redis, name: string | undefined, isConnected: () => boolean): void {
  const on = sentinel.on.bind(sentinel) as (event: string, listener: Listener) => Redis
  const ofOurs =
    (listener: Listener): Listener =>
    (channel, text) => {
      if (text.startsWith(`${name} `) && isConnected()) listener(channel, text)
    }
  sentinel.on = ((event: string, listener: Listener) =>
    on(event, event === 'message' ? ofOurs(listener) : listener)) as Redis['on']
}

type Listener = (channel: string, text: string) => void

/** Returns the options as `tls.connect` takes them. Options are sent to threads and compared as JSON, so they have no functions. */
export function tlsOptions({ checkHostname, ...tls }: RedisTls): Record<string, unknown> {
  return { ...tls, ...(checkHostname === false && { checkServerIdentity: () => undefined }) }
}

/** Returns whether another server takes the place of one that is lost. */
export function hasSpares(client: RedisClient): boolean {
  return client.isCluster || namesSpares(client.options)
}

/** Returns where a connection to one server leads; undefined when it is lost. */
export function addressOf(client: RedisClient): RedisAddress | undefined {
  const { stream } = client as unknown as { readonly stream?: Socket }
  const { remoteAddress: host, remotePort: port } = stream ?? {}
  return host === undefined || port === undefined ? undefined : { host, port }
}
