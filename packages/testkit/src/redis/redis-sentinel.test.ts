import { expect, test } from 'vitest'
import { startSentinels } from '../index.ts'

test('a master that is killed is followed by a replica that has all of it', async () => {
  await using redis = await startSentinels({ downAfterMs: 500, password: 'se:cret', sentinelPassword: 'w' })
  const first = redis.servers[0]!
  expect(await redis.master()).toBe(first)
  await first.command('SET', 'page', '1')
  expect(await first.command('WAIT', '2', '1000')).toBe(2)
  await first.kill()
  const next = await redis.untilWritable(first)
  expect(redis.servers).toContain(next)
  expect(await next.command('GET', 'page')).toBe('1')
})
