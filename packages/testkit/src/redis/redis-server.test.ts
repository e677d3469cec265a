import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { freePort, startRedis } from '../index.ts'

test('a real Redis answers, and is gone with its folder after the block', async () => {
  let pid: number
  let dir: unknown
  {
    await using redis = await startRedis()
    pid = redis.pid
    expect(await redis.command('SET', 'a', 'å\r\n1')).toBe('OK')
    expect(await redis.command('GET', 'a')).toBe('å\r\n1')
    expect(await redis.command('GET', 'b')).toBe(null)
    expect(await redis.command('RPUSH', 'list', 1, '', Buffer.from('x'))).toBe(3)
    expect(await redis.command('LRANGE', 'list', 0, -1)).toEqual(['1', '', 'x'])
    expect(await redis.command('EVAL', "return {1, {'a', {}}, {err='MINE x'}}", 0)).toEqual([
      1,
      ['a', []],
      new Error('MINE x'),
    ])
    await expect(redis.command('INCR', 'list')).rejects.toThrow('WRONGTYPE')
    dir = (await redis.command('CONFIG', 'GET', 'dir')) as string[]
    expect(await redis.command('CONFIG', 'GET', 'save')).toEqual(['save', ''])
  }
  expect(existsSync((dir as string[])[1]!)).toBe(false)
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('without a file a restart is empty, on the same port', async () => {
  await using redis = await startRedis()
  const { url, pid } = redis
  await redis.command('SET', 'a', 1)
  await redis.restart()
  expect(await redis.command('GET', 'a')).toBe(null)
  expect(redis.url).toBe(url)
  expect(redis.pid).not.toBe(pid)
})

test('with an append-only file it keeps what it had, killed or ended politely', async () => {
  await using redis = await startRedis({ appendonly: 'always' })
  await redis.command('SET', 'a', 1)
  await redis.kill()
  await expect(redis.command('GET', 'a')).rejects.toThrow('ECONNREFUSED')
  expect(() => redis.pid).toThrow('does not run; restart() starts it')
  await redis.restart()
  await redis.command('INCR', 'a')
  await redis.kill('SIGTERM')
  await redis.restart()
  expect(await redis.command('GET', 'a')).toBe('2')
})

test('set back, it has what it had when that was kept, and nothing of what came after', async () => {
  await using redis = await startRedis({ appendonly: 'everysec' })
  await redis.command('SET', 'a', 1)
  await redis.remember()
  await redis.command('SET', 'a', 2)
  await redis.command('SET', 'b', 2)
  await redis.setBack()
  expect(await redis.command('MGET', 'a', 'b')).toEqual(['1', null])
})

test('everysec: a polite end loses nothing, and what is a second old survives a kill', async () => {
  await using redis = await startRedis({ appendonly: 'everysec' })
  await redis.command('SET', 'a', 1)
  await redis.restart()
  expect(await redis.command('GET', 'a')).toBe('1')
  expect(await redis.command('CONFIG', 'GET', 'appendfsync')).toEqual(['appendfsync', 'everysec'])
})

test('two servers hold their own keys', async () => {
  await using queue = await startRedis()
  await using dedup = await startRedis()
  await queue.command('SET', 'a', 1)
  await dedup.command('SET', 'b', 1)
  expect(await queue.command('KEYS', '*')).toEqual(['a'])
  expect(await dedup.command('KEYS', '*')).toEqual(['b'])
})

test('paused, it takes connections and answers nothing; resumed, it answers', async () => {
  await using redis = await startRedis()
  await redis.pause()
  let answered = false
  const reply = redis.command('PING').finally(() => {
    answered = true
  })
  // Waits: that it answers nothing can only be waited for.
  await sleep(200)
  expect(answered).toBe(false)
  await redis.resume()
  expect(await reply).toBe('PONG')
  await redis.pause()
  await redis.restart()
  expect(await redis.command('PING')).toBe('PONG')
  await redis.pause()
})

test('a memory limit, a password and settings of redis.conf', async () => {
  await using redis = await startRedis({
    maxmemory: '3mb',
    maxmemoryPolicy: 'allkeys-lru',
    password: 'pass w@rd',
    config: { databases: '3' },
  })
  expect(redis.url).toContain('redis://:pass%20w%40rd@127.0.0.1:')
  expect(await redis.command('CONFIG', 'GET', 'maxmemory', 'maxmemory-policy', 'databases')).toEqual(
    expect.arrayContaining(['3145728', 'allkeys-lru', '3']),
  )
})

test('one that does not start says why', async () => {
  await expect(startRedis({ config: { databases: 'many' } })).rejects.toThrow(/argument must be|many/)
})

test.runIf(process.platform === 'linux')(
  'the port of a server that is down for a moment is given to nobody else',
  async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0.5).mockReturnValueOnce(0.5)
    try {
      expect(await freePort()).not.toBe(await freePort())
    } finally {
      random.mockRestore()
    }
  },
)
