import { silentLogger } from '@webloom/core'
import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { tellHang } from './tell-hang.ts'

test('BullMQ is said to hang where Redis takes writes, and not where all others wait for it, too', async () => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  // Its answer has a second, connection included.
  await redis.ping()
  const lines: string[] = []
  const warn = (_fields: object | string, text?: string) => void lines.push(text ?? '')
  const keys = { queueName: '{a}', bullPrefix: 'webloom' }
  const told = () => tellHang({ redis, keys, logger: { ...silentLogger, warn } }, new Error('late'), 'hangs')
  await told()
  expect(lines).toEqual(['hangs'])
  await server.command('CLIENT', 'PAUSE', '60000', 'WRITE')
  await told()
  expect(lines).toEqual(['hangs'])
  await server.command('CLIENT', 'UNPAUSE')
  redis.disconnect()
})
