/** Desks of several Redis servers, of which one is away or hangs. */

import { CrawlSchedules, crawlRedisKeys, noteCrawl } from '@webloom/queue'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { deskServers } from '../redis/desk-servers.ts'
import { RegistryDesks } from './registry-desks.ts'

const WITHIN = { interval: 50 }

async function noted(server: RedisServer, spider: string, format = '2'): Promise<void> {
  const redis = new Redis(server.url)
  await noteCrawl(redis, { spider, crawlId: null, statsKey: `${spider}:stats`, release: '1.0.0' })
  await redis.hset(crawlRedisKeys({ spider, crawlId: null }).record, { state: 'running', format })
  redis.disconnect()
}

function desksOf(...servers: RedisServer[]) {
  const desks = new RegistryDesks(deskServers({ redis: servers.map(({ url }) => url) }, undefined))
  return { desks, [Symbol.asyncDispose]: () => desks.close() }
}

test.concurrent('a server that was never there stands in the list itself, and takes no crawl of others with it', async () => {
  await using near = await startRedis()
  await using far = await startRedis()
  await noted(near, 'near')
  await noted(far, 'far')
  await far.kill()
  await using at = desksOf(near, far)
  const shown = `redis://127.0.0.1:${far.port}/0`
  expect(await at.desks.crawls()).toMatchObject([
    { id: 'near', state: 'running' },
    { id: shown, spider: '', state: null, trouble: expect.stringContaining(shown) },
  ])
  expect(await at.desks.desk('near')).toMatchObject({ spider: 'near' })
  // It may be there.
  await expect(at.desks.desk('far:2')).rejects.toThrow(shown)
  await far.restart()
  await noted(far, 'far')
  await vi.waitFor(
    async () => expect((await at.desks.crawls()).map(({ id }) => id)).toEqual(['far:2', 'near']),
    WITHIN,
  )
  expect(await at.desks.desk('none')).toBeUndefined()
})

test.concurrent('a crawl of another release stands in the list with what it needs, and without figures', async () => {
  await using server = await startRedis()
  await noted(server, 'newer', '9')
  await using at = desksOf(server)
  const trouble = expect.stringContaining('begun by a newer release')
  expect(await at.desks.crawls()).toMatchObject([{ id: 'newer', state: null, trouble }])
  const desk = (await at.desks.desk('newer'))!
  const asked = [
    desk.failures!(),
    desk.hosts!(),
    desk.host!('a.test'),
    desk.setHost!('a.test', { delayMs: 9 }),
  ]
  for (const { status, reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[])
    expect([status, String(reason)]).toEqual([
      'rejected',
      expect.stringContaining('begun by a newer release'),
    ])
})

test.concurrent('scheduled runs of all servers that answer, also of a crawl that has never begun', async () => {
  await using near = await startRedis()
  await using far = await startRedis()
  for (const [server, spider] of [
    [near, 'near'],
    [far, 'far'],
  ] as const) {
    const redis = new Redis(server.url)
    const schedule = { spider, crawlId: 'news', cron: '0 6 * * *', tz: 'UTC', flags: {} }
    await new CrawlSchedules(redis, {}).set({ name: spider, ...schedule })
    redis.disconnect()
  }
  await using at = desksOf(near, far)
  const counts = { begun: 0, resumed: 0, going: 0, failed: 0 }
  const ofNear = { id: 'near@news', counts }
  await at.desks.crawls()
  expect(await at.desks.scheduledRuns()).toEqual([ofNear, { id: 'far@news:2', counts }])
  await far.kill()
  expect(await at.desks.scheduledRuns()).toEqual([ofNear])
})

test.concurrent('what waits for a Redis that is away, or hangs, is refused within seconds', async () => {
  await using server = await startRedis()
  await noted(server, 'near')
  await using at = desksOf(server)
  const desk = (await at.desks.desk('near'))!
  expect(await desk.retryFailed!({})).toEqual({ queued: 0, unreadable: 0 })
  const refused = async () => {
    const asked = [desk.status(), desk.failures!(), desk.retryFailed!({}), desk.dropFailed!({})]
    for (const { status, reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[])
      expect([status, String(reason)]).toEqual(['rejected', expect.stringContaining(`${server.port}`)])
  }
  await server.pause()
  await refused()
  await server.resume()
  await vi.waitFor(() => desk.status(), WITHIN)
  await server.kill()
  await refused()
})
