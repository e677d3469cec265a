/** Crawls that come back to their pages after a callback of theirs was renamed. Issue 22. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Response, SettingsInput } from 'webloom'
import { Days, pathsOf, Shop } from './recrawl-days.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Its pages go to a method that the others have not. */
class Before extends Shop {
  override *parse(response: Response) {
    yield* response.followAll('a', { callback: this.page })
  }

  page(response: Response) {
    return this.parseItem(response)
  }
}

/** The method is gone, and no link leads to its pages. */
class Without extends Shop {
  override *parse() {}
}

const LOST = /pages are due and were not visited: spider shop has no method "page" any more/

let crawls = 0
const PLACES: [string, () => SettingsInput][] = [
  ['in a JOBDIR', () => ({})],
  ['on Redis', () => ({ REDIS_URL: server.url, CRAWL_ID: `callbacks-${++crawls}` })],
]

describe.each(PLACES)('%s', (_, placeOf) => {
  test('pages whose callback is gone stay on the schedule, each run tells how many, and a link gives them another', async () => {
    await using days = await Days.of({ pages: 9 })
    const place = placeOf()
    await days.run(0, place, Before)
    const first = pathsOf(days.web.asked())
    const { stats } = await days.run(24, place, Without)
    expect(pathsOf(days.web.asked())).toEqual(['/'])
    expect(days.said.filter((line) => LOST.test(line))).toEqual([expect.stringMatching(/^9 pages/)])
    expect(days.said.some((line) => line.startsWith('rejected'))).toBe(false)
    expect(stats['recrawl/no_callback_count']).toBe(9)
    for (const visitsBefore of [1, 2]) {
      days.web.change('/p/3')
      await days.run(24, place)
      expect(pathsOf(days.web.asked())).toEqual(first)
      expect(days.items.find(({ path }) => path === '/p/3')).toMatchObject({ visitsBefore })
      expect(days.items).toHaveLength(visitsBefore === 1 ? 9 : 1)
      expect(days.said.some((line) => LOST.test(line))).toBe(false)
    }
  })
})

test('pages whose callback is gone as they wait in a line are back on the schedule', async () => {
  await using days = await Days.of({ pages: 9 })
  const place = { CONCURRENT_REQUESTS: 1 }
  await days.run(0, place, Before)
  const first = pathsOf(days.web.asked())
  await days.run(24, { ...place, CLOSESPIDER_PAGECOUNT: 2 }, Before)
  expect(days.web.asked().length).toBeLessThan(9)
  await days.run(0, place, Without)
  expect(days.said.some((line) => LOST.test(line))).toBe(true)
  days.web.asked()
  await days.run(24, place, Before)
  expect(pathsOf(days.web.asked())).toEqual(first)
})
