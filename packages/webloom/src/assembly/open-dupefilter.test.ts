import { silentLogger } from '@webloom/core'
import { MemoryBloomDupeFilter, MemoryDupeFilter, RedisSetDupeFilter } from '@webloom/dupefilter'
import { Spider } from '@webloom/spider'
import { expect, test } from 'vitest'
import { RedisServers } from '../redis/redis-servers.ts'
import { crawlBase } from './crawl-base.ts'
import { chooseDupefilter } from './open-dupefilter.ts'

class Books extends Spider {
  override name = 'books'
}

class OwnMemory extends MemoryDupeFilter {}
class OwnBloom extends MemoryBloomDupeFilter {}
class OwnOnRedis extends RedisSetDupeFilter {}

async function chosen(Class: unknown, isShared: boolean) {
  const layers = { command: { DUPEFILTER_CLASS: Class, REDIS_URL: 'redis://127.0.0.1:1' } } as never
  const base = await crawlBase(Books, { layers, folder: '/', createLogger: () => silentLogger })
  const servers = new RedisServers(base.settings, base.logger)
  try {
    return await chooseDupefilter(
      { ...base, redis: servers.redis, close() {} },
      { folder: '/', servers, isShared },
    )
  } finally {
    servers.close()
  }
}

test.each([[OwnMemory], [OwnBloom], [MemoryDupeFilter]])(
  '%s is refused where several processes ask it',
  async (Class) => {
    await expect(chosen(Class, true)).rejects.toMatchObject({
      problems: [
        expect.stringMatching(/which extends Memory\w+: it is in one process, and workers cannot share it/),
      ],
    })
  },
)

test.each([
  [OwnMemory, false],
  [OwnOnRedis, true],
])('%s is taken where it can be asked by all (several processes: %s)', async (Class, isShared) => {
  expect(await chosen(Class, isShared)).toMatchObject({ requestsSeen: expect.any(Function) })
})
