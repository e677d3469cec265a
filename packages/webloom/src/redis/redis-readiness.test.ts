/** What keeps a Redis from being used when a crawl begins, by real servers where they can be had. */

import { mkdirSync, rmdirSync } from 'node:fs'
import { redisTargets, Settings, silentLogger } from '@webloom/core'
import { redisHealth } from '@webloom/queue'
import { startCluster, startRedis, tempDir } from '@webloom/testkit'
import type { Cluster } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { RedisLink } from './redis-connection.ts'
import { loadingIn, notReady, oldVersionIn } from './redis-readiness.ts'
import { RedisServers } from './redis-servers.ts'

const settingsOf = (url: string) => Settings.fromLayers({ command: { REDIS_URL: url } })
const linkTo = (url: string, startTimeoutMs: number) =>
  new RedisLink(redisTargets(settingsOf(url), 'queue')[0]!, {
    startTimeoutMs,
    logger: silentLogger,
    roles: ['queue'],
    whose: { spider: 'quotes' },
  })
const doctorOn = async (url: string) =>
  (await checkRedisServers(settingsOf(url), undefined, 1000)).find(({ state }) => state === 'fail')

test.concurrent('one whose disk fails is waited for by a crawl, and then refused with what to do; commands that look are let pass', async () => {
  await using folder = await tempDir('webloom-full-')
  await using redis = await startRedis({ config: { dir: folder.path, save: '3600 1' } })
  // As the disk of a test is not full: where this is, no snapshot can be put.
  const inTheWay = folder.join('dump.rdb')
  mkdirSync(inTheWay)
  await redis.command('BGSAVE')
  await vi.waitFor(() => expect(redis.command('SET', 'a', 1)).rejects.toThrow('MISCONF'))
  const refused = linkTo(redis.url, 1500)
  await expect(refused.open({})).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringMatching(
      /it takes no writes \(MISCONF\): .*rdb_last_bgsave_status:err.*redis-cli BGSAVE; or, .*stop-writes-on-bgsave-error no$/,
    ),
  })
  expect(await doctorOn(redis.url)).toMatchObject({
    check: 'Redis on disk',
    found: expect.stringContaining('could not write its last snapshot'),
    type: `redis-cli -h 127.0.0.1 -p ${redis.port} BGSAVE`,
  })
  const looking = linkTo(redis.url, 5000)
  await looking.open()
  expect((await redisHealth(looking.client)).disk).toContain('Make room')
  const waiting = linkTo(redis.url, 20_000)
  const isOpen = waiting.open({})
  rmdirSync(inTheWay)
  await vi.waitFor(() => redis.command('BGSAVE'))
  await isOpen
  expect((await redisHealth(looking.client)).disk).toBeUndefined()
  await redis.command('CONFIG', 'SET', 'save', '')
  looking.close()
  waiting.close()
})

test.concurrent('one that writes in spite of a failed snapshot is used, and the failure is told', async () => {
  await using folder = await tempDir('webloom-full-')
  const config = { dir: folder.path, save: '3600 1', 'stop-writes-on-bgsave-error': 'no' }
  await using redis = await startRedis({ config })
  mkdirSync(folder.join('dump.rdb'))
  await redis.command('BGSAVE')
  const link = linkTo(redis.url, 5000)
  await link.open({})
  await vi.waitFor(async () =>
    expect((await redisHealth(link.client)).warnings.join()).toContain('rdb_last_bgsave_status:err'),
  )
  await link.open({})
  link.close()
})

test.concurrent('one that is reading its file is waited for, and then told how far it is', async () => {
  await using redis = await startRedis({
    // Microseconds for each key that is read.
    config: {
      save: '3600 1',
      rdbcompression: 'no',
      'key-load-delay': '20000',
      'loading-process-events-interval-bytes': '1024',
    },
  })
  for (let n = 0; n < 400; n++) await redis.command('SET', `key${n}`, 'x'.repeat(100))
  await redis.command('SAVE')
  await redis.kill()
  const isBack = redis.restart()
  await vi.waitFor(() => expect(redis.log).toContain('Loading RDB'))
  await expect(linkTo(redis.url, 1000).open()).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringMatching(/it is still reading its file, \d+ % so far\. Wait, or give it longer/),
  })
  expect((await doctorOn(redis.url))?.found).toContain('it is still reading its file')
  const waiting = linkTo(redis.url, 20_000)
  const isOpen = waiting.open({})
  await redis.command('CONFIG', 'SET', 'key-load-delay', 0)
  await isOpen
  waiting.close()
  await isBack
})

test('one of an earlier version is refused at once, whatever it takes', async () => {
  expect(oldVersionIn('redis_version:6.0.16\r\n')).toMatch(/it is version 6\.0\.16, .*Redis 6\.2 or later/)
  for (const version of ['6.2.0', '7.0.15', '10.1', 'unknown'])
    expect(oldVersionIn(`redis_version:${version}\r\n`)).toBeUndefined()
  expect(oldVersionIn('server_name:another\r\n')).toBeUndefined()
  expect(await notReady(['redis_version:7.0.0\r\n', 'redis_version:5.0.7'], async () => true)).toMatchObject({
    isFinal: true,
  })
  expect(loadingIn('loading:0\r\n')).toBeUndefined()
})

test('a cluster serves while all of its masters answer, and let us in', async () => {
  await using cluster = await startCluster({ password: 'admin' })
  const users = (words: readonly string[], nodes = cluster.nodes) =>
    Promise.all(nodes.map((node) => node.command('ACL', ...words)))
  await users(['SETUSER', 'ready', 'on', '>pw', '~*', '&*', '+@all'])
  const url = cluster.url.replace(/\/\/:[^@]+@/, '//ready:pw@')
  const servers = new RedisServers(Settings.fromLayers({ command: { REDIS_URL: url } }), silentLogger)
  // A look has less than a second, which a busy machine may take.
  const untilServing = (serves: boolean) =>
    vi.waitUntil(async () => ((await servers.silent()) === undefined) === serves, { timeout: 30_000 })
  const client = servers.redis('queue') as unknown as Cluster
  await servers.open({ forWriting: true })
  await untilServing(true)
  const [node] = cluster.nodes
  const connection = client.nodes('master').find(({ options }) => options.port === node!.port)!
  const ended = new Promise((resolve) => connection.once('close', resolve))
  await node!.pause()
  expect(await servers.silent()).toContain('redis+cluster://')
  // The connection is given up, and made anew.
  await ended
  expect(await servers.silent()).toContain('redis+cluster://')
  await node!.resume()
  await untilServing(true)
  await users(['DELUSER', 'ready'], [node!])
  await untilServing(false)
  await users(['SETUSER', 'ready', 'on', '>pw', '~*', '&*', '+@all'], [node!])
  await untilServing(true)
  servers.close()
})
