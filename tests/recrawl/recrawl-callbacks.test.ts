/** Crawls that come back to their pages after a callback of theirs was renamed. Issue 22. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Request, type Response, type SettingsInput } from 'webloom'
import { testIf } from '../setup/soaks.ts'
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

/** Its start page is asked for with a token, which is another one from time to time. */
class Asking extends Shop {
  static token = ''
  static callback = 'list'

  override async *start() {
    const { token, callback } = Asking
    for (const url of this.startUrls) yield new Request(url, { headers: { authorization: token }, callback })
  }

  *list() {
    yield { path: 'by list' }
  }

  *newList() {
    yield { path: 'by newList' }
  }
}

const LOST = /pages are due and were not visited: spider shop has no method "page" any more/

let crawls = 0
const PLACES: [string, () => SettingsInput][] = [
  ['in a JOBDIR', () => ({})],
  ['on Redis', () => ({ REDIS_URL: server.url, CRAWL_ID: `callbacks-${++crawls}` })],
]

/** All that is kept, as text. */
async function keptIn(days: Days, { CRAWL_ID: crawl }: SettingsInput): Promise<string> {
  if (crawl === undefined) {
    const folder = days.folder('job')
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
      .join()
  }
  const redis = new Redis(server.url)
  const texts: unknown[] = []
  for (const key of await redis.keys(`*${crawl}*`)) {
    const type = await redis.type(key)
    if (type === 'list') texts.push(await redis.lrange(key, '0', '-1'))
    else if (type === 'hash') texts.push(await redis.hgetall(key))
    else if (type === 'string') texts.push(await redis.get(key))
    else if (type === 'zset') texts.push(await redis.zrange(key, '0', '-1'))
  }
  redis.disconnect()
  return JSON.stringify(texts)
}

describe.each(PLACES)('%s', (name, placeOf) => {
  testIf(name === 'on Redis')(
    'pages whose callback is gone stay on the schedule, each run tells how many, and a link gives them another',
    async () => {
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
    },
  )

  test('a start request says how its page is asked for from now on, and a token of before is kept nowhere', async () => {
    await using days = await Days.of({ pages: 1 })
    const place = placeOf()
    const sent: unknown[] = []
    days.web.onAsked = (_path, { authorization }) => void sent.push(authorization)
    const run = async (hours: number, token: string, callback: string) => {
      Object.assign(Asking, { token, callback })
      await days.run(hours, place, Asking)
      return days.items.map(({ path }) => path)
    }
    expect(await run(0, 'Bearer of-the-first-day', 'list')).toEqual(['by list'])
    expect((await keptIn(days, place)).includes('of-the-first-day')).toBe(true)
    // Long before its hour, and at its hour.
    expect(await run(1, 'Bearer of-the-second', 'newList')).toEqual([])
    expect((await keptIn(days, place)).includes('of-the-first-day')).toBe(false)
    expect(await run(23, 'Bearer of-the-second', 'newList')).toEqual(['by newList'])
    expect(await run(24, 'Bearer of-the-third', 'newList')).toEqual([])
    expect(sent).toEqual(['Bearer of-the-first-day', 'Bearer of-the-second', 'Bearer of-the-third'])
    expect((await keptIn(days, place)).includes('of-the-second')).toBe(false)
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
