/** The items of a crawl for the program that runs it. */

import { startFakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, crawlItems, type Response, Spider, type SpiderClass } from 'webloom'

function followAll(startUrls: readonly string[]): SpiderClass {
  return class FollowAll extends Spider {
    override name = 'follow-all'
    override startUrls = [...startUrls]
    override *parse(response: Response): Generator<unknown> {
      yield { url: response.url }
      yield* response.followAll()
    }
  }
}

const settings = { LOG_ENABLED: false }
const urlOf = (item: unknown) => (item as { url: string }).url

test('onItem gets each item with its page', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 15 })
  const got: string[] = []
  const { stats } = await crawl(followAll(web.seeds), {
    settings,
    onItem(item, response) {
      expect(urlOf(item)).toBe(response?.url)
      got.push(urlOf(item))
    },
  })
  expect(new Set(got)).toEqual(new Set(web.reachable()))
  expect(stats.item_scraped_count).toBe(got.length)
})

test('an onItem that throws stops the crawl, which rejects with its error', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 200 })
  const full = new Error('the disk is full')
  const running = crawl(followAll(web.seeds), {
    settings: { ...settings, CONCURRENT_REQUESTS: 2 },
    onItem() {
      throw full
    },
  })
  await expect(running).rejects.toBe(full)
  expect(web.hits.length).toBeLessThan(100)
})

test('crawlItems is a stream of them, and the crawl goes no faster than it is read', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 15 })
  const got: string[] = []
  const items = crawlItems(followAll(web.seeds), { settings })
  let next = await items.next()
  for (; !next.done; next = await items.next()) got.push(urlOf(next.value))
  expect(new Set(got)).toEqual(new Set(web.reachable()))
  expect(next.value).toMatchObject({ finishReason: 'finished' })
})

test('leaving the loop stops the crawl', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 300 })
  for await (const item of crawlItems(followAll(web.seeds), {
    settings: { ...settings, CONCURRENT_REQUESTS: 2 },
  })) {
    expect(web.reachable()).toContain(urlOf(item))
    break
  }
  expect(web.hits.length).toBeLessThan(100)
})
