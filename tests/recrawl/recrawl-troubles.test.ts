/** Pages that are gone or fail, and come back: none loses its schedule. In a JOBDIR and on Redis. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
import type { Response, SettingsInput } from 'webloom'
import { testIf } from '../setup/soaks.ts'
import { Days, pathsOf, Shop } from './recrawl-days.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

let crawls = 0
const kept: readonly (readonly [string, () => SettingsInput])[] = [
  ['in a JOBDIR', () => ({})],
  ['on Redis', () => ({ REDIS_URL: server.url, CRAWL_ID: `troubles-${++crawls}` })],
]

/** Its list has changed whenever its tag has. */
class Tagged extends Shop {
  override recrawlContent(response: Response) {
    return new URL(response.url).pathname === '/' ? response.headers.get('etag') : undefined
  }
}

describe.each(kept)('issue 22: %s', (place, settingsOf) => {
  const onRedis = place === 'on Redis'
  const gone = Array.from({ length: 12 }, (_, n) => `/p/${n}`)

  testIf(onRedis)(
    'a site whose pages were gone for two runs has them back a day later, and an ERROR says that they were',
    async () => {
      await using days = await Days.of({ pages: 16 })
      const settings = settingsOf()
      const told = () => days.said.filter((line) => line.includes('pages of 127.0.0.1'))
      await days.run(0, settings)
      for (const path of gone) days.web.remove(path)
      await days.run(24, settings)
      expect(told()).toEqual([])
      await days.run(24, settings)
      expect(told()).toEqual([
        expect.stringMatching(/^12 of 17 pages .* webloom refresh shop .*--match :\/\//),
      ])
      for (const path of gone) days.web.bringBack(path)
      days.web.asked()
      await days.run(24, settings)
      expect(pathsOf(days.web.asked())).toHaveLength(17)
      expect(pathsOf(days.items)).toEqual(gone.toSorted())
      expect(told()).toEqual([])
    },
  )

  testIf(!onRedis)(
    'a link on a page that has changed brings a page back that is gone, once a day at the most',
    async () => {
      await using days = await Days.of({ pages: 2 })
      const settings = settingsOf()
      const visited = async (hours: number) => {
        days.web.asked()
        await days.run(hours, settings, Tagged)
        return pathsOf(days.web.asked()).includes('/p/1')
      }
      await visited(0)
      days.web.remove('/p/1')
      // At the second visit it is gone, and the next ones are after one day, two and four.
      expect([await visited(24), await visited(24), await visited(24), await visited(24)]).toEqual([
        ...[true, true, true, false],
      ])
      expect(await visited(24)).toBe(true)
      days.web.change('/')
      expect(await visited(12)).toBe(false)
      expect(await visited(12)).toBe(true)
      days.web.bringBack('/p/1')
      expect(await visited(24)).toBe(false)
      days.web.change('/')
      expect(await visited(24)).toBe(true)
      expect(days.items).toMatchObject([{ path: '/p/1', changed: true }])
    },
  )

  for (const RECRAWL of ['fixed', 'adaptive'] as const)
    testIf(onRedis === (RECRAWL === 'fixed'))(
      `the first run after an outage visits start pages, and with fixed all pages: ${RECRAWL}`,
      async () => {
        await using days = await Days.of({ pages: 4 })
        const settings: SettingsInput = { ...settingsOf(), RECRAWL, RETRY_TIMES: 0 }
        await days.run(0, settings)
        days.web.isDown = true
        for (let day = 0; day < 5; day++) await days.run(24, settings)
        days.web.isDown = false
        days.web.asked()
        await days.run(24, settings)
        const asked = pathsOf(days.web.asked())
        expect(asked).toContain('/')
        const alone = days.said.filter((line) => line.includes('the last visit failed'))
        expect(alone).toHaveLength(RECRAWL === 'fixed' ? 0 : 1)
        if (RECRAWL === 'fixed') expect(asked).toHaveLength(5)
        else
          expect(alone[0]).toMatch(
            / leaves (about )?\d pages? alone, .* not due yet. .* webloom refresh shop/,
          )
      },
    )

  testIf(!onRedis)(
    'an interval that is shorter than the one of the run before is told of, with the line that makes it count',
    async () => {
      await using days = await Days.of({ pages: 3 })
      const settings = settingsOf()
      const told = () => days.said.filter((line) => line.includes('next visit'))
      const fixed = (RECRAWL_INTERVAL: number) => ({
        ...settings,
        RECRAWL: 'fixed' as const,
        RECRAWL_INTERVAL,
      })
      await days.run(0, fixed(720))
      await days.run(24, fixed(720))
      expect(told()).toEqual([])
      await days.run(24, fixed(24))
      expect(told()).toEqual([
        expect.stringMatching(
          /4 pages .* RECRAWL=fixed and RECRAWL_INTERVAL=24 .* webloom refresh shop .*--older 24h$/,
        ),
      ])
      await days.run(24, fixed(24))
      // The start page was visited.
      expect(told()).toEqual([expect.stringMatching(/ pages of this crawl /)])
      await days.run(24, { ...fixed(12), RECRAWL: 'adaptive' })
      expect(told()).toEqual([expect.stringMatching(/ 4 pages .* --older 12h$/)])
    },
  )
})
