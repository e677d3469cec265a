/** The way of items: pipelines, feeds, and an output that fails. */

import { readFileSync } from 'node:fs'
import { startFakeWeb, tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { crawl, DropItem } from 'webloom'
import { FollowAll, listeningLogger } from '../crawls/crawl-web.ts'

describe('items', () => {
  test('go through pipelines in order, are dropped by reason, and land in each feed', async () => {
    await using web = await startFakeWeb({ seed: 12, pagesPerHost: 30 })
    await using folder = await tempDir()
    class Numbered {
      #next = 0
      openSpider() {
        this.#next = 1
      }
      processItem(item: unknown) {
        return { ...(item as object), number: this.#next++ }
      }
    }
    class OnlyEven {
      processItem(item: unknown) {
        if ((item as { number: number }).number % 2 === 1) throw new DropItem('odd')
        return item
      }
    }
    class Broken {
      processItem(item: unknown) {
        if ((item as { number: number }).number === 4) throw new TypeError('four')
        return item
      }
    }
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const { stats } = await crawl(OfThisWeb, {
      settings: {
        ITEM_PIPELINES: [
          [OnlyEven, 200],
          [Numbered, 100],
          [Broken, 300],
        ],
        FEEDS: { [folder.join('a.jsonl')]: {}, [folder.join('a.json')]: {}, [folder.join('a.csv')]: {} },
      },
      logger: listeningLogger().logger,
    })
    expect(stats).toMatchObject({
      item_scraped_count: 14,
      item_dropped_count: 15,
      'item_dropped_reasons_count/DropItem': 15,
      item_error_count: 1,
    })
    const lines = readFileSync(folder.join('a.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { number: number })
    expect(lines).toHaveLength(14)
    expect(lines.every(({ number }) => number % 2 === 0 && number !== 4)).toBe(true)
    expect(JSON.parse(readFileSync(folder.join('a.json'), 'utf8'))).toEqual(lines)
    expect(readFileSync(folder.join('a.csv'), 'utf8').trim().split('\n')).toHaveLength(15)
  })

  test('an output that cannot be written stops the crawl before any page is fetched', async () => {
    await using web = await startFakeWeb({})
    await using folder = await tempDir()
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const running = crawl(OfThisWeb, {
      settings: { FEEDS: { [folder.path]: { format: 'jsonl' } } },
      logger: listeningLogger().logger,
    })
    await expect(running).rejects.toMatchObject({ code: 'WL_OUTPUT_UNWRITABLE' })
    expect(web.hits).toHaveLength(0)
  })

  test('an output that fails in mid-crawl ends it, and says so', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 50 })
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const running = crawl(OfThisWeb, {
      settings: { FEEDS: { '/dev/full': { format: 'jsonl' } } },
      logger: listeningLogger().logger,
    })
    await expect(running).rejects.toMatchObject({ code: 'WL_OUTPUT_FAILED' })
    expect(web.hits.length).toBeLessThan(50)
  })

  test('an output that its storage does not take within COMPONENT_TIMEOUT has failed, and so has the crawl', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 2 })
    await using folder = await tempDir()
    class Slow {
      store = () => new Promise<void>(() => {})
    }
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const running = crawl(OfThisWeb, {
      settings: {
        FEED_STORAGES: { shelf: Slow },
        FEEDS: { 'shelf://a/out.jsonl': {} },
        FEED_TEMPDIR: folder.path,
        COMPONENT_TIMEOUT: 1,
      },
      logger: listeningLogger().logger,
    })
    await expect(running).rejects.toMatchObject({
      code: 'WL_OUTPUT_FAILED',
      message: expect.stringContaining(`The items are in ${folder.path}`),
    })
  })
})
