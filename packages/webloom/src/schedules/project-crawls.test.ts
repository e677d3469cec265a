import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keyPrefixesOf, type Logger, Settings, silentLogger } from '@webloom/core'
import { beginRun, CrawlSchedules, crawlRedisKeys, noteCrawl } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import { InUse, type RedisServer, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import type { LoadedConfig } from '../loading/config.ts'
import { RedisServers } from '../redis/redis-servers.ts'
import { ProjectCrawls, type ProjectCrawlsOptions } from './project-crawls.ts'
import type { SchedulePlace } from './schedule-places.ts'
import { tryWorker } from './try-worker.ts'

const tries: ProjectCrawlsOptions['tries'] = ({ Class }, _flags, { base }) => tryWorker(Class, base)

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

const SENT_AT_ONCE = `const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1')
socket.end(process.argv[2] + '\\r\\n').resume()`

/** Sends a command to a server before anything else happens in this process. */
function atOnce({ port }: RedisServer, command: string): void {
  spawnSync(process.execPath, ['-e', SENT_AT_ONCE, String(port), command])
}

/** A project whose spider has a run that is due: what is called when its spider is made for it, and at each line of the log. */
async function dueOf(
  used: InUse,
  server: RedisServer,
  {
    onSpider = () => {},
    onLine = () => {},
    set = [],
    settings: own = {},
    tried = tries,
  }: {
    onSpider?: () => void
    onLine?: (line: string) => void
    set?: readonly string[]
    settings?: LoadedConfig['settings']
    tried?: ProjectCrawlsOptions['tries']
  },
) {
  const lines: string[] = []
  const fields: unknown[] = []
  const log = (first: object | string, text = '') => {
    fields.push(first)
    const line = typeof first === 'string' ? first : text
    lines.push(line)
    onLine(line)
  }
  const logger: Logger = { debug() {}, info: log, warn: log, error: log, child: () => logger }
  class Due extends Spider {
    override name = 'due'
    by?: string
    constructor(args: Readonly<Record<string, string>> = {}) {
      super(args)
      if (args.by === 'schedule') onSpider()
    }
    override async *parse() {}
  }
  const settings = Settings.fromLayers({ command: { REDIS_URL: server.url } })
  const servers = new RedisServers(settings, silentLogger)
  used.use({ [Symbol.asyncDispose]: async () => servers.close() })
  await servers.open({ forWriting: true })
  const redis = servers.connection('queue')!
  const prefixes = keyPrefixesOf(settings)
  const schedules = new CrawlSchedules(redis, prefixes)
  const schedule = { name: 'daily', spider: 'due', crawlId: null, cron: '0 6 * * *', tz: 'UTC' }
  await schedules.set({
    ...schedule,
    flags: { argument: ['by=schedule'], set: [`REDIS_URL=${server.url}`, ...set] },
  })
  await schedules.runNow('daily')
  const place: SchedulePlace = {
    ...{ servers, redis, prefixes, shown: server.url, spiders: [{ name: 'due', Class: Due }] },
    anew: () => place,
  }
  const config = { path: '/srv/webloom.config.ts', folder: '/srv', spiders: [], settings: own }
  const crawls = new ProjectCrawls({
    flags: {},
    config,
    logger,
    tries: tried,
    othersJoinMs: 0,
    toldAgainMs: 10,
  })
  used.use({ [Symbol.asyncDispose]: () => crawls.close() })
  await crawls.add(place)
  /** The same in a process that comes later. */
  const anew = async () => {
    const later = new ProjectCrawls({ flags: {}, config, logger, tries: tried, toldAgainMs: 10 })
    used.use({ [Symbol.asyncDispose]: () => later.close() })
    await later.add(place)
    return later
  }
  const lastFire = async () => (await schedules.all())[0]!.last
  const lookedUntil = (says: string) =>
    vi.waitFor(async () => {
      await crawls.look()
      expect(lines.join('\n')).toContain(says)
    }, 20_000)
  return {
    crawls,
    schedules,
    anew,
    lines,
    fields,
    lastFire,
    lookedUntil,
    redis,
    keys: crawlRedisKeys({ spider: 'due', crawlId: null, ...prefixes }),
  }
}

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

/** A webhook that refuses the first texts for now; the text that it takes, and all that it was sent. */
async function startWebhook(used: InUse, refused = 0) {
  const { promise: told, resolve } = Promise.withResolvers<string>()
  const sent: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    response.statusCode = sent.push(text) > refused ? 200 : 500
    response.end('ok')
    if (response.statusCode === 200) resolve(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  used.use({ [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() })
  return { told, sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('a run that has begun and is refused by its worker is ended when no other worker joins it, and people are told', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const hook = await startWebhook(used)
  const { crawls, lastFire, lookedUntil, redis, keys } = await dueOf(used, server, {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
  })
  await lookedUntil('begun by its schedule')
  const [wanted] = await crawls.look()
  // A worker of another machine is there: it may go on with the run.
  const other = { at: Date.now(), host: 'other', pid: 1 }
  await redis.hset(keys.workers, 'other:1:a', JSON.stringify(other))
  crawls.refused(wanted!, 'the page of this machine')
  expect(await crawls.look()).toHaveLength(1)
  await redis.del(keys.workers)
  crawls.refused(wanted!, 'RECRAWL is off')
  await lookedUntil('is ended, as its worker refuses it')
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why: 'RECRAWL is off' })
  expect(await redis.hmget(keys.record, 'state', 'finishReason')).toEqual(['stopped', 'refused'])
  expect(await crawls.look()).toEqual([])
  expect(JSON.parse(await hook.told).alerts[0].words).toMatch(
    /^a run that the schedule daily began, or was to begin, cannot be: RECRAWL is off$/,
  )
})

test('a run that could not be begun is told until the receiver takes it, with one id, also by another process than the one that noted it', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const hook = await startWebhook(used, 2)
  const { anew, lookedUntil, schedules } = await dueOf(used, server, {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
    set: ['EXTENSIONS={"./gone.ts#Gone":500}'],
  })
  await lookedUntil('another try follows')
  expect((await schedules.all())[0]!.untold).toMatchObject([{ schedule: 'daily' }])
  const later = await anew()
  await vi.waitFor(async () => {
    await later.look()
    expect(hook.sent).toHaveLength(3)
  }, 10_000)
  expect(new Set(hook.sent.map((text) => JSON.parse(text).id)).size).toBe(1)
  await vi.waitFor(async () => expect((await schedules.all())[0]!.untold).toBeUndefined())
})

test('what a component throws as it is made has no secret in the log, in its schedule and in what people are told', async () => {
  await using used = new InUse()
  const hook = await startWebhook(used)
  const why =
    'no postgres://bob:hush1@db.example/shop?password=hush2 with token=hush3 and Authorization: Bearer hush4x, as '
  const { fields, lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
    set: ['CRAWL_ID=piped'],
    onSpider: () => {
      throw new Error(why + 'x'.repeat(1000))
    },
  })
  await lookedUntil(NOT_BEGUN)
  const told = await hook.told
  const seen = [told, JSON.stringify(fields), (await lastFire())!.why!]
  for (const text of seen) expect(text).toContain('postgres://***@db.example/shop?password=***')
  for (const text of seen) expect(text).not.toMatch(/hush|bob/)
  expect(JSON.parse(told).alerts[0].words).toHaveLength(500)
  expect(JSON.parse(told).text).toMatch(
    /^[^ ]+: a scheduled run cannot be\n• a run that the schedule \S+ began/,
  )
})

test('a worker’s refusal is told without its secrets', async () => {
  await using used = new InUse()
  const { crawls, fields, lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), {})
  await lookedUntil('begun by its schedule')
  const [wanted] = await crawls.look()
  crawls.refused(wanted!, 'no postgres://bob:hush1@db.example/shop, token=hush3')
  await lookedUntil('is ended, as its worker refuses it')
  const why = 'no postgres://***@db.example/shop, token=***'
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why })
  expect(fields).toContainEqual({ schedule: 'daily', reason: why })
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
