import { keyPrefixesOf, Settings, silentLogger } from '@webloom/core'
import { beginRun, crawlRedisKeys, noteCrawl } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import { InUse, type RedisServer, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { atOnce, dueOf, tries } from '../../testing/due-run.ts'
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
  const crawls = new ProjectCrawls({ flags: {}, config, logger: silentLogger, tries })
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

const NOT_BEGUN = 'a run of due was due, and could not be begun'

test('a Redis that is full when a run has just begun does not make it one that could not be begun', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const { crawls, lines, lastFire, lookedUntil } = await dueOf(used, server, {
    onLine: (line) => line.startsWith('begun by its schedule') && atOnce(server, 'CONFIG SET maxmemory 1'),
  })
  await lookedUntil('cannot be told now')
  await server.command('CONFIG', 'SET', 'maxmemory', '0')
  await lookedUntil('can be told again')
  expect(lines).not.toContain(NOT_BEGUN)
  expect((await crawls.look()).map(({ spider }) => spider)).toEqual(['due'])
  expect((await lastFire())?.outcome).not.toBe('failed')
})

test('a Redis that refuses writes when a run is about to begin does not take it from its schedule', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const { lines, lastFire, lookedUntil } = await dueOf(used, server, {
    // As while a fail-over is under way: a master that has lost its replicas takes no writes.
    onSpider: () => atOnce(server, 'CONFIG SET min-replicas-to-write 1'),
  })
  await lookedUntil('cannot be told now')
  await server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  await lookedUntil('can be told again')
  expect(lines).not.toContain(NOT_BEGUN)
  expect(await lastFire()).toBe(undefined)
})

test.each<[string, readonly string[], string]>([
  [
    'a webhook that is no address',
    ['MONITORS={"maxMinutes":1}', 'MONITOR_WEBHOOKS=nowhere'],
    'MONITOR_WEBHOOKS[0]',
  ],
  ['a component that is not there', ['EXTENSIONS={"./gone.ts#Gone":500}'], 'gone.ts'],
  ['a queue that keeps no visits', ['RECRAWL=fixed', 'QUEUE_MODE=job'], 'QUEUE_MODE=job keeps no visits'],
])('a run that its workers would refuse is not begun, and its schedule says why: %s', async (_, set, why) => {
  await using used = new InUse()
  const { crawls, lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), { set })
  await lookedUntil(NOT_BEGUN)
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why: expect.stringContaining(why) })
  expect(await crawls.look()).toEqual([])
})

test('a run that its worker has joined, and left as it refuses it, is a failed one, too', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const { crawls, lastFire, lookedUntil, redis, keys } = await dueOf(used, server, {})
  await lookedUntil('begun by its schedule')
  const [wanted] = await crawls.look()
  await redis.hset(keys.record, 'state', 'stopped', 'finishReason', 'not_opened')
  crawls.refused(wanted!, 'RECRAWL is off')
  await lookedUntil('is ended, as its worker refuses it')
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why: 'RECRAWL is off' })
  expect(await redis.hmget(keys.record, 'state', 'finishReason')).toEqual(['stopped', 'refused'])
})

test('a worker that takes long to be tried holds up no crawl of its spider that goes on', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const trial = Promise.withResolvers<void>()
  const { crawls, redis, keys, lastFire, lookedUntil } = await dueOf(used, server, {
    tried: () => trial.promise,
  })
  await crawls.look()
  const by = { redis, keys, fire: 'hand', schedule: 'other', flags: {} }
  await beginRun({ ...by, persists: false, flushes: false, shards: 1 })
  await vi.waitFor(async () => expect(await crawls.look()).toHaveLength(1), 20_000)
  trial.reject(new Error('the database is away'))
  await lookedUntil(NOT_BEGUN)
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why: 'the database is away' })
})

test('a run is served that was begun by a process killed behind that, though its schedule is gone before a worker has joined it', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const { schedules, anew, lookedUntil } = await dueOf(used, server, { set: ['CRAWL_ID=news'] })
  await lookedUntil('begun by its schedule')
  await schedules.remove('daily')
  const wanted = await (await anew()).look()
  expect(wanted.map(({ flags }) => flags.set)).toEqual([expect.arrayContaining(['CRAWL_ID=news'])])
})

test('a spider is not made with the arguments of a schedule before a trial has outlived them', async () => {
  await using used = new InUse()
  let made = 0
  const { lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), {
    onSpider: () => {
      made++
    },
    tried: async () => {
      throw new Error('its constructor loops for ever')
    },
  })
  await lookedUntil(NOT_BEGUN)
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why: 'its constructor loops for ever' })
  expect(made).toBe(0)
})
