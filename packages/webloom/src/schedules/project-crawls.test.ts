import { keyPrefixesOf, Settings, silentLogger } from '@webloom/core'
import { beginRun, crawlRedisKeys, noteCrawl } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import { InUse, type RedisServer, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { RedisServers } from '../redis/redis-servers.ts'
import { ProjectCrawls } from './project-crawls.ts'
import type { SchedulePlace } from './schedule-places.ts'

const spiderCalled = (called: string) =>
  class extends Spider {
    override name = called
    override async *parse() {}
  }

/** A project of one spider on each of these servers. */
async function project(used: InUse, ...servers: readonly RedisServer[]) {
  const places = servers.map(({ url }, n): SchedulePlace => {
    const settings = Settings.fromLayers({ command: { REDIS_URL: url } })
    const links = new RedisServers(settings, silentLogger)
    used.use({ [Symbol.asyncDispose]: async () => links.close() })
    const spiders = [{ name: `spider${n}`, Class: spiderCalled(`spider${n}`) }]
    const place: SchedulePlace = {
      servers: links,
      redis: links.connection('queue')!,
      prefixes: keyPrefixesOf(settings),
      shown: url,
      spiders,
      anew: () => place,
    }
    return place
  })
  await Promise.all(places.map((place) => place.servers.open({ forWriting: true })))
  const config = { path: '/srv/webloom.config.ts', folder: '/srv', spiders: [], settings: {} }
  const crawls = new ProjectCrawls({ flags: {}, config, logger: silentLogger })
  used.use({ [Symbol.asyncDispose]: () => crawls.close() })
  for (const place of places) await crawls.add(place)
  /** As a schedule does that is due. */
  const begun = async (n: number, crawlId: string | null, fire = 'a') => {
    const { redis, prefixes } = places[n]!
    const name = { spider: `spider${n}`, crawlId, ...prefixes }
    const flags = crawlId === null ? {} : { set: [`CRAWL_ID=${crawlId}`] }
    const run = {
      redis,
      keys: crawlRedisKeys(name),
      fire,
      schedule: 'daily',
      flags,
      persists: false,
      flushes: false,
    }
    await beginRun({ ...run, shards: 1 })
    // So do workers that join it.
    await noteCrawl(redis, { ...name, statsKey: 'stats', release: '1' })
  }
  const wanted = async () => (await crawls.look()).map(({ spider, flags }) => [spider, flags.set ?? []])
  return { begun, wanted }
}

test('a run that its schedule has begun is served though the schedule is gone, whatever its CRAWL_ID', async () => {
  await using used = new InUse()
  const { begun, wanted } = await project(used, used.use(await startRedis()))
  expect(await wanted()).toEqual([])
  await begun(0, null)
  expect(await wanted()).toEqual([['spider0', []]])
  await using other = new InUse()
  const later = await project(other, other.use(await startRedis()))
  await later.begun(0, '2026-11')
  expect(await later.wanted()).toEqual([['spider0', ['CRAWL_ID=2026-11']]])
})

test('a server that hangs holds up the crawls on it alone, and what it said last holds', async () => {
  await using used = new InUse()
  const servers = [used.use(await startRedis()), used.use(await startRedis())]
  const { begun, wanted } = await project(used, ...servers)
  await begun(1, null)
  expect(await wanted()).toEqual([['spider1', []]])
  await servers[1]!.pause()
  await begun(0, null)
  expect(await wanted()).toEqual([
    ['spider0', []],
    ['spider1', []],
  ])
  await servers[1]!.resume()
})
