/**
 * Tests of the spider on a recorded page: no network, the same answer each time.
 *
 * Record a page of your own, and write its address below:  npx webloom fetch https://your.site/ > page.html
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCallback } from 'webloom/testing'
import QuotesSpider from './spider.ts'

const page = { url: 'http://quotes.test/', file: import.meta.resolve('./page.html') }

test('each quote of a page becomes an item', async () => {
  const { items } = await runCallback(QuotesSpider, page)
  assert.equal(items.length, 3)
  assert.deepEqual(items[0], {
    text: '“A spider that hurries wakes the house.”',
    author: 'Ines Falk',
    tags: ['patience', 'spiders'],
  })
})

test('the next page is followed', async () => {
  const { requests } = await runCallback(QuotesSpider, page)
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['http://quotes.test/page/2/'],
  )
})
