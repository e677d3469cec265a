/** A client that asks Sentinels for its master. */

import { once } from 'node:events'
import { InUse, startSentinels } from '@webloom/testkit'
import { Cluster, Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { newRedisClient } from './redis-client.ts'

/** As ioredis's client has it; the type keeps it from us. */
interface FollowsSentinels {
  readonly connector: { readonly failoverDetector: { readonly sentinels: readonly { client: Redis }[] } }
  readonly stream: { destroy(): void }
}

test('a fail-over that it hears of while it asks a Sentinel that is silent does not end it', async () => {
  await using redis = await startSentinels()
  await using used = new InUse()
  const sentinels = redis.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
  const [asked, told] = redis.sentinels
  const client = newRedisClient(
    { Redis, Cluster },
    { sentinels, name: 'crawls', connectTimeout: 60_000 },
    { followsSentinels: true, maxRetriesPerRequest: null, retryStrategy: () => 1 },
  )
  used.defer(() => client.disconnect())
  client.on('error', () => {})
  await client.set('page', '1')
  const { connector, stream } = client as unknown as FollowsSentinels
  const heard = () =>
    connector.failoverDetector.sentinels.find(({ client: { options } }) => options.port === told!.port)
      ?.client
  await vi.waitFor(() => expect(heard()?.status).toBe('ready'))
  const hears = heard()!
  const news = new Redis(told!.port)
  used.defer(() => news.disconnect())
  await news.subscribe('+switch-master')
  const switched = once(news, 'message')
  asked!.pause()
  stream.destroy()
  await once(client, 'connecting')
  await told!.command('SENTINEL', 'FAILOVER', 'crawls')
  await switched
  // What it was told before this it has heard.
  await hears.ping()
  asked!.resume()
  expect(await client.get('page')).toBe('1')
})
