import { type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SharedClient } from './shared-client.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('a blocking command, another database and the end are refused; a duplicate takes them', async () => {
  const own = new Redis(`${server.url}/2`, { lazyConnect: true })
  const { client } = new SharedClient(own, 2)
  try {
    await expect(client.blpop('nothing', 0)).rejects.toThrow(
      'BLPOP may wait for ever, and the whole crawl shares this connection. Use redis(role).duplicate()',
    )
    await expect(client.select(5)).rejects.toThrow('SELECT leads to another database')
    await expect(client.quit()).rejects.toThrow('QUIT ends the connection')
    await expect(client.call('BLPOP', 'nothing', 0)).rejects.toThrow('BLPOP may wait for ever')
    await expect(client.call('SELECT', 5)).rejects.toThrow('SELECT leads to another database')
    expect(() => client.disconnect()).toThrow('DISCONNECT ends the connection')
    await client.set('a', '1')
    expect(await client.select(2)).toBe('OK')
    own.disconnect(true)
    expect(await client.get('a'), 'after a reconnect it is in its database again').toBe('1')
    expect(await client.multi().incr('a').exec()).toEqual([[null, 2]])
    const another = client.duplicate()
    expect(await another.blpop('nothing', 0.01)).toBeNull()
    expect(await another.quit()).toBe('OK')
  } finally {
    own.disconnect()
  }
})

test('once the crawl closes, what a hanging Redis was asked before and after rejects', async () => {
  await using proxy = await startTcpProxy({ target: server.url })
  const own = new Redis(proxy.url, { maxRetriesPerRequest: null })
  const shared = new SharedClient(own, 0, { silentMsMax: 50 })
  const { client } = shared
  try {
    await client.set('kept', '1')
    proxy.hang()
    const before = client.get('kept')
    shared.hurry()
    await expect(before).rejects.toThrow(
      'Command timed out: the crawl is closing, and Redis has not answered GET in time',
    )
    await expect(client.call('GET', 'kept')).rejects.toThrow('Command timed out')
    const replies = await client.pipeline().get('kept').exec()
    expect(replies?.[0]?.[0]?.message).toContain('Command timed out')
    // The connection is the crawl's own parts', too.
    const patient = own.get('kept')
    proxy.flow()
    expect(await patient).toBe('1')
    expect(await client.get('kept'), 'Redis is back').toBe('1')
  } finally {
    own.disconnect()
  }
})
