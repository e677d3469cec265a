import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { refuseWhatStopsOthers } from './shared-client.ts'

test('a blocking command, another database and the end are refused; a duplicate takes them', async () => {
  await using server = await startRedis()
  const client = new Redis(`${server.url}/2`, { lazyConnect: true })
  refuseWhatStopsOthers(client, 2)
  try {
    await expect(client.blpop('nothing', 0)).rejects.toThrow(
      'BLPOP waits for what may never come, and the whole crawl shares this connection. Use redis(role).duplicate()',
    )
    await expect(client.select(5)).rejects.toThrow('SELECT leads to another database')
    await expect(client.quit()).rejects.toThrow('QUIT ends the connection')
    await client.set('a', '1')
    client.disconnect(true)
    expect(await client.get('a'), 'after a reconnect it is in its database again').toBe('1')
    const own = client.duplicate()
    expect(await own.blpop('nothing', 0.01)).toBeNull()
    expect(await own.quit()).toBe('OK')
  } finally {
    client.disconnect()
  }
})
