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

test('what would change the shared connection for others is refused by name, in each way to send it', async () => {
  const own = new Redis(server.url, { lazyConnect: true })
  const { client } = new SharedClient(own, 0)
  const refused: readonly (readonly [sent: Promise<unknown>, told: string])[] = [
    [client.xread('BLOCK', 0, 'STREAMS', 'a', '$'), 'XREAD with BLOCK may wait for ever'],
    [client.xread('COUNT', 1, 'BLOCK', 0, 'STREAMS', 'a', '$'), 'XREAD with BLOCK may wait for ever'],
    [
      client.xreadgroup('GROUP', 'block', 'streams', 'BLOCK', 0, 'STREAMS', 'a', '>'),
      'XREADGROUP with BLOCK may wait for ever',
    ],
    [client.wait(1, 0), 'WAIT may wait for ever'],
    [client.call('WAITAOF', 0, 1, 0), 'WAITAOF may wait for ever'],
    [client.bzmpop(0, 1, 'a', 'MIN'), 'BZMPOP may wait for ever'],
    [client.call(Buffer.from('BLPOP') as never, 'a', 0), 'BLPOP may wait for ever'],
    [client.subscribe('a'), 'SUBSCRIBE leaves the connection to one listener'],
    [client.call('MONITOR'), 'MONITOR leaves the connection to one listener'],
    [client.watch('a'), 'WATCH makes transactions of others fail'],
    [client.multi({ pipeline: false }), 'MULTI takes the commands of others'],
    [client.client('PAUSE', 1000), 'CLIENT PAUSE holds up all clients'],
    [client.call('CLIENT', Buffer.from('reply'), 'OFF'), 'CLIENT REPLY takes the answers of others away'],
    [client.call('CLIENT', 'KILL', 'TYPE', 'normal'), 'CLIENT KILL ends connections'],
    [client.shutdown(), 'SHUTDOWN ends Redis'],
  ]
  try {
    for (const [sent, told] of refused) {
      await expect(sent, told).rejects.toThrow(told)
      await expect(sent, told).rejects.toThrow("const own = crawler.redis('queue').duplicate()")
    }
    expect(await client.xread('STREAMS', 'block', '0')).toBeNull()
    expect(await client.client('ID')).toBeGreaterThan(0)
  } finally {
    own.disconnect()
  }
})

test('duplicates end with the crawl, and what they wait for rejects', async () => {
  const own = new Redis(server.url, { lazyConnect: true })
  const shared = new SharedClient(own, 0)
  try {
    const another = shared.client.duplicate()
    const ofAnother = another.duplicate()
    const waiting = [another.blpop('nothing', 0), ofAnother.blpop('nothing', 0)]
    const rejected = Promise.allSettled(waiting)
    shared.close()
    expect(await rejected).toMatchObject([
      { status: 'rejected', reason: { message: 'Connection is closed.' } },
      { status: 'rejected', reason: { message: 'Connection is closed.' } },
    ])
    expect([another.status, ofAnother.status]).toEqual(['end', 'end'])
    expect(() => shared.client.duplicate()).toThrow('the crawl has ended')
    expect(await own.ping(), 'the connection itself is not ended here').toBe('PONG')
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
