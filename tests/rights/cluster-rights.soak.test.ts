/** Crawls over a Redis Cluster, in shards and not, by a user who has the rights that docs/deploy.md and docs/guides/redis.md name, and no others. */

import { startCluster, startFakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl } from 'webloom'
import { aclLine } from '../../packages/webloom/src/redis/redis-rights.ts'
import { keepingLogger, SeededPages } from '../seeds/seeded-pages.ts'

/** What the guide adds for a cluster. */
const OF_CLUSTER = ['+asking', '+cluster|info', '+cluster|slots', '+readonly', '+readwrite']
// What nobody misses where it is refused: CONFIG GET save (are there snapshots?), and how a client introduces itself.
const MAY_BE_REFUSED = ['config|get', 'client|setinfo']

test.each([
  ['in shards', { QUEUE_SHARDS: 6, DUPEFILTER_SHARDS: 4 }],
  ['with turns', { QUEUE_MODE: 'turns' }],
] as const)(
  'whoever has just these rights at each node crawls %s, and is refused nothing',
  async (_, mode) => {
    await using web = await startFakeWeb({ seed: 1, pagesPerHost: 8 })
    await using cluster = await startCluster({ masters: 3 })
    const line = aclLine(['queue', 'dupefilter', 'seeds', 'items'])
    const words = line
      .replaceAll('<spider>', 'pages')
      .replace('<user>', 'loom')
      .replace('<password>', 'pw')
      .split(' ')
    for (const node of cluster.nodes)
      await node.command(...([...words, ...OF_CLUSTER] as [string, ...string[]]))
    const seeds = await cluster.masterOf('pages:start_urls')
    await seeds!.command('RPUSH', 'pages:start_urls', ...web.seeds)
    const lines: string[] = []
    const { finishReason } = await crawl(SeededPages, {
      settings: {
        ...{ REDIS_URL: cluster.url.replace('://', '://loom:pw@'), ...mode },
        ...{ DUPEFILTER_CLASS: 'redis-set', COOKIES_SHARED: true, ROBOTSTXT_OBEY: true },
        PRIVATE_ADDRESSES_ALLOWED: ['*'],
      },
      logger: keepingLogger(lines),
    })
    expect(lines.filter((told) => /NOPERM|ACL/.test(told))).toEqual([])
    expect(finishReason).toBe('finished')
    const pages = web.hits.map(({ url }) => url).filter((url) => !url.endsWith('/robots.txt'))
    expect(new Set(pages)).toEqual(web.linked())
    for (const node of cluster.nodes) {
      const log = (await node.command('ACL', 'LOG')) as string[][]
      const refused = log.map((entry) => entry[entry.indexOf('object') + 1]!)
      expect(refused.filter((object) => !MAY_BE_REFUSED.includes(object))).toEqual([])
    }
  },
)
