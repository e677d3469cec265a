/** What a run asks for first, and what a link hands to its page, in crawls that come back (RECRAWL). */

import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Request, type Response } from 'webloom'
import { Days, type Item, pathsOf, Shop } from './recrawl-days.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('a login of start() is done before any page that is due is asked for (issue 22)', async () => {
  await using days = await Days.of({ pages: 5 })
  class Member extends Shop {
    override async *start() {
      const options = { meta: { recrawl: false }, dontFilter: true }
      yield new Request(`${days.web.origin}/login`, { ...options, callback: 'loggedIn' })
    }

    *loggedIn(response: Response) {
      yield response.follow('/welcome', {
        ...{ meta: { recrawl: false }, dontFilter: true, callback: this.welcomed },
      })
    }

    *welcomed(response: Response) {
      for (let n = 0; n < 5; n++) yield response.follow(`/p/${n}`, { callback: this.parseItem })
    }
  }
  // A login takes its time: whoever does not wait for it is there before.
  days.web.onAsked = async (path) => {
    // Waits: a server that takes its time.
    if (path === '/login' || path === '/welcome') await sleep(100)
  }
  for (const hours of [0, 24]) {
    await days.run(hours, {}, Member)
    const asked = days.web.asked()
    expect(asked.slice(0, 2).map(({ path }) => path)).toEqual(['/login', '/welcome'])
    expect(pathsOf(asked.slice(2))).toEqual([0, 1, 2, 3, 4].map((n) => `/p/${n}`))
  }
})

test('pages that are due wait for no start() that has no login', async () => {
  await using days = await Days.of({ pages: 3 })
  await days.run(0)
  class Later extends Shop {
    override async *start() {
      yield new Request(`${days.web.origin}/new`, { callback: 'nothing' })
      await allAsked
    }

    *nothing() {}
  }
  const { promise: allAsked, resolve } = Promise.withResolvers<void>()
  let asked = 0
  days.web.onAsked = () => {
    if (++asked === 5) resolve()
  }
  await days.run(24, {}, Later)
  expect(asked).toBe(5)
})

test('what a list says of its pages is new with each change of the list where their links say so (issue 22)', async () => {
  await using days = await Days.of({ pages: 2, validators: 'none' })
  let listed = '10'
  class Two extends Shop {
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll('a', {
        ...{ callback: this.parseItem, cbKwargs: { listed }, meta: { recrawl: false }, dontFilter: true },
      })
    }

    override *parseItem(response: Response, values?: Record<string, unknown>): Generator<Item> {
      for (const item of super.parseItem(response)) yield { ...item, price: String(values?.listed) }
    }
  }
  await days.run(0, {}, Two)
  listed = '99'
  await days.run(24, {}, Two)
  expect(days.items.map(({ price }) => price)).toEqual(['99', '99'])
})
