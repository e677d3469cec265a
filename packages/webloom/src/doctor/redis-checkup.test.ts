import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Settings, type WrittenSettings } from '@webloom/core'
import { MachineLag, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { aclLine } from '../redis/redis-rights.ts'
import { checkRedisServers } from './redis-checkup.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis({ appendonly: 'everysec', maxmemory: '64mb' })
})
afterAll(() => redis.stop())
afterEach(() => vi.useRealTimers())

const look = (command: WrittenSettings, spider?: string) =>
  checkRedisServers(Settings.fromLayers({ command }), spider)
const lookAs = (user: string, spider?: string) =>
  look({ REDIS_URL: redis.url.replace('://', `://${user}:planted@`) }, spider)
const wrong = (results: Awaited<ReturnType<typeof look>>) =>
  results.filter(({ state }) => state === 'warn' || state === 'fail')

/** The line to type, without redis-cli and its options, and as the shell hands it over. */
async function typeAtRedis(line: string): Promise<void> {
  const words = line
    .replace(/^redis-cli .*?(?= [A-Z])/, '')
    .trim()
    .split(' ')
    .map((word) => word.replace(/^'(.*)'$/, '$1').replace('<password>', 'planted'))
  expect(await redis.command(...words)).toBe('OK')
}

test('a Redis as it should be: its roles, version, memory and distance', async () => {
  expect(await look({ REDIS_URL: redis.url })).toEqual([
    {
      check: 'Redis',
      state: 'ok',
      found: expect.stringMatching(
        /^redis:\S+ \(queue, dupefilter, seeds, items\): version \d+\.\d+.*, .* of 64\.0 MiB used, [\d.]+ ms away$/,
      ),
    },
  ])
})

test('without Redis nothing is wrong', async () => {
  expect(wrong(await look({}))).toEqual([])
})

test.each([
  ['maxmemory-policy', 'allkeys-lru', 'Redis policy', 'fail'],
  ['appendonly', 'no', 'Redis on disk', 'warn'],
])('%s %s is found, and the line to type mends it', async (name, value, check, state) => {
  await redis.command('CONFIG', 'SET', name, value)
  const [found, ...more] = wrong(await look({ REDIS_URL: redis.url }))
  expect(found).toMatchObject({ check, state, type: expect.stringContaining(`CONFIG SET ${name}`) })
  expect(more).toEqual([])
  await typeAtRedis(found!.type!)
  expect(wrong(await look({ REDIS_URL: redis.url }))).toEqual([])
})

test('one that is nearly full', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory', '1100kb')
  const found = wrong(await look({ REDIS_URL: redis.url }))
  await redis.command('CONFIG', 'SET', 'maxmemory', '64mb')
  expect(found).toMatchObject([{ check: 'Redis memory', state: 'warn' }])
})

test('one that is full: the line to type gives it more than is used', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory', '200kb')
  const [found, ...more] = wrong(await look({ REDIS_URL: redis.url }))
  expect(found).toMatchObject({
    check: 'Redis memory',
    state: 'fail',
    found: expect.stringContaining('takes no writes'),
  })
  expect(more).toEqual([])
  await typeAtRedis(found!.type!)
  expect(wrong(await look({ REDIS_URL: redis.url }))).toEqual([])
  await redis.command('CONFIG', 'SET', 'maxmemory', '64mb')
})

test('one with too few connections for a worker', async () => {
  await redis.command('CONFIG', 'SET', 'maxclients', '3')
  const [found] = wrong(await look({ REDIS_URL: redis.url }))
  expect(found).toMatchObject({
    check: 'Redis connections',
    state: 'warn',
    found: expect.stringMatching(/takes \d more connections \(maxclients\), and another worker needs 4/),
  })
  await typeAtRedis(found!.type!)
  expect(wrong(await look({ REDIS_URL: redis.url }))).toEqual([])
})

test('a clock that is another', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  const [found] = wrong(await look({ REDIS_URL: redis.url }))
  expect(found).toMatchObject({
    check: 'Redis clock',
    found: expect.stringMatching(/6\d s behind this machine/),
  })
})

describe('one that cannot be used', () => {
  test('as nobody listens: told at once', async () => {
    using lag = new MachineLag()
    const startedAt = performance.now()
    expect(await look({ REDIS_URL: 'redis://127.0.0.1:9' })).toMatchObject([
      {
        state: 'fail',
        found: expect.stringMatching(/^redis:\/\/127\.0\.0\.1:9\/0 .* does not answer: .*ECONNREFUSED/),
        type: expect.stringMatching(/^docker run .*-p 9:6379/),
      },
    ])
    expect(performance.now() - startedAt).toBeLessThan(2500 + lag.ms)
  })

  test('as something else answers there: it is told what, and not to start a Redis on the port', async () => {
    await using site = await startFakeWeb({ seed: 1 })
    const [found] = await look({ REDIS_URL: site.seeds[0]!.replace(/^http(:\/\/[^/]+).*/, 'redis$1') })
    expect(found).toMatchObject({
      state: 'fail',
      found: expect.stringMatching(
        /redis:\/\/127\.0\.0\.1:\d+.* does not answer as a Redis does: what listens there is no Redis, as .*web server.*$/,
      ),
      type: expect.stringMatching(/^webloom settings --explain REDIS_URL/),
    })
  })

  test('as it ends each connection: TLS is named', async () => {
    await using ending = createServer((socket) => socket.resetAndDestroy()).listen(0, '127.0.0.1')
    await once(ending, 'listening')
    const { port } = ending.address() as AddressInfo
    expect(await look({ REDIS_URL: `redis://127.0.0.1:${port}` })).toMatchObject([
      {
        state: 'fail',
        found: expect.stringMatching(/ECONNRESET.*; if it speaks TLS alone, write rediss:\/\/$/),
      },
    ])
  })

  test('as it takes connections and says nothing: TLS is named, and no Redis is to be started on its port', async () => {
    await using hanging = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
    await once(hanging, 'listening')
    const { port } = hanging.address() as AddressInfo
    const answers = await Promise.all(
      [redis.url.replace('redis:', 'rediss:'), `redis://127.0.0.1:${port}`].map((REDIS_URL) =>
        checkRedisServers(Settings.fromLayers({ command: { REDIS_URL } }), undefined, 500),
      ),
    )
    const silent = / takes connections, and has answered nothing within 0\.5 s: .*then write /
    expect(answers.flat()).toMatchObject([
      { found: expect.stringMatching(silent), type: `redis-cli -h 127.0.0.1 -p ${redis.port} --tls PING` },
      { found: expect.stringMatching(silent), type: expect.stringMatching(/^redis-cli .* PING$/) },
    ])
  })

  test('as it is a replica: the line to type names its master', async () => {
    await using replica = await startRedis({ config: { replicaof: `127.0.0.1 ${redis.port}` } })
    expect(await look({ REDIS_URL: replica.url })).toMatchObject([
      {
        state: 'fail',
        found: expect.stringMatching(
          /it is a replica of 127\.0\.0\.1:\d+, and takes no writes.* \(queue, dupefilter, seeds, items\)$/,
        ),
        type: `export REDIS_URL='redis://user:password@127.0.0.1:${redis.port}/0'`,
      },
    ])
  })

  test('as the password is wrong; each server has its own result', async () => {
    const bad = redis.url.replace('://', '://nobody:planted@')
    const results = await look({
      REDIS_URL: redis.url,
      SEEDS_REDIS_URL: bad,
      ITEMS_REDIS_URL: `${redis.url}/99`,
    })
    expect(wrong(results)).toMatchObject([
      {
        found: expect.stringMatching(/that SEEDS_REDIS_URL gives .*WRONGPASS/),
        type: expect.stringMatching(/^export SEEDS_REDIS_URL='redis:\/\/user:password@127/),
      },
      { found: expect.stringMatching(/database 99/), type: 'webloom settings --explain ITEMS_REDIS_URL' },
    ])
    expect(results[0]).toMatchObject({ state: 'ok', found: expect.stringContaining('(queue, dupefilter)') })
    expect(JSON.stringify(results)).not.toContain('planted')
  })
})

describe('rights', () => {
  beforeAll(async () => {
    const line = aclLine(['queue', 'dupefilter', 'seeds', 'items'], { spider: 'pages' })
    await redis.command(...line.replace('<user>', 'loom').replace('<password>', 'planted').split(' '))
  })

  test('whoever has those of docs/deploy.md lacks none', async () => {
    expect(wrong(await lookAs('loom', 'pages'))).toEqual([])
    expect(wrong(await lookAs('loom'))).toEqual([])
  })

  test('what is missing is named before a crawl needs it, and the line to type gives it', async () => {
    await redis.command('ACL', 'SETUSER', 'loom', '-hset', '-pubsub|numsub')
    const [found] = wrong(await lookAs('loom', 'pages'))
    expect(found).toMatchObject({
      check: 'Redis rights',
      state: 'warn',
      found: expect.stringMatching(/no right to hset, pubsub numsub;/),
    })
    await typeAtRedis(found!.type!)
    expect(wrong(await lookAs('loom', 'pages'))).toEqual([])
  })

  test('those of another spider’s keys are none', async () => {
    const [found] = wrong(await lookAs('loom', 'books'))
    expect(found?.found).toMatch(/no right to .*type webloom:\{books\}:doctor/)
  })

  test('without EVAL there is no crawl', async () => {
    await redis.command('ACL', 'SETUSER', 'loom', '-eval')
    const [found] = wrong(await lookAs('loom', 'pages'))
    expect(found).toMatchObject({
      check: 'Redis',
      state: 'fail',
      found: expect.stringMatching(/EVAL.*: the user has no right to that command, key or channel$/),
    })
    await typeAtRedis(found!.type!)
    expect(wrong(await lookAs('loom', 'pages'))).toEqual([])
  })
})
