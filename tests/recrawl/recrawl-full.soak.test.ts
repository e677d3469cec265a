/** A crawl that comes back to its pages (RECRAWL), whose Redis is full for some seconds. */

import { startRedis } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Days, pathsOf } from './recrawl-days.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('maxmemory is reached in mid-crawl: what was learned of hosts waits, too, and the crawl goes on when there is room', async () => {
  await using days = await Days.of({ pages: 30 })
  await using server = await startRedis()
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'full' }
  await days.run(0, settings)
  const first = pathsOf(days.web.asked())
  let refilled: Promise<void> | undefined
  let asked = 0
  days.web.onAsked = async () => {
    if (++asked !== 10) return
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    refilled = roomAgain()
  }
  // Notes of hosts are the only plain HSET, and are written every ten seconds.
  const roomAgain = async () => {
    await vi.waitFor(
      async () =>
        expect(await server.command('INFO', 'commandstats')).toMatch(/cmdstat_hset:.*rejected_calls=[1-9]/),
      { timeout: 60_000, interval: 50 },
    )
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
  }
  const { finishReason } = await days.run(24, {
    ...settings,
    DOWNLOAD_DELAY: 0.2,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  })
  await refilled
  expect(asked).toBeGreaterThan(10)
  expect(finishReason).toBe('finished')
  expect(pathsOf(days.web.asked())).toEqual(first)
})
