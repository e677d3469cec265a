/** What crawls may spend, judged by what the fake web was asked for. */

import type { FakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'
import type { SettingsInput } from 'webloom'
import { crawlWeb } from './crawl-web.ts'

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

test('what is wrong with BUDGETS is told before anything is fetched', async () => {
  await expect(crawlWeb(BIG, budgets({ day: { page: 5 } }))).rejects.toThrow('Did you mean pages')
})
