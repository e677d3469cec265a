/**
 * Tests of the spider on a recorded page: no network, the same answer each time.
 *
 * Record a page of your own, and write its address below:  npx webloom fetch https://your.site/page > page.html
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCallback } from 'webloom/testing'
import SiteSpider from './spider.ts'

const page = { url: 'http://shop.test/wool/grey-merino', file: import.meta.resolve('./page.html') }

test('a page becomes an item', async () => {
  const { items } = await runCallback(SiteSpider, page, { callback: 'parsePage' })
  assert.deepEqual(items, [
    {
      url: 'http://shop.test/wool/grey-merino',
      title: 'Grey merino – The Yarn Shop',
      heading: 'Grey merino',
      description: 'Soft, grey, from two valleys on.',
    },
  ])
})

test('links are followed, but not into the basket', async () => {
  // Of a start page: a page that a rule has found would need meta.rule.
  const { requests } = await runCallback(SiteSpider, page)
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['http://shop.test/wool/'],
  )
})

test('each page of the sitemap is asked for, and each sitemap of an index', async () => {
  const asked = async (body: string) => {
    const page = { url: 'http://shop.test/sitemap.xml', body }
    const { requests } = await runCallback(SiteSpider, page, { callback: 'parseSitemap' })
    return requests.map(({ url, callback }) => [url, callback])
  }
  assert.deepEqual(await asked('<urlset><url><loc>http://shop.test/a</loc></url></urlset>'), [
    ['http://shop.test/a', null],
  ])
  const index = '<sitemapindex><sitemap><loc>http://shop.test/wool.xml</loc></sitemap></sitemapindex>'
  assert.deepEqual(await asked(index), [['http://shop.test/wool.xml', 'parseSitemap']])
})
