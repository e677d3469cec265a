/** The one place where options become a connection: of the crawl's own, and of the thread that keeps locks. */

import type { RedisClient, RedisOptions } from './redis-options.ts'
import type { RedisTls } from './redis-params.ts'

type IORedis = typeof import('ioredis')

/** How a connection behaves, with ioredis's names. */
export interface ClientBehaviour {
  readonly lazyConnect?: boolean
  readonly maxRetriesPerRequest?: number | null
  readonly maxLoadingRetryTime?: number
  readonly commandTimeout?: number
  /** Null: a connection that is lost stays lost. */
  readonly retryStrategy?: ((attempt: number) => number) | null
  readonly reconnectOnError?: (error: Error) => boolean | 1 | 2
}

/** @param ioredis the module, which is loaded by those alone that have a Redis */
export function newRedisClient(
  { Redis }: Pick<IORedis, 'Redis'>,
  options: RedisOptions,
  behaviour: ClientBehaviour,
): RedisClient {
  const { tls, sentinels, sentinelTLS, nodes: _, ...plain } = options
  return new Redis({
    ...plain,
    ...(tls && { tls: tlsOptions(tls) }),
    ...(sentinels && {
      sentinels: [...sentinels],
      // A Sentinel that hangs must not keep us from the next one.
      sentinelCommandTimeout: options.connectTimeout ?? 0,
      ...(tls && { enableTLSForSentinelMode: true }),
      ...(sentinelTLS && { sentinelTLS: tlsOptions(sentinelTLS) }),
    }),
    ...behaviour,
  })
}

/** Options are sent to threads and compared as JSON, so they have no functions. */
function tlsOptions({ checkHostname, ...tls }: RedisTls): Record<string, unknown> {
  return { ...tls, ...(checkHostname === false && { checkServerIdentity: () => undefined }) }
}
