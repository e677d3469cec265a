/** What crawls may spend, judged by what the fake web was asked for. */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FakeWeb, startFakeWeb } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { crawl, type SettingsInput } from 'webloom'
import { crawlWeb, FollowAll, fetchedOnce, listeningLogger } from './crawl-web.ts'
import { listeningTo } from './listening.ts'

const BIG = {
  seed: 11,
  hosts: 3,
  pagesPerHost: 60,
  crossHostLinks: 0.2,
  latencyMs: [0, 5] as [number, number],
}
const budgets = (BUDGETS: unknown, more: SettingsInput = {}): SettingsInput => ({
  BUDGETS: BUDGETS as NonNullable<SettingsInput['BUDGETS']>,
  CONCURRENT_REQUESTS: 16,
  ...more,
})
const perHost = ({ hits }: FakeWeb) =>
  [...Map.groupBy(hits, ({ url }) => new URL(url).host).values()].map((ofHost) => ofHost.length)

test('the budget of a crawl: so many requests leave, redirects and retries among them, and the crawl ends', async () => {
  const web = { ...BIG, redirects: 0.3, flaky: 0.2, flakyTimes: 2, flakyWith: 'either' as const }
  await crawlWeb(web, budgets({ crawl: { pages: 37 } }), ({ hits }, { finishReason, stats }) => {
    expect(hits).toHaveLength(37)
    expect(finishReason).toBe('budget_crawl')
    expect(stats['budgets/waited']).toBeGreaterThan(0)
  })
})

test('a budget that is not reached changes nothing', async () => {
  await crawlWeb(
    BIG,
    budgets({ crawl: { pages: 10_000, bytes: 1e12, minutes: 9 } }),
    (web, { finishReason }) => {
      expect(finishReason).toBe('finished')
      for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
    },
  )
})

test('the budget of each host: its other requests are dropped, and the crawl finishes', async () => {
  await crawlWeb(BIG, budgets({ host: { pages: 7 } }), (web, { finishReason, stats }) => {
    expect(finishReason).toBe('finished')
    expect(perHost(web)).toEqual([7, 7, 7])
    expect(stats['budgets/dropped']).toBeGreaterThan(0)
  })
})

test('the budgets of a day: requests wait for the next one, all or those of a host, and the crawl stays', async () => {
  const waits = { CLOSESPIDER_TIMEOUT: 0.7 }
  await crawlWeb(BIG, budgets({ hostDay: { pages: 5 } }, waits), (web, { finishReason, stats }) => {
    expect(perHost(web)).toEqual([5, 5, 5])
    expect(finishReason).toBe('closespider_timeout')
    // Each host waits as a whole: its requests do not come by again and again.
    expect(stats['budgets/waited']).toBeLessThan(60)
  })
  await crawlWeb(BIG, budgets({ day: { pages: 8 } }, waits), (web, { finishReason, stats }) => {
    expect(web.hits).toHaveLength(8)
    expect(finishReason).toBe('closespider_timeout')
    expect(stats['budgets/waited']).toBeLessThan(60)
  })
})

test('what waits for the next day leaves when it has begun, and the crawl finishes', async () => {
  // A second before midnight; what happens within the crawl goes by other clocks. That some requests are refused when it is over costs no day.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 23, 59, 59) })
  await using web = await startFakeWeb({ ...BIG, hosts: 1, pagesPerHost: 10 })
  const ofFirstDay: number[] = []
  class OfThisWeb extends FollowAll {
    override startUrls = [...web.seeds]
  }
  try {
    const { finishReason } = await crawl(OfThisWeb, {
      settings: budgets({ day: { pages: 6 } }),
      logger: listeningTo(({ message }) => {
        if (!message.startsWith('the budget of the day is spent')) return
        ofFirstDay.push(web.hits.length)
        vi.setSystemTime(Date.UTC(2026, 0, 2))
      }),
    })
    expect(finishReason).toBe('finished')
    expect(ofFirstDay).toHaveLength(1)
    expect(ofFirstDay[0]).toBeLessThanOrEqual(6)
    fetchedOnce(web)
  } finally {
    vi.useRealTimers()
  }
})

test('a day’s budget may end the crawl in place of waiting', async () => {
  await crawlWeb(BIG, budgets({ day: { pages: 8, after: 'stop' } }), (web, { finishReason }) => {
    expect(web.hits).toHaveLength(8)
    expect(finishReason).toBe('budget_day')
  })
})

test('bytes: what is under way when they are spent comes on top, and nothing else', async () => {
  const settings = budgets({ crawl: { bytes: 20_000 } }, { CONCURRENT_REQUESTS: 4 })
  await crawlWeb(BIG, settings, (web, { finishReason }) => {
    const sizes = web.hits.map(({ url }) => Buffer.byteLength(web.page(url)?.html ?? ''))
    const came = sizes.reduce((sum, bytes) => sum + bytes, 0)
    expect(finishReason).toBe('budget_crawl')
    expect(came).toBeGreaterThanOrEqual(20_000)
    expect(came).toBeLessThan(20_000 + 5 * Math.max(...sizes))
  })
})

const PART = 'x'.repeat(50_000)
/** `/` links to 30 pages, which answer as `page` does; what else is asked for is not found. Resolves to how often they were asked for. */
async function pagesAsked(page: (response: ServerResponse) => void, settings: SettingsInput, robots = '') {
  let asked = 0
  const server = createServer(({ url = '' }, response) => {
    if (url === '/robots.txt') return response.end(robots)
    response.setHeader('content-type', 'text/html')
    if (url === '/') return response.end(Array.from({ length: 30 }, (_, n) => `<a href="/p${n}">`).join(''))
    asked++
    return page(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  class Here extends FollowAll {
    override startUrls = [`http://127.0.0.1:${port}/`]
  }
  try {
    const { stats } = await crawl(Here, {
      settings: {
        ...settings,
        CONCURRENT_REQUESTS: 1,
        RETRY_TIMES: 1,
        RETRY_BACKOFF: 0,
        HOST_RETRY_TIMES: 0,
        HOST_BACKOFF_AFTER: 0,
      },
      logger: listeningLogger().logger,
    })
    return { asked, stats }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test.each<[string, SettingsInput, (response: ServerResponse) => void]>([
  ['are too large', { DOWNLOAD_MAXSIZE: 40_000 }, (response) => response.end(PART.padStart(60_000))],
  ['are cut off', {}, (response) => response.write(PART, () => response.destroy())],
  ['come too slowly', { DOWNLOAD_TIMEOUT: 0.1 }, (response) => void response.write(PART)],
])('bytes of pages that %s are spent, too', async (_, settings, page) => {
  const limits = budgets({ host: { bytes: 200_000 } })
  const { asked } = await pagesAsked(
    (response) => {
      response.flushHeaders()
      page(response)
    },
    { ...limits, ...settings },
  )
  expect(asked).toBeLessThan(12)
})

test('bytes of robots.txt are spent', async () => {
  const limits = budgets({ host: { bytes: 200_000 } }, { ROBOTSTXT_OBEY: true })
  const { stats } = await pagesAsked((response) => response.end(PART), limits, '#'.repeat(300_000))
  expect(stats['budgets/dropped']).toBe(1)
  expect(stats['downloader/response_count']).toBeUndefined()
})

test.each<[string, 'dropped' | 'waited', unknown]>([
  ['finished', 'dropped', { host: { bytes: 2_000_000 } }],
  ['budget_host', 'waited', { host: { bytes: 2_000_000, after: 'stop' } }],
  ['closespider_timeout', 'waited', { hostDay: { bytes: 2_000_000 } }],
])(
  'a robots.txt that fails is asked for no more once the bytes of its host are spent: %s',
  async (reason, counted, limits) => {
    const asked: string[] = []
    const server = createServer(({ url = '' }, response) => {
      asked.push(url)
      response.writeHead(500).end(Buffer.alloc(500_000, '#'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    class Here extends FollowAll {
      override startUrls = ['/a', '/b'].map((path) => `http://127.0.0.1:${port}${path}`)
    }
    const { finishReason, stats } = await crawl(Here, {
      settings: {
        ...budgets(limits),
        ROBOTSTXT_OBEY: true,
        ROBOTSTXT_RETRY_DELAY: 0.01,
        CLOSESPIDER_TIMEOUT: 1.5,
      },
      logger: listeningLogger().logger,
    })
    server.closeAllConnections()
    server.close()
    expect(asked).toEqual(Array.from({ length: 4 }, () => '/robots.txt'))
    expect(finishReason).toBe(reason)
    expect(stats[`budgets/${counted}`]).toBe(2)
  },
)

test('what is wrong with BUDGETS is told before anything is fetched', async () => {
  await expect(crawlWeb(BIG, budgets({ day: { page: 5 } }))).rejects.toThrow('Did you mean pages')
})
