/** Sites without end are cut, and long ones are not: whole crawls of sites made up for it. */

import { IN_FULL, inFull } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import type { Response } from 'webloom'
import { crawled, eachIsFetched, NAVIGATION, type Site } from './trap-site.ts'

/** Chains are cut sooner than by default, and what is not cut is as much shorter. */
const SHORT_CHAIN = 40
const SETTINGS = IN_FULL ? {} : { TRAP_CHAIN_MAX: SHORT_CHAIN }
const PAGES = IN_FULL ? 300 : 2 * SHORT_CHAIN
/** What may be fetched of an endless chain: fewer than the default allows, where it is shorter. */
const MOST = inFull<number>(300, 100)

const numberIn = (query: URLSearchParams, key: string) => Number(query.get(key) ?? 0)

describe('cut', () => {
  const traps: [string, Site, string, number, string][] = [
    [
      'a calendar whose months lead to the next',
      (_, query) => [`/cal?month=${numberIn(query, 'month') + 1}`],
      '/cal?month=1',
      MOST,
      'trap/chain',
    ],
    [
      'a calendar that leads both ways, with navigation',
      (path, query) => {
        const month = numberIn(query, 'month')
        return path === '/cal'
          ? [...NAVIGATION, `/cal?month=${month - 1}`, `/cal?month=${month + 1}`]
          : [...NAVIGATION, '/cal']
      },
      '/',
      MOST,
      'trap/chain',
    ],
    [
      'a calendar with a login on each page that comes back to it',
      (path, query) => {
        const month = numberIn(query, 'month')
        return path === '/cal' ? [`/cal?month=${month + 1}`, `/login?next=${month}`] : []
      },
      '/cal?month=1',
      MOST,
      'trap/chain',
    ],
    [
      'a page that has a new session for everybody who comes',
      (path) => (path.startsWith('/in') ? [`/in;jsessionid=${Math.random()}`, ...NAVIGATION] : ['/in']),
      '/',
      MOST,
      'trap/chain',
    ],
    [
      'the last page of a list, which leads on to itself under the next number',
      (_, query) => ['/a', '/b', `/list?page=${numberIn(query, 'page') + 1}`],
      '/list?page=1',
      MOST,
      'trap/chain',
    ],
    ['a link to a folder of itself', () => ['deeper/'], '/', 10, 'trap/repeated_segments'],
    ['two links to folders', () => ['foo/', 'bar/'], '/', 200, 'trap/repeated_segments'],
    ['folders with ever new names', (path) => [`${path}x${path.length}/`], '/', 30, 'trap/too_many_segments'],
  ]
  test.each(traps)('%s', { timeout: 60_000 }, async (_, site, start, most, reason) => {
    const { fetched, stats, finishReason } = await crawled(site, start, { settings: SETTINGS })
    expect(finishReason).toBe('finished')
    expect(fetched.length).toBeGreaterThan(2)
    expect(fetched.length).toBeLessThanOrEqual(most)
    expect(stats[reason]).toBeGreaterThan(0)
  })

  test('a calendar, where no setting says how soon', async () => {
    const site: Site = (_, query) => [`/cal?month=${numberIn(query, 'month') + 1}`]
    const { fetched, stats } = await crawled(site, '/cal?month=1')
    expect(fetched.length).toBeGreaterThanOrEqual(140)
    expect(fetched.length).toBeLessThanOrEqual(300)
    expect(stats['trap/chain']).toBeGreaterThan(0)
  })

  test('the last page of a list with its items, again and again', async () => {
    const site: Site = (_, query) => [`/list?page=${numberIn(query, 'page') + 1}`]
    const itemsOf = () => [{ name: 'one' }, { name: 'two' }]
    const { fetched } = await crawled(site, '/list?page=1', { itemsOf, settings: SETTINGS })
    expect(fetched.length).toBeLessThanOrEqual(MOST)
  })

  test('all combinations of a shop’s filters, with TRAP_PAGES_PER_PATH', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f']
    const site: Site = (_, query) =>
      keys.flatMap((key) =>
        ['1', '2', '3'].map((value) => {
          const more = new URLSearchParams(query)
          more.set(key, value)
          return `/shop?${more}`
        }),
      )
    const { fetched, stats } = await crawled(site, '/shop', {
      settings: { TRAP_PAGES_PER_PATH: IN_FULL ? 100 : 20 },
    })
    // What was queued by then is still fetched.
    expect(fetched.length).toBeLessThan(IN_FULL ? 1500 : 300)
    expect(stats['trap/pages_per_path']).toBeGreaterThan(0)
  })

  test('a host with ever new paths, with TRAP_PAGES_PER_HOST', async () => {
    const site: Site = (path) => [`/${Number(path.slice(1)) + 1}`]
    const { fetched, stats } = await crawled(site, '/1', { settings: { TRAP_PAGES_PER_HOST: 50 } })
    expect(fetched).toHaveLength(50)
    expect(stats['trap/pages_per_host']).toBe(1)
  })
})

describe('not cut', () => {
  test('a chain of 100 good pages', async () => {
    const site: Site = (_, query) =>
      numberIn(query, 'page') < 100 ? [`/list?page=${numberIn(query, 'page') + 1}`] : []
    const { fetched } = await crawled(site, '/list?page=1')
    expect(new Set(fetched).size).toBe(100)
  })

  const windowOf = (page: number, pages: number): string[] =>
    Array.from({ length: 9 }, (_, n) => page - 4 + n)
      .filter((n) => n >= 1 && n <= pages)
      .map((n) => `/list?page=${n}`)

  const lists: [string, Site, (response: Response) => object[]][] = [
    [
      'with items',
      (_, query) => [...NAVIGATION, `/list?page=${Math.min(PAGES, numberIn(query, 'page') + 1)}`],
      ({ url }) => [1, 2, 3].map((n) => ({ name: `${n} of ${url.split('=')[1]}` })),
    ],
    [
      'with one item of its own',
      (_, query) => [`/list?page=${Math.min(PAGES, numberIn(query, 'page') + 1)}`],
      ({ url }) => [{ name: wordFor(Number(url.split('=')[1])) }],
    ],
    [
      'with links to what it lists',
      (path, query) => {
        const page = numberIn(query, 'page')
        return path === '/list' ? [`/thread/${page}`, ...windowOf(page, PAGES), ...NAVIGATION] : NAVIGATION
      },
      ({ url }) => [{ url }],
    ],
    [
      'with links to what it lists, by query',
      (path, query) => {
        const page = numberIn(query, 'page')
        return path === '/list' ? [`/t?id=${page}`, `/t?id=${page}b`, ...windowOf(page, PAGES)] : NAVIGATION
      },
      () => [],
    ],
  ]
  test.each(lists)('a list of many pages %s', { timeout: 60_000 }, async (_, site, itemsOf) => {
    const { fetched } = await crawled(site, '/list?page=1', { itemsOf, settings: SETTINGS })
    expect(fetched.filter((url) => url.startsWith('/list?page=')).length).toBe(PAGES)
  })

  test('pages /p/<n>.html', () => eachIsFetched(PAGES, SETTINGS))

  test('a site of pages that differ by their query, depth first', { timeout: 60_000 }, async () => {
    const pages = IN_FULL ? 800 : 4 * SHORT_CHAIN
    // Each page links to ten others, so that a walk down never meets the end of the site.
    const site: Site = (_, query) =>
      Array.from({ length: 10 }, (_, n) => `/p?id=${(numberIn(query, 'id') * 10 + n + 1) % pages}`)
    const { fetched } = await crawled(site, '/p?id=0', {
      settings: { SCHEDULER_QUEUE_CLASS: 'lifo', ...SETTINGS },
    })
    expect(new Set(fetched).size).toBe(pages)
  })
})

/** A word without digits for a number. */
function wordFor(n: number): string {
  return n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)
}
