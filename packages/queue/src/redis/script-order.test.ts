import { setImmediate as immediate } from 'node:timers/promises'
import { RedisScript } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('what is sent over a connection is done in that order, also by a server that knows no script', async () => {
  const ordered = Array.from({ length: 40 }, (_, n) => `${n}`)
  for (let round = 0; round < 20; round++) {
    await server.command('SCRIPT', 'FLUSH')
    const script = new RedisScript("redis.call('RPUSH', KEYS[1], ARGV[1])")
    const redis = new Redis(server.url)
    const done: Promise<unknown>[] = []
    for (const n of ordered) {
      done.push(script.run(redis, [`round:${round}`], [n]))
      await immediate()
    }
    await Promise.all(done)
    redis.disconnect()
    expect(await server.command('LRANGE', `round:${round}`, 0, -1)).toEqual(ordered)
  }
})
