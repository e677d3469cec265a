/** Crawls that come back to their pages, whose requests are changed on their way or are under way twice. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Request, type Response, type SettingsInput } from 'webloom'
import { Days, pathsOf, Shop } from './recrawl-days.ts'

// The runs are days apart; what happens within a run goes by other clocks.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a page that is leased twice at once has one record, and both leases know its last visit', async () => {
  await using days = await Days.of({ pages: 1, validators: 'none' })
  const allAsked = Promise.withResolvers<void>()
  let isTwice = false
  class Twice extends Shop {
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll('a', { callback: this.parseInTime })
      if (!isTwice) return
      for (const n of [1, 2])
        yield response.follow('/p/0', { callback: this.parseInTime, dontFilter: true, meta: { n } })
    }

    async *parseInTime(response: Response) {
      if (isTwice) await allAsked.promise
      yield* this.parseItem(response)
    }
  }
  await days.run(0, {}, Twice)
  isTwice = true
  days.web.asked()
  // The start page, the page because it is due, and twice more.
  let asked = 0
  days.web.onAsked = () => {
    if (++asked === 4) allAsked.resolve()
  }
  const { stats } = await days.run(24, {}, Twice)
  expect(days.items).toEqual([])
  expect(stats).toMatchObject({ 'recrawl/unchanged_count': 4 })
  expect(stats['recrawl/failed_count']).toBeUndefined()
  isTwice = false
  days.web.asked()
  await days.run(24, {}, Twice)
  expect(pathsOf(days.web.asked())).toEqual(['/', '/p/0'])
})

test('a page whose meta a middleware or a callback has replaced keeps its schedule', async () => {
  await using days = await Days.of({ pages: 2 })
  class Replaces {
    processResponse(request: Request, response: Response): Response {
      request.meta = { mine: 1 }
      response.request.meta = { mine: 1 }
      return response
    }
  }
  const settings: SettingsInput = { DOWNLOADER_MIDDLEWARES: [[Replaces, 10]] }
  await days.run(0, settings)
  const first = pathsOf(days.web.asked())
  for (const _ of [1, 2]) {
    const { stats } = await days.run(24, settings)
    expect(pathsOf(days.web.asked())).toEqual(first)
    expect(stats).toMatchObject({ 'recrawl/unchanged_count': 3 })
  }
})

test('the target of a redirect is visited again also where its headers are part of its fingerprint', async () => {
  await using days = await Days.of({ pages: 1 })
  class Entrance extends Shop {
    override *start() {
      yield new Request(`${days.web.origin}/old`, { headers: { 'x-kind': 'a' } })
    }
  }
  days.web.redirect('/old', '/')
  const settings: SettingsInput = { FINGERPRINT_INCLUDE_HEADERS: ['x-kind'] }
  for (const hours of [0, 24, 24]) {
    await days.run(hours, settings, Entrance)
    expect(pathsOf(days.web.asked())).toEqual(['/', '/old', '/p/0'])
  }
})
