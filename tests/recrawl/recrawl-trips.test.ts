/** Pages that lead elsewhere, or to themselves, and pages whose fingerprint becomes another one, in a crawl that is run each day. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Request, type Response, type SettingsInput } from 'webloom'
import { Days, pathsOf, Shop } from './recrawl-days.ts'

// The runs are days apart; what happens within a run goes by other clocks.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('a crawl that is run each day', () => {
  test('a redirect is a visit of its own, and its target is asked for once a day', async () => {
    await using days = await Days.of({ pages: 2 })
    class Entrance extends Shop {
      override *start() {
        yield new Request(`${days.web.origin}/old`, { dontFilter: true })
      }
    }
    days.web.redirect('/old', '/')
    for (const hours of [0, 24, 24]) {
      await days.run(hours, {}, Entrance)
      expect(pathsOf(days.web.asked())).toEqual(['/', '/old', '/p/0', '/p/1'])
    }
  })

  test('with fingerprints that all begin alike, a redirect’s target and a link with the page’s meta are new pages', async () => {
    await using days = await Days.of({ pages: 0 })
    class Linked extends Shop {
      override *start() {
        for (const path of ['/old', '/p/1'])
          yield new Request(`${days.web.origin}${path}`, { callback: this.read, dontFilter: true })
      }

      *read(response: Response): Generator<unknown> {
        yield* this.parseItem(response)
        if (response.previousVisit)
          yield response.follow('/p/2', { meta: response.meta, callback: this.read })
      }
    }
    const settings: SettingsInput = { FINGERPRINTER: ({ url }: Request) => url }
    await days.run(0, settings, Linked)
    days.web.asked()
    days.web.change('/p/1')
    // Pages of equally long paths have the same tag here.
    days.web.redirect('/old', '/new')
    await days.run(24, settings, Linked)
    expect(days.web.asked().filter(({ status }) => status === 304)).toEqual([])
    expect(pathsOf(days.items)).toEqual(['/new', '/p/1', '/p/2'])
  })

  test('a page of which FINGERPRINTER makes another fingerprint while it is in a line keeps its history', async () => {
    await using days = await Days.of({ pages: 9 })
    const settings: SettingsInput = { CONCURRENT_REQUESTS: 1, FINGERPRINTER: ({ url }: Request) => url }
    await days.run(0, settings)
    const paths = days.items.map(({ path }) => path)
    days.web.change(...paths)
    await days.run(24, { ...settings, CLOSESPIDER_ITEMCOUNT: 2 })
    const before = days.items.length
    const { stats } = await days.run(0, {
      ...settings,
      FINGERPRINTER: ({ url }: Request) => url.replace('/p/', '/page/'),
    })
    expect(stats['recrawl/first_count']).toBeUndefined()
    expect(days.items).toHaveLength(paths.length - before)
    expect(days.items.every(({ visitsBefore }) => visitsBefore === 1)).toBe(true)
  })

  test('a page that redirects to itself is visited as any other, and not tried again as one that failed', async () => {
    await using days = await Days.of({ pages: 2 })
    days.web.redirect('/p/1', '/p/1')
    const { stats } = await days.run(0)
    expect(stats).toMatchObject({ 'redirect/to_itself': 1, 'recrawl/first_count': 3 })
    expect(stats['recrawl/failed_count']).toBeUndefined()
    expect(days.said.join()).toContain('the page redirects to itself')
    days.web.asked()
    await days.run(4)
    expect(days.web.asked()).toEqual([])
    expect((await days.run(20)).stats).toMatchObject({ 'recrawl/unchanged_count': 3 })
    days.web.redirect('/p/1', '/p/0')
    expect((await days.run(24)).stats).toMatchObject({ 'recrawl/changed_count': 1 })
  })

  test('a page that sends us back to itself once, as for a cookie, is well; one that does so for ever has failed once', async () => {
    await using days = await Days.of({ pages: 1 })
    class Entrance extends Shop {
      override *start() {
        for (const path of ['/old', '/loop?a&b'])
          yield new Request(`${days.web.origin}${path}`, { dontFilter: true })
      }
    }
    // One page, written in two ways.
    days.web.redirect('/loop?a&b', '/loop?b&a')
    days.web.redirect('/loop?b&a', '/loop?a&b')
    for (const hours of [0, 24, 24]) {
      days.web.redirect('/old', '/old')
      days.web.onAsked = (path) => {
        if (path === '/old') days.web.redirect('/old', '/')
      }
      const { stats } = await days.run(hours, { REDIRECT_MAX_TIMES: 3 }, Entrance)
      expect(stats).toMatchObject({ 'recrawl/failed_count': 1 })
      const asked = pathsOf(days.web.asked()).filter((path) => /old|loop/.test(path))
      expect(asked).toEqual(['/loop?a&b', '/loop?a&b', '/loop?b&a', '/loop?b&a', '/old', '/old'])
    }
  })
})
