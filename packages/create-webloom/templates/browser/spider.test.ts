/**
 * Tests of the spider on a recorded page: no network, no browser, the same answer each time.
 *
 * Record a page of your own, and write its address below:  npx webloom fetch https://your.site/ --browser > page.html
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCallback } from 'webloom/testing'
import LampsSpider from './spider.ts'

test('each lamp of the list is followed, and asks for no browser', async () => {
  const page = { url: 'http://lamps.test/', file: import.meta.resolve('./page.html') }
  const { requests } = await runCallback(LampsSpider, page)
  assert.deepEqual(
    requests.map(({ url, meta }) => [url, meta.browser]),
    [0, 1, 2].map((id) => [`http://lamps.test/lamp/${id}`, undefined]),
  )
})

test('a page of a lamp becomes an item', async () => {
  const page = { url: 'http://lamps.test/lamp/3', body: '<h1>Desk lamp</h1><p class="price">45 €</p>' }
  const { items } = await runCallback(LampsSpider, page, { callback: 'parseLamp' })
  assert.deepEqual(items, [{ url: page.url, name: 'Desk lamp', price: 45 }])
})
