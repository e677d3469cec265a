import { Request } from '@webloom/core'
import { RedisSpider } from '@webloom/spider'
import { startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { seed } from '../commands/seed.ts'
import { crawlBaseOf } from './crawl-base.ts'
import { withCrawlFromOutside } from './crawl-from-outside.ts'
import { openDupefilter } from './open-dupefilter.ts'

class Books extends RedisSpider {
  override name = 'books'
}

const config = { path: '/', folder: '/', spiders: [], settings: {} }

test.each<{ what: string; writes: (set: readonly string[]) => Promise<unknown> }>([
  {
    what: 'a command that tells a crawl something',
    writes: (set) => withCrawlFromOutside(Books, { set }, config, ({ redis }) => redis.set('told', '1')),
  },
  { what: 'seed', writes: (set) => seed(Books, ['http://a.example/'], { set }, config) },
  {
    what: 'dupefilter',
    async writes(set) {
      const opened = await openDupefilter(Books, crawlBaseOf({ set }, config), { makes: true })
      try {
        await opened.filter.requestSeen(new Request('http://a.example/'))
      } finally {
        await opened.close()
      }
    },
  },
])(
  '$what whose user is deleted while Redis works on what it wrote ends, and tells why',
  async ({ writes }) => {
    await using redis = await startRedis()
    await redis.command('ACL', 'SETUSER', 'leaver', 'on', '>pw', '~*', '&*', '+@all')
    await redis.command('CLIENT', 'PAUSE', '60000', 'WRITE')
    const written = writes([`REDIS_URL=${redis.url.replace('://', '://leaver:pw@')}`, 'LOG_LEVEL=ERROR'])
    written.catch(() => {})
    const isHeld = async () => / flags=b .* user=leaver /.test(String(await redis.command('CLIENT', 'LIST')))
    await vi.waitUntil(isHeld)
    await redis.command('ACL', 'DELUSER', 'leaver')
    await expect(written).rejects.toThrow('does not let this process in any more: it does not know the user')
  },
)
