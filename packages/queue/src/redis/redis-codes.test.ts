import { RedisScript, storeTrouble } from '@webloom/core'
import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'

const write = new RedisScript("return redis.call('SET', KEYS[1], ARGV[1])")

test('a script says by a code that Redis is full, or may not be written to for now, and keeps what Redis said', async () => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  redis.on('error', () => {})
  const refused = () => write.run(redis, ['key'], ['text']).catch((error: unknown) => error)
  try {
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    const full = await refused()
    expect(full).toMatchObject({ code: 'WL_REDIS_FULL', cause: { name: 'ReplyError' } })
    expect(storeTrouble(full)).toBe('full')
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    // As after a fail-over: what was the master is a replica now. No server listens on port 1.
    await server.command('REPLICAOF', '127.0.0.1', '1')
    const away = await refused()
    expect(away).toMatchObject({ code: 'WL_REDIS_AWAY', cause: { name: 'ReplyError' } })
    expect(storeTrouble(away)).toBe('passing')
    await server.command('REPLICAOF', 'NO', 'ONE')
    expect(await refused()).toBe('OK')
  } finally {
    redis.disconnect()
  }
})

test('what no waiting cures stays the error that it is', async () => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  try {
    await redis.lpush('key', 'entry')
    const failed = await new RedisScript("return redis.call('GET', KEYS[1])")
      .run(redis, ['key'], [])
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({ name: 'ReplyError' })
    expect(storeTrouble(failed)).toBe(undefined)
  } finally {
    redis.disconnect()
  }
})
