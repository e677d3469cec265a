import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { growBits } from './bit-strings.ts'

test('a filter grows on while its replicas, which grow with it, are late and their master takes nothing', async () => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  try {
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    const growing = growBits(redis, 'bits', 8 * 6 * 2 ** 20)
    const refused = async () =>
      expect(String(await server.command('INFO', 'errorstats'))).toContain('NOREPLICAS')
    await vi.waitFor(refused)
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    await growing
    expect(await redis.strlen('bits')).toBe(6 * 2 ** 20)
  } finally {
    redis.disconnect()
  }
})
