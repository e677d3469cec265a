/** A crawl that comes back to its pages (RECRAWL), whose Redis is full for some seconds. */

import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Days, pathsOf } from './recrawl-days.ts'

/** As in core's known-hosts.ts. */
const NOTED_EVERY_MS = 10_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('maxmemory is reached in mid-crawl: what was learned of hosts waits, too, and the crawl goes on when there is room', async () => {
  await using days = await Days.of({ pages: 70 })
  await using server = await startRedis()
  const settings = { REDIS_URL: server.url, CRAWL_ID: 'full' }
  await days.run(0, settings)
  const first = pathsOf(days.web.asked())
  let refilled: Promise<void> | undefined
  const begunAt = performance.now()
  days.web.onAsked = async () => {
    if (refilled || performance.now() - begunAt < NOTED_EVERY_MS - 500) return
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    refilled = roomAgain()
  }
  const roomAgain = async () => {
    // Waits: that a note was refused can be seen nowhere.
    await sleep(2000)
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
  }
  const { finishReason } = await days.run(24, {
    ...settings,
    DOWNLOAD_DELAY: 0.2,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  })
  await refilled
  expect(refilled).toBeDefined()
  expect(finishReason).toBe('finished')
  expect(pathsOf(days.web.asked())).toEqual(first)
})
