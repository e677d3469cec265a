/** Crawls that come back to pages of a sitemap, whose dates are believed as far as they proved true. */

import { IN_FULL, type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { crawl, type Response, SitemapSpider } from 'webloom'
import { listeningLogger } from '../crawls/crawl-web.ts'
import { ChangingWeb } from './changing-web.ts'

// The runs are days apart; what happens within a run goes by other clocks.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const PAGES = IN_FULL ? 20 : 10
const LAST = 5
const HOUR = 3_600_000

/** A run each day, in which one page more has changed. Resolves to what became of the last five runs together. */
async function runs(count: number) {
  await using web = await ChangingWeb.start({ pages: PAGES })
  await using dir: TempDir = await tempDir()
  class Shop extends SitemapSpider {
    override name = 'shop'
    override sitemapUrls = [`${web.origin}/sitemap.xml`]
    override *parse(response: Response) {
      yield { url: response.url }
    }
  }
  const found = { later: 0, missed: [] as string[] }
  for (let n = 0; n < count; n++) {
    vi.setSystemTime(Date.now() + 23 * HOUR)
    const changed = `/p/${(n * 7) % PAGES}`
    web.change(changed)
    vi.setSystemTime(Date.now() + HOUR)
    const { stats } = await crawl(Shop, {
      settings: {
        RECRAWL: 'adaptive',
        SCHEDULER_IDLE_BEFORE_CLOSE: 0,
        JOBDIR: dir.join('job'),
      },
      logger: listeningLogger().logger,
    })
    const asked = web.asked()
    expect(asked.filter(({ path }) => path === '/sitemap.xml')).toHaveLength(1)
    if (n < count - LAST) continue
    if (!asked.some(({ path }) => path === changed)) found.missed.push(changed)
    found.later += Number(stats['recrawl/lastmod_later_count'] ?? 0)
  }
  return found
}

test('an honest sitemap brings forward what has changed, and puts off the rest', async () => {
  const found = await runs(IN_FULL ? 10 : 8)
  expect(found.missed).toEqual([])
  expect(found.later).toBeGreaterThan(0)
})
