import { Request } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { Fetching, testCrawler } from '../../testing/fetching.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { HttpCacheMiddleware } from './http-cache.ts'

test.each(['file', 'sqlite'])(
  'the storage %s gives headers back whose names every object knows',
  async (HTTPCACHE_STORAGE) => {
    await using folder = await tempDir()
    const site = await LocalSite.start()
    site.script = (_, res) => {
      for (const name of ['constructor', '__proto__', 'toString']) res.setHeader(name, ['a', 'b'])
      res.end('x')
    }
    const crawler = testCrawler({ HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: folder.path, HTTPCACHE_STORAGE })
    const fetching = new Fetching([HttpCacheMiddleware.fromCrawler(crawler)])
    const [first, second] = [
      await fetching.response(new Request(`${site.origin}/`)),
      await fetching.response(new Request(`${site.origin}/`)),
    ]
    expect(second.flags).toEqual(['cached'])
    expect(second.headers.getAll('constructor')).toEqual(['a', 'b'])
    expect([...second.headers]).toEqual([...first.headers])
    await fetching.close()
    await crawler.signals.send('spiderClosed', { spider: crawler.spider, reason: 'finished' })
    await site.close()
  },
)
