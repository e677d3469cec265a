/** Bounds at which a crawl ends, holds back or leaves out. */

import { startFakeWeb } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'
import { crawlWeb, FollowAll, listeningLogger } from './crawl-web.ts'

describe('limits', () => {
  test.each([
    [{ CLOSESPIDER_PAGECOUNT: 10 }, 'closespider_pagecount'],
    [{ CLOSESPIDER_ITEMCOUNT: 10 }, 'closespider_itemcount'],
    [{ CLOSESPIDER_TIMEOUT: 0.2 }, 'closespider_timeout'],
    [{ CLOSESPIDER_TIMEOUT_NO_ITEM: 0.2, DOWNLOAD_DELAY: 1 }, 'closespider_timeout_no_item'],
  ] as [SettingsInput, string][])('%j ends the crawl', async (settings, reason) => {
    await crawlWeb({ seed: 8, pagesPerHost: 400, latencyMs: 10 }, settings, (web, { finishReason }) => {
      expect(finishReason).toBe(reason)
      expect(web.hits.length).toBeLessThan(300)
    })
  })

  test('MEMUSAGE_LIMIT_MB ends the crawl in order, MEMUSAGE_WARNING_MB warns', async () => {
    const settings = {
      MEMUSAGE_LIMIT_MB: 1,
      MEMUSAGE_WARNING_MB: 1,
      MEMUSAGE_CHECK_INTERVAL_SECONDS: 0.1,
    } satisfies SettingsInput
    await crawlWeb(
      { seed: 8, pagesPerHost: 400, latencyMs: 10 },
      settings,
      (_web, { finishReason, stats }) => {
        expect(finishReason).toBe('memusage_exceeded')
        expect(stats).toMatchObject({ 'memusage/limit_reached': 1, 'memusage/warning_reached': 1 })
        expect(Number(stats['memusage/max'])).toBeGreaterThanOrEqual(Number(stats['memusage/startup']))
      },
    )
  })

  test('CLOSESPIDER_ERRORCOUNT counts callbacks that threw', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 50 })
    class Fails extends Spider {
      override name = 'fails'
      override startUrls = [...web.seeds]
      override *parse(response: Response): Generator<unknown> {
        yield* response.followAll()
        throw new Error('x')
      }
    }
    const { finishReason } = await crawl(Fails, {
      settings: { CLOSESPIDER_ERRORCOUNT: 3 },
      logger: listeningLogger().logger,
    })
    expect(finishReason).toBe('closespider_errorcount')
  })

  test('DEPTH_LIMIT and URLLENGTH_LIMIT drop and count', async () => {
    await crawlWeb({ seed: 9, pagesPerHost: 200, linksPerPage: 3 }, { DEPTH_LIMIT: 2 }, (web, { stats }) => {
      expect(stats.request_depth_max).toBe(2)
      expect(stats['depth/request_ignored_count']).toBeGreaterThan(0)
      expect(web.hits.length).toBeLessThan(200)
    })
    await crawlWeb({ seed: 9, pagesPerHost: 20 }, { URLLENGTH_LIMIT: 24 }, (web, { stats }) => {
      expect(web.hits).toHaveLength(1)
      expect(stats['urllength/request_ignored_count']).toBeGreaterThan(0)
    })
  })

  test('a signal lets what is in flight finish and starts nothing new', async () => {
    await using web = await startFakeWeb({ seed: 10, pagesPerHost: 300, latencyMs: 30 })
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const abort = new AbortController()
    const running = crawl(OfThisWeb, { signal: abort.signal, logger: listeningLogger().logger })
    await web.waitForHits(20)
    abort.abort()
    const { finishReason, stats } = await running
    expect(finishReason).toBe('shutdown')
    expect(web.hits.filter(({ aborted }) => aborted)).toEqual([])
    expect(stats.response_received_count).toBe(web.hits.length)
  })

  test('what hangs when the crawl is told to stop is cut off after SHUTDOWN_GRACE', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 1, hangs: [{ host: 0, page: 0 }] })
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const abort = new AbortController()
    const running = crawl(OfThisWeb, {
      signal: abort.signal,
      settings: { SHUTDOWN_GRACE: 0.1 },
      logger: listeningLogger().logger,
    })
    await web.waitForHits(1)
    abort.abort()
    expect((await running).finishReason).toBe('shutdown')
  })

  test('start() that could yield for ever is asked for more only as the crawl has room', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 1 })
    let yielded = 0
    class Endless extends Spider {
      override name = 'endless'
      override *start() {
        for (;;) yield new Request(`${web.origins[0]}/?${yielded++}`, { dontFilter: true })
      }
      override parse() {}
    }
    const { stats } = await crawl(Endless, {
      settings: { START_LOW_WATER: 20, START_AHEAD_MAX: 0, CLOSESPIDER_PAGECOUNT: 50 },
      logger: listeningLogger().logger,
    })
    expect(yielded).toBeLessThan(Number(stats.response_received_count) + 60)
  })

  test('slow pipelines hold back the intake by SCRAPER_SLOT_MAX_ACTIVE_SIZE', async () => {
    await using web = await startFakeWeb({ seed: 11, pagesPerHost: 60, pageBytes: 5000 })
    let [inside, most] = [0, 0]
    class Slow {
      async processItem(item: unknown) {
        most = Math.max(most, ++inside)
        // Waits: so slow is the pipeline.
        await new Promise((resolve) => setTimeout(resolve, 5))
        inside--
        return item
      }
    }
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const { stats } = await crawl(OfThisWeb, {
      settings: {
        ITEM_PIPELINES: [[Slow, 300]],
        SCRAPER_SLOT_MAX_ACTIVE_SIZE: 20_000,
        CONCURRENT_REQUESTS: 4,
      },
      logger: listeningLogger().logger,
    })
    expect(stats.item_scraped_count).toBe(60)
    // 20 000 bytes are four pages; as many downloads may be under way when the bound is met.
    expect(most).toBeLessThanOrEqual(8)
  })
})
