import {
  PROTOCOL_TIMES,
  type ProtocolTimes,
  redisTargets,
  Settings,
  silentLogger,
  type WebloomError,
} from '@webloom/core'
import { startRedis, startTcpProxy } from '@webloom/testkit'
import { afterEach, expect, test, vi } from 'vitest'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { RedisLink } from './redis-connection.ts'

const TROUBLE_MS_MAX = 1000

/** What was opened last, closed first. */
const opened: RedisLink[] = []
afterEach(() => {
  for (const link of opened.splice(0)) link.close()
})

function linkTo(url: string, troubleMsMax = TROUBLE_MS_MAX, { isCrawl = true } = {}) {
  const lines: string[] = []
  const tell = (_fields: object | string, text?: string) => void lines.push(text ?? String(_fields))
  const ended = Promise.withResolvers<WebloomError>()
  const times: ProtocolTimes = { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax } }
  const settings = Settings.fromLayers({ command: { REDIS_URL: url } })
  const link = new RedisLink(redisTargets(settings, 'queue')[0]!, {
    startTimeoutMs: TROUBLE_MS_MAX,
    logger: { ...silentLogger, warn: tell, info: tell },
    roles: ['queue'],
    times,
    onHopeless: () => (isCrawl ? ended.resolve : undefined),
  })
  opened.push(link)
  return { link, lines, ended: ended.promise }
}

test('a master that becomes a replica is told with what to write, and after a while the crawl ends', async () => {
  await using other = await startRedis()
  await using redis = await startRedis()
  const warnings: string[] = []
  const warned = ({ name }: Error) => void warnings.push(name)
  process.on('warning', warned)
  const { link, lines, ended } = linkTo(redis.url)
  await link.open()
  await redis.command('REPLICAOF', '127.0.0.1', String(other.port))
  const written = Promise.allSettled(Array.from({ length: 40 }, () => link.client.incr('page')))
  const why = `it is a replica of 127.0.0.1:${other.port}, and takes no writes. Name the master in REDIS_URL, or the Sentinels`
  expect((await ended).message).toContain(why)
  expect(lines.filter((line) => line.includes(why))).toHaveLength(1)
  // Whoever waits hears it.
  expect(new Set((await written).map(({ status }) => status))).toEqual(new Set(['rejected']))
  process.off('warning', warned)
  expect(warnings).not.toContain('MaxListenersExceededWarning')
})

test('one that is made the master again in time is used again, and nothing that was sent is lost', async () => {
  await using other = await startRedis()
  await using redis = await startRedis()
  const { link, lines } = linkTo(redis.url, 60_000)
  await link.open()
  await redis.command('REPLICAOF', '127.0.0.1', String(other.port))
  const written = link.client.rpush('pages', '1')
  await vi.waitFor(() => expect(lines.join()).toContain('it is a replica of'))
  await redis.command('REPLICAOF', 'NO', 'ONE')
  expect(await written).toBeGreaterThan(0)
  await vi.waitFor(() => expect(lines.at(-1)).toBe('Redis is a master again; the crawl goes on'))
})

test.each([
  { how: 'deletes the user, and cuts its connections', locks: [['ACL', 'DELUSER', 'leaver']] },
  {
    how: 'changes the password, and loses one connection that was made of the first',
    locks: [
      ['ACL', 'SETUSER', 'leaver', 'resetpass', '>other'],
      ['CLIENT', 'KILL', 'TYPE', 'pubsub'],
    ],
  },
] as const)('a server that $how ends the crawl at once, and all that waits hears why', async ({ locks }) => {
  await using redis = await startRedis()
  await redis.command('ACL', 'SETUSER', 'leaver', 'on', '>pw', '~*', '&*', '+@all')
  const { link, ended } = linkTo(redis.url.replace('://', '://leaver:pw@'), 60_000)
  await link.open()
  const listening = link.client.duplicate({ lazyConnect: false })
  listening.on('error', () => {})
  await listening.subscribe('news')
  // Redis has it, and answers nothing.
  const underWay = [link.client.duplicate(), link.client].map((client) => {
    client.on('error', () => {})
    return client.blpop('nothing', 0)
  })
  await vi.waitUntil(async () => /blocked_clients:2/.test(String(await redis.command('INFO', 'clients'))))
  for (const words of locks) await redis.command(...words)
  const why =
    /does not let this process in any more: it does not know the user and password that REDIS_URL gives.*WRONGPASS/
  const { message } = await ended
  expect(message).toMatch(why)
  for (const answer of underWay) await expect(answer).rejects.toThrow(message)
  await expect(link.shared.client.get('key')).rejects.toThrow(why)
  await expect(listening.subscribe('more')).rejects.toThrow(why)
})

test('whoever runs no crawl goes on when that server lets it in again', async () => {
  await using redis = await startRedis()
  const user = ['ACL', 'SETUSER', 'leaver', 'on', '>pw', '~*', '&*', '+@all'] as const
  await redis.command(...user)
  const { link } = linkTo(redis.url.replace('://', '://leaver:pw@'), 60_000, { isCrawl: false })
  await link.open()
  const refused = new Promise((resolve) => {
    link.client.on('error', ({ message }) => {
      if (message.includes('does not let this process in any more')) resolve(message)
    })
  })
  await redis.command('ACL', 'DELUSER', 'leaver')
  await refused
  await redis.command(...user)
  await vi.waitFor(async () => expect(await link.client.get('key')).toBe(null))
})

test('a Redis with no connection left says so, and takes the crawl’s when there is room', async () => {
  await using redis = await startRedis()
  const { link, lines } = linkTo(redis.url, 60_000)
  await link.open()
  await redis.command('CONFIG', 'SET', 'maxclients', '1')
  const waiting = link.client.duplicate({ lazyConnect: false })
  waiting.on('error', () => {})
  await vi.waitFor(() =>
    expect(lines).toEqual([
      expect.stringMatching(
        /takes no more connections.*maxclients.*a worker needs four.*CONFIG SET maxclients/,
      ),
    ]),
  )
  // Over the one that it has.
  await link.client.config('SET', 'maxclients', '100')
  await waiting.ping()
  expect(lines.at(-1)).toBe('Redis takes the connections now; the crawl goes on')
  waiting.disconnect()
})

test('where none is left for long, who waits for it gets the reason; and who begins there, too', async () => {
  await using redis = await startRedis()
  const { link, ended } = linkTo(redis.url)
  await link.open()
  await redis.command('CONFIG', 'SET', 'maxclients', '1')
  const waiting = link.client.duplicate({ lazyConnect: false })
  waiting.on('error', () => {})
  const subscribed = waiting.subscribe('news')
  const why = 'it takes no more connections, as it has as many as its maxclients allows'
  await expect(subscribed).rejects.toThrow(why)
  expect((await ended).message).toContain(why)
  const late = linkTo(redis.url)
  await expect(late.link.open()).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringContaining(why),
  })
  const settings = Settings.fromLayers({ command: { REDIS_URL: redis.url } })
  expect(await checkRedisServers(settings, undefined, TROUBLE_MS_MAX)).toMatchObject([
    {
      state: 'fail',
      found: expect.stringContaining(why),
      type: `redis-cli -h 127.0.0.1 -p ${redis.port} CONFIG SET maxclients 10000`,
    },
  ])
})

test('one that was busy until nobody waits for it any more is asked once more why', async () => {
  await using redis = await startRedis()
  await using proxy = await startTcpProxy({ target: redis.url })
  await linkTo(redis.url).link.open()
  await redis.command('CONFIG', 'SET', 'maxclients', '1')
  await redis.pause()
  const opening = linkTo(proxy.url).link.open()
  const refused = expect(opening).rejects.toThrow('it takes no more connections')
  await vi.waitFor(() => expect(proxy.connectionCount).toBe(2), 2 * TROUBLE_MS_MAX)
  await redis.resume()
  await refused
})
