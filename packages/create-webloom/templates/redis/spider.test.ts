/**
 * Tests of the spider on a recorded page: no network, no Redis, the same answer each time.
 *
 * Of a site of your own: record a page with  npx webloom fetch https://your.site/ > page.html  and write
 * `file: import.meta.resolve('./page.html')` in place of `body`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCallback } from 'webloom/testing'
import { listPage } from './site.ts'
import QuotesSpider from './spider.ts'

const page = { url: 'http://quotes.test/page/20', body: listPage(20) }

test('each quote of a page becomes an item', async () => {
  const { items } = await runCallback(QuotesSpider, page)
  assert.equal(items.length, 6)
  assert.deepEqual(items[0], { text: 'Line 20 of book 1.', author: 'Ada Brook' })
})

test('authors are followed, and on the last page nothing else', async () => {
  const { requests } = await runCallback(QuotesSpider, page)
  assert.equal(requests.length, 6)
  assert.equal(requests[0]?.url, 'http://quotes.test/author/Ada%20Brook')
})
