/**
 * Tests of the spider on a recorded answer: no network, the same each time.
 *
 * Record an answer of your own, and write its address below:  npx webloom fetch https://your.api/ > page.json
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCallback } from 'webloom/testing'
import ApiSpider from './spider.ts'

const page = {
  url: 'http://api.test/quotes?page=1',
  file: import.meta.resolve('./page.json'),
  headers: { 'content-type': 'application/json' },
}

test('each entry of an answer becomes an item', async () => {
  const { items } = await runCallback(ApiSpider, page)
  assert.equal(items.length, 3)
  assert.deepEqual(items[2], { text: 'The answer is in the last field.', author: 'Ada Brook' })
})

test('the next page is asked for', async () => {
  const { requests } = await runCallback(ApiSpider, page)
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['http://api.test/quotes?page=2'],
  )
})

test('the last page ends the crawl', async () => {
  const { requests } = await runCallback(ApiSpider, { url: page.url, body: '{"quotes":[],"next":null}' })
  assert.deepEqual(requests, [])
})
