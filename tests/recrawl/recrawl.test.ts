/** Crawls that come back to their pages (RECRAWL), each run a day after the one before, judged by what the site was asked for. */

import { IN_FULL } from '@webloom/testkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Request, type Response, type SettingsInput } from 'webloom'
import type { GonePage } from 'webloom/ports'
import { inSoaks } from '../setup/soaks.ts'
import type { Asked } from './changing-web.ts'
import { Days, type Item, pathsOf, Shop } from './recrawl-days.ts'

// The runs are days apart; what happens within a run goes by other clocks.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('a crawl that is run each day', () => {
  test('asks for each page once a day, by its validators, and writes what has changed', async () => {
    await using days = await Days.of({ pages: 20 })
    await days.run(0)
    expect(days.items).toHaveLength(20)
    const first = days.web.asked()
    expect(first).toHaveLength(21)

    expect((await days.run(1)).stats['recrawl/start_known_count']).toBe(1)
    expect(days.web.asked()).toEqual([])

    days.web.change('/p/7')
    const { stats } = await days.run(23)
    const second = days.web.asked()
    expect(pathsOf(second)).toEqual(pathsOf(first))
    expect(second.filter(({ status }) => status === 304).length).toBeGreaterThan(16)
    expect(days.items).toEqual([{ path: '/p/7', price: '11 EUR', changed: true, visitsBefore: 1 }])
    expect(stats).toMatchObject({ 'recrawl/changed_count': 1, 'recrawl/unchanged_count': 20 })

    await days.run(24)
    expect(pathsOf(days.web.asked())).toEqual(pathsOf(first))
    expect(days.items).toEqual([])
  })

  test('follows links to pages that are new, and writes all items where that is asked for', async () => {
    await using days = await Days.of({ pages: 3, validators: 'none' })
    let isNew = false
    class More extends Shop {
      override *parse(response: Response): Generator<unknown> {
        yield* super.parse(response)
        if (isNew) yield response.follow('/p/new', { callback: this.parseItem })
      }
    }
    await days.run(0, {}, More)
    isNew = true
    await days.run(24, {}, More)
    expect(days.items.map(({ path }) => path)).toEqual(['/p/new'])
    await days.run(24, { RECRAWL_UNCHANGED_ITEMS: true }, More)
    expect(days.items).toHaveLength(4)
    expect(days.items.every(({ changed }) => !changed)).toBe(true)
  })

  test('tells of a page that is gone once it has said so twice, and only then', async () => {
    await using days = await Days.of({ pages: 3 })
    const told: string[] = []
    class Told extends Shop {
      override gone(url: string): void {
        told.push(`spider ${new URL(url).pathname}`)
        throw new Error('the crawl goes on')
      }
    }
    class Tombstones {
      processItem(item: unknown) {
        return item
      }

      gone({ url, id }: GonePage) {
        told.push(`pipeline ${new URL(url).pathname} ${id.length}`)
      }
    }
    const settings: SettingsInput = { ITEM_PIPELINES: [[Tombstones, 1]] }
    await days.run(0, settings, Told)
    days.web.remove('/p/1')
    await days.run(24, settings, Told)
    expect(told).toEqual([])
    const { finishReason, stats } = await days.run(24, settings, Told)
    expect(told).toEqual(['spider /p/1', 'pipeline /p/1 40'])
    expect({ finishReason, threw: stats['recrawl/gone_error_count'] }).toEqual({
      finishReason: 'finished',
      threw: 1,
    })
    await days.run(24, settings, Told)
    expect(told).toHaveLength(2)
    expect(pathsOf(days.web.asked().slice(-4))).toEqual(['/', '/p/0', '/p/1', '/p/2'])
    await days.run(24, settings, Told)
    expect(pathsOf(days.web.asked())).toEqual(['/', '/p/0', '/p/2'])
  })

  test('a page that is back after it was told to be gone is fetched whole, and its items are written again', async () => {
    await using days = await Days.of({ pages: 3 })
    const settings: SettingsInput = { RECRAWL_INTERVAL_MAX: 24 }
    await days.run(0, settings)
    days.web.remove('/p/1')
    await days.run(24, settings)
    await days.run(24, settings)
    days.web.bringBack('/p/1')
    days.web.asked()
    await days.run(24, settings)
    expect(days.web.asked().find(({ path }) => path === '/p/1')?.status).toBe(200)
    expect(days.items).toEqual([{ path: '/p/1', price: '10 EUR', changed: true, visitsBefore: 1 }])
  })

  test('what the spider says is the content of a page decides', async () => {
    await using days = await Days.of({ pages: 3, validators: 'none' })
    class ByPrice extends Shop {
      override recrawlContent(response: Response) {
        return response.css('.price::text').get() === '12 EUR' ? 'dear' : 'cheap'
      }
    }
    await days.run(0, {}, ByPrice)
    days.web.change('/p/1', '/p/2')
    days.web.change('/p/2')
    await days.run(24, {}, ByPrice)
    expect(days.items.map(({ path }) => path)).toEqual(['/p/2'])
  })

  test('a callback that was changed sees all pages again', async () => {
    await using days = await Days.of({ pages: 3 })
    await days.run(0)
    class Other extends Shop {
      override *parseItem(response: Response): Generator<Item> {
        yield {
          path: new URL(response.url).pathname,
          price: 'other',
          changed: response.changed,
          visitsBefore: 1,
        }
      }
    }
    await days.run(24, {}, Other)
    expect(days.items).toHaveLength(3)
    expect(days.items.every(({ changed }) => changed)).toBe(true)
  })

  test('a page that is again as it was before its last change is seen, and is no proof against its host', async () => {
    await using days = await Days.of({ pages: 2 })
    for (let day = 0; day < 2; day++) await days.run(24)
    days.web.change('/p/1')
    await days.run(24)
    days.web.changeBack('/p/1')
    days.web.asked()
    const { stats } = await days.run(24)
    expect(days.web.asked().flatMap(({ path, status }) => (path === '/p/1' ? [status] : []))).toEqual([
      304, 200,
    ])
    expect(days.items).toMatchObject([{ path: '/p/1', price: '10 EUR', changed: true, visitsBefore: 3 }])
    expect(stats['recrawl/lying_hosts']).toBeUndefined()
    await days.run(24)
    expect(days.web.asked().find(({ path }) => path === '/p/1')?.status).toBe(304)
  })

  test('pages of a host whose budget is too small for all take turns', async () => {
    await using days = await Days.of({ pages: 9 })
    await days.run(0)
    days.web.asked()
    const settings: SettingsInput = { BUDGETS: { host: { pages: 4 } } }
    for (let day = 0; day < 5; day++) await days.run(24, settings)
    expect(new Set(pathsOf(days.web.asked())).size).toBe(10)
  })

  test('issue 22: pages that a budget refused before their first visit are visited in later runs', async () => {
    await using days = await Days.of({ pages: 9 })
    const first = await days.run(0, { BUDGETS: { host: { pages: 4 } } })
    expect(days.web.asked()).toHaveLength(4)
    const { stats } = await days.run(24)
    expect(new Set(pathsOf(days.web.asked())).size).toBe(10)
    expect(days.items).toHaveLength(6)
    expect(days.items.every(({ changed, visitsBefore }) => changed && visitsBefore === 0)).toBe(true)
    expect([first.stats['recrawl/first_count'], stats['recrawl/first_count']]).toEqual([4, 6])
    expect(first.stats['recrawl/failed_count']).toBeUndefined()
  })

  test('a run without RECRAWL that would take queued pages out of their schedule is refused', async () => {
    await using days = await Days.of({ pages: 9 })
    await days.run(0)
    await days.run(24, { CLOSESPIDER_PAGECOUNT: 2, CONCURRENT_REQUESTS: 1 })
    await expect(days.run(1, { RECRAWL: 'off' })).rejects.toThrow(
      'RECRAWL is off, and the crawl that goes on here',
    )
    await days.run(1)
    days.web.asked()
    await days.run(24)
    expect(days.web.asked()).toHaveLength(10)
  })

  test('a run without RECRAWL where nothing is queued is refused as well', async () => {
    await using days = await Days.of({ pages: 2 })
    await days.run(0)
    days.web.asked()
    await expect(days.run(24, { RECRAWL: 'off' })).rejects.toThrow(
      `-s RECRAWL=adaptive or -s RECRAWL=fixed, or forget the crawl with its visits: remove the folder ${days.folder('job')}, or set another JOBDIR`,
    )
    expect(days.web.asked()).toEqual([])
    await days.run(0)
    expect(days.web.asked()).toHaveLength(3)
    await days.run(0)
    expect(days.said).toContain(
      `RECRAWL: no page was due, so none was fetched. When is the next one due?  webloom visits list shop -s JOBDIR=${days.folder('job')} --limit 1`,
    )
  })

  test('a crawl in memory that ends is told that it forgets its visits', async () => {
    await using days = await Days.of({ pages: 2 })
    await days.run(0, { JOBDIR: null })
    expect(days.said.filter((line) => line.includes('forgets its visits'))).toHaveLength(1)
    await days.run(0)
    expect(days.said.filter((line) => line.includes('forgets its visits'))).toEqual([])
  })

  test('a clock that was ahead once is told of, as its pages are not due before', async () => {
    await using days = await Days.of({ pages: 2 })
    await days.run(0)
    await days.run(24 * 365)
    days.web.asked()
    await days.run(-24 * 364)
    expect(days.web.asked()).toEqual([])
    expect(
      days.said.filter((line) => line.includes('`webloom refresh shop` makes all pages due')),
    ).toHaveLength(1)
  })

  test('what a form answers says nothing of the tags of its host', async () => {
    await using days = await Days.of({ pages: 2, validators: 'same tags' })
    class Search extends Shop {
      override *parse(response: Response) {
        yield* super.parse(response)
        const url = response.urljoin('/search')
        yield new Request(url, { method: 'POST', body: 'q=1', callback: this.parseItem })
      }
    }
    await days.run(0, {}, Search)
    days.web.change('/search')
    const { stats } = await days.run(24, {}, Search)
    expect(days.items).toMatchObject([{ path: '/search', price: '11 EUR', changed: true }])
    expect(stats['recrawl/lying_hosts']).toBeUndefined()
  })

  test('another idea of the content sees all pages again, and is no proof against the host', async () => {
    await using days = await Days.of({ pages: 6 })
    await days.run(0)
    class ByPrice extends Shop {
      override recrawlContent(response: Response) {
        return response.css('.price::text').get()
      }
    }
    const { stats } = await days.run(24, {}, ByPrice)
    expect(days.items).toHaveLength(6)
    expect(stats['recrawl/lying_hosts']).toBeUndefined()
    days.web.asked()
    await days.run(24, {}, ByPrice)
    expect(days.web.asked().filter(({ status }) => status === 304).length).toBeGreaterThan(0)
  })

  test('a page that failed, or whose callback threw, is tried again soon, and what was known of it stays', async () => {
    await using days = await Days.of({ pages: 3 })
    class Throws extends Shop {
      override *parseItem(response: Response): Generator<Item> {
        if (response.url.endsWith('/p/1')) throw new Error('a mistake')
        yield* super.parseItem(response)
      }
    }
    await days.run(0, {}, Throws)
    expect(days.items).toHaveLength(2)
    days.web.asked()
    await days.run(3)
    expect(pathsOf(days.web.asked())).toEqual(['/p/1'])
    expect(days.items.map(({ path }) => path)).toEqual(['/p/1'])
  })
})

test('an honest host is believed from run to run: unchanged pages cost a 304, and a tenth of their bytes at most', async () => {
  const pages = 40
  const dayCount = IN_FULL ? 6 : 4
  await using days = await Days.of({ pages })
  await days.run(0)
  const whole = days.web.asked().reduce((sum, { bytes }) => sum + bytes, 0)
  const asked: Asked[] = []
  for (let day = 0; day < dayCount; day++) {
    const changed = `/p/${5 * day}`
    days.web.change(changed)
    await days.run(24)
    expect(days.items.map(({ path }) => path)).toEqual([changed])
    asked.push(...days.web.asked().filter(({ path }) => path !== changed))
  }
  expect(asked).toHaveLength(dayCount * pages)
  const spared = asked.filter(({ status }) => status === 304).length / asked.length
  expect(spared).toBeGreaterThanOrEqual(0.95)
  expect(asked.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(0.1 * dayCount * whole)
})

test('an HTTP cache beside it, which would hide changes, is warned of', async () => {
  await using days = await Days.of({ pages: 1 })
  await days.run(0, { HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: days.folder('cache') })
  expect(days.said.join('\n')).toContain('HTTPCACHE_ENABLED is true: pages that come from the cache')
})

test('monitors that take unchanged items for missing ones are warned of, once and only where items are not written again', async () => {
  await using days = await Days.of({ pages: 1 })
  const MONITORS = { items: { min: 1, drop: 0.3, everyMinutes: 9 }, coverage: { price: 0.5 } }
  const said = () => days.said.filter((line) => line.includes('will seem to be missing'))
  await days.run(0, { MONITORS })
  expect(said()).toEqual([
    expect.stringMatching(/^the monitor items\.min and the monitor items\.everyMinutes count the items/),
  ])
  await days.run(24, { MONITORS, RECRAWL_UNCHANGED_ITEMS: true })
  expect(said()).toEqual([])
  await days.run(24, { MONITORS: { coverage: { price: 0.5 } } })
  expect(said()).toEqual([])
})

describe('hosts that say that pages have not changed when they have', () => {
  test.each([
    ['always 304', 5],
    ['same tags', 1],
    ...inSoaks(['always 304', 20], ['always 304', 1], ['same tags', 20], ['same tags', 5]),
  ] as const)('%s, of %i pages: found out within five visits', async (validators, pages) => {
    await using days = await Days.of({ pages, validators })
    await days.run(0)
    const all = Array.from({ length: pages }, (_, n) => `/p/${n}`)
    for (let runs = 0; runs < 5; runs++) {
      days.web.change(...all)
      await days.run(24)
    }
    expect(pathsOf(days.items)).toEqual(all.sort())
  })
})

test('adaptive: pages that change are visited more often than pages that do not', async () => {
  await using days = await Days.of({ pages: 10 })
  const often = ['/p/0', '/p/1', '/p/2', '/p/3', '/p/4']
  const settings: SettingsInput = { RECRAWL: 'adaptive', RECRAWL_INTERVAL: 48 }
  await days.run(0, settings)
  days.web.asked()
  for (let half = 0; half < 20; half++) {
    if (half % 2 === 0) days.web.change(...often)
    await days.run(12, settings)
  }
  const asked = days.web.asked().map(({ path }) => path)
  const visits = (paths: readonly string[]) => asked.filter((path) => paths.includes(path)).length
  expect(visits(often)).toBeGreaterThan(1.5 * visits(['/p/5', '/p/6', '/p/7', '/p/8', '/p/9']))
})
