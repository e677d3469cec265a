import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type RedisServer, startRedis, startTcpProxy, type TcpProxy } from '../index.ts'
import { InUse } from '../processes/in-use.ts'
import { askRedis } from '../redis/redis-ask.ts'
import { encodeCommand, parseReply, type RedisReply, RespSplitter } from '../redis/redis-resp.ts'

/** A client that shows what came back and whether the connection was cut, which no real client shows so plainly. */
class Client implements Disposable {
  readonly replies: RedisReply[] = []
  isCut = false
  readonly #socket
  readonly #splitter = new RespSplitter()
  #changed = Promise.withResolvers<void>()

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay()
    this.#socket.on('data', (chunk: Buffer) => {
      for (const whole of this.#splitter.split(chunk)) this.replies.push(parseReply(whole))
      this.#change()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.isCut = true
      this.#change()
    })
  }

  send(...commands: string[][]): this {
    this.#socket.write(Buffer.concat(commands.map(encodeCommand)))
    return this
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  /** Resolves when so many replies have come in all. */
  async receives(count: number): Promise<RedisReply[]> {
    while (this.replies.length < count) {
      if (this.isCut) throw new Error(`cut after ${this.replies.length} of ${count} replies`)
      await this.#changed.promise
    }
    return this.replies
  }

  async cut(): Promise<RedisReply[]> {
    while (!this.isCut) await this.#changed.promise
    return this.replies
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

interface Setup extends AsyncDisposable {
  readonly redis: RedisServer
  readonly proxy: TcpProxy
  client(): Client
}

async function setUp(): Promise<Setup> {
  await using inUse = new InUse()
  const redis = inUse.use(await startRedis())
  const proxy = inUse.use(await startTcpProxy({ target: redis.url }))
  const kept = inUse.move()
  return {
    redis,
    proxy,
    client: () => kept.use(new Client(proxy.port)),
    [Symbol.asyncDispose]: () => kept.close(),
  }
}

test('commands and replies pass, of any size and cut anywhere', async () => {
  await using at = await setUp()
  const client = at.client()
  const long = 'å'.repeat(3_000_000)
  await client.send(['SET', 'long', long], ['GET', 'long'], ['NO']).receives(3)
  expect(client.replies[0]).toBe('OK')
  expect(client.replies[1] === long).toBe(true)
  expect(client.replies[2]).toMatchObject({ message: expect.stringContaining('unknown command') })
  for (const byte of encodeCommand(['INCR', 'a'])) client.write(Buffer.of(byte))
  expect((await client.receives(4))[3]).toBe(1)
})

test('its url is the target’s with another port', async () => {
  await using redis = await startRedis({ password: 'p@ss' })
  await using proxy = await startTcpProxy({ target: redis.url })
  expect(proxy.url).toBe(redis.url.replace(`:${redis.port}`, `:${proxy.port}`))
  expect(await askRedis({ host: '127.0.0.1', port: proxy.port, password: 'p@ss' }, ['PING'])).toBe('PONG')
})

describe('a reply that is cut', () => {
  test('the command has reached Redis, its client sees a broken connection, and the next time it passes', async () => {
    await using at = await setUp()
    const fault = at.proxy.cutReplyOf(([name, key]) => name === 'SADD' && key === 'seen')
    expect(await at.client().send(['sadd', 'seen', 'a']).cut()).toEqual([])
    expect(fault.count).toBe(1)
    expect(await at.redis.command('SMEMBERS', 'seen')).toEqual(['a'])
    // What a client that resends is told: nothing was added.
    expect(await at.client().send(['sadd', 'seen', 'a']).receives(1)).toEqual([0])
    expect(fault.count).toBe(1)
  })

  test('in a pipeline, the replies before it are delivered and none behind it', async () => {
    await using at = await setUp()
    at.proxy.cutReplyOf(([, key]) => key === 'c')
    const long = 'x'.repeat(3_000_000)
    const replies = await at
      .client()
      .send(['SET', 'a', long], ['GET', 'a'], ['SET', 'c', '1'], ['GET', 'a'])
      .cut()
    expect(replies.length).toBe(2)
    expect(replies[1] === long).toBe(true)
    expect(await at.redis.command('GET', 'c')).toBe('1')
  })

  test('as often as asked, on any connection, until cancelled', async () => {
    await using at = await setUp()
    const fault = at.proxy.cutReplyOf(([name]) => name === 'INCR', { times: 3 })
    await at.client().send(['INCR', 'a']).cut()
    await at.client().send(['INCR', 'a']).cut()
    expect(fault.count).toBe(2)
    fault.cancel()
    expect(await at.client().send(['INCR', 'a']).receives(1)).toEqual([3])
  })
})

test('a command that is dropped has not reached Redis, nor what came behind it', async () => {
  await using at = await setUp()
  const fault = at.proxy.dropBefore(([name]) => name === 'INCR')
  const replies = await at.client().send(['SET', 'a', '1'], ['INCR', 'a'], ['SET', 'b', '1']).cut()
  expect(replies).toEqual(['OK'])
  expect(fault.count).toBe(1)
  expect(await at.redis.command('MGET', 'a', 'b')).toEqual(['1', null])
  expect(await at.client().send(['INCR', 'a']).receives(1)).toEqual([2])
})

test('messages of a subscriber pass, and do not count as replies', async () => {
  await using at = await setUp()
  const client = at.client()
  await client.send(['HELLO', '3'], ['SUBSCRIBE', 'pauses'], ['GET', 'a']).receives(3)
  const fault = at.proxy.cutReplyOf(([name]) => name === 'INCR')
  await at.redis.command('PUBLISH', 'pauses', 'all')
  await client.receives(4)
  client.send(['GET', 'a'], ['INCR', 'a'])
  expect(await client.cut()).toHaveLength(5)
  expect(fault.count).toBe(1)
})

test('while it hangs connections are taken and nothing passes; then what was sent passes late', async () => {
  await using at = await setUp()
  const old = at.client()
  await old.send(['PING']).receives(1)
  at.proxy.hang()
  const late = at.client()
  old.send(['INCR', 'a'])
  late.send(['INCR', 'a'])
  // Waits: that nothing passes can only be waited for.
  await sleep(100)
  expect(await at.redis.command('GET', 'a')).toBe(null)
  expect([old.isCut, late.isCut, late.replies.length]).toEqual([false, false, 0])
  at.proxy.flow()
  await old.receives(2)
  await late.receives(1)
  expect(await at.redis.command('GET', 'a')).toBe('2')
})

test('down, it cuts connections and refuses new ones; up, it is on the same port', async () => {
  await using at = await setUp()
  const client = at.client()
  await client.send(['PING']).receives(1)
  await at.proxy.down()
  await client.cut()
  await expect(once(connect(at.proxy.port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
  await at.proxy.up()
  expect(await at.client().send(['PING']).receives(1)).toEqual(['PONG'])
})

test('a Redis that is killed behind it breaks the connections; started again, it is reached', async () => {
  await using at = await setUp()
  const client = at.client()
  await client.send(['PING']).receives(1)
  await at.redis.kill()
  await client.cut()
  await at.client().send(['PING']).cut()
  await at.redis.restart()
  expect(await at.client().send(['PING']).receives(1)).toEqual(['PONG'])
})

describe('what it has seen', () => {
  test('a pipeline is one round trip, however long; two commands one after the other are two', async () => {
    await using at = await setUp()
    const client = at.client()
    await client.send(['CLIENT', 'SETNAME', 'x']).receives(1)
    at.proxy.resetCounts()
    const page = Array.from({ length: 300 }, (_, i) => ['SET', `key-${i}`, 'x'.repeat(100)])
    await client.send(...page).receives(301)
    expect(at.proxy.roundTrips).toBe(1)
    expect(at.proxy.commandCount).toBe(300)
    await client.send(['GET', 'a']).receives(302)
    await client.send(['GET', 'a']).receives(303)
    expect(at.proxy.roundTrips).toBe(3)
    expect(at.proxy.connectionCount).toBe(0)
  })

  test('a pipeline that comes in pieces is one round trip, though Redis has answered the first', async () => {
    await using at = await setUp()
    const client = at.client()
    const bytes = Buffer.concat(['a', 'b', 'c'].map((key) => encodeCommand(['SET', key, '1'])))
    client.write(bytes.subarray(0, 10))
    // Waits: by then the first piece has come alone.
    await sleep(20)
    client.write(bytes.subarray(10, 40))
    await client.receives(1)
    client.write(bytes.subarray(40))
    await client.receives(3)
    expect(at.proxy.roundTrips).toBe(1)
  })

  test('names and first keys, the last ten thousand of them', async () => {
    await using at = await setUp()
    const client = at.client()
    await client
      .send(['ping'], ['get', 'a'], ['eval', 'return 1', '2', 'k', 'l'], ['eval', 'return 1', '0', 'arg'])
      .receives(4)
    expect(at.proxy.commands).toEqual([
      { name: 'PING', key: '' },
      { name: 'GET', key: 'a' },
      { name: 'EVAL', key: 'k' },
      { name: 'EVAL', key: '' },
    ])
    await client.send(...Array.from({ length: 25_000 }, () => ['PING'])).receives(25_004)
    expect(at.proxy.commands).toHaveLength(10_000)
    expect(at.proxy.commandCount).toBe(25_004)
  })
})

test('a reply that is held comes late, those before it in time, and nothing comes twice', async () => {
  await using redis = await startRedis()
  await using proxy = await startTcpProxy({ target: redis.url })
  proxy.judgeBy(([name]) => (name === 'INCR' ? { holdReplyMs: 150 } : 'forward'))
  using client = new Client(proxy.port)
  const sentAt = performance.now()
  client.send(['PING'], ['INCR', 'a'], ['GET', 'a'])
  expect(await client.receives(1)).toEqual(['PONG'])
  expect(await redis.command('GET', 'a')).toBe('1')
  expect(await client.receives(3)).toEqual(['PONG', 1, '1'])
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(145)
})

test('after a retarget new connections go to the other Redis', async () => {
  await using before = await startRedis()
  await using after = await startRedis()
  await before.command('SET', 'name', 'before')
  await after.command('SET', 'name', 'after')
  await using proxy = await startTcpProxy({ target: before.url })
  using open = new Client(proxy.port)
  expect(await open.send(['GET', 'name']).receives(1)).toEqual(['before'])
  proxy.retarget(after.url)
  using opened = new Client(proxy.port)
  expect(await opened.send(['GET', 'name']).receives(1)).toEqual(['after'])
})
