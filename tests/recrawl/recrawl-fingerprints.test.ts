/** A crawl in a JOBDIR that comes back to its pages, and of which FINGERPRINTER makes other fingerprints than before. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fingerprint, type Request } from 'webloom'
import { Days, pathsOf } from './recrawl-days.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Of one name: that is noted beside fingerprints. */
const by = (make: (request: Request) => string) => ({ FINGERPRINTER: (request: Request) => make(request) })
const USUAL = by(fingerprint)

/** Gives a page the fingerprint that another one has otherwise. */
const renaming = (names: Readonly<Record<string, string>>) => (request: Request) => {
  const { pathname } = new URL(request.url)
  const other = names[pathname]
  return fingerprint(
    other === undefined ? request : request.replace({ url: new URL(other, request.url).href }),
  )
}

test.each<[string, Record<string, string>]>([
  ['two pages change fingerprints with each other', { '/p/1': '/p/2', '/p/2': '/p/1' }],
  ['each takes that of the next', { '/p/1': '/p/2', '/p/2': '/p/3', '/p/3': '/none' }],
  ['some take those of others in a circle', { '/p/4': '/p/1', '/p/1': '/p/2', '/p/2': '/p/4' }],
])('%s: each is visited once a day, with what is known of it', async (_, names) => {
  await using days = await Days.of({ pages: 9 })
  await days.run(0, USUAL)
  const first = pathsOf(days.web.asked())
  for (const day of [1, 2]) {
    const { stats } = await days.run(24, by(renaming(names)))
    expect(pathsOf(days.web.asked())).toEqual(first)
    expect(stats['recrawl/moved_count'] ?? 0).toBe(day === 1 ? Object.keys(names).length : 0)
    expect(stats['recrawl/unchanged_count']).toBe(10)
  }
  await days.run(24, USUAL)
  expect(pathsOf(days.web.asked())).toEqual(first)
})

test('pages whose names change while they wait in a line keep their schedules', async () => {
  await using days = await Days.of({ pages: 9 })
  await days.run(0, USUAL)
  const first = pathsOf(days.web.asked())
  const settings = { ...USUAL, CLOSESPIDER_PAGECOUNT: 2, CONCURRENT_REQUESTS: 1 }
  await days.run(24, settings)
  const some = pathsOf(days.web.asked())
  expect(some.length).toBeLessThan(5)
  const swapped = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`/p/${n}`, `/p/${n ^ 1}`]))
  await days.run(0, by(renaming(swapped)))
  expect([...some, ...pathsOf(days.web.asked())].sort()).toEqual(first)
  await days.run(24, by(renaming(swapped)))
  expect(pathsOf(days.web.asked())).toEqual(first)
})

test('a page on which FINGERPRINTER throws is visited under its old fingerprint, and told', async () => {
  await using days = await Days.of({ pages: 9 })
  await days.run(0, USUAL)
  const first = pathsOf(days.web.asked())
  const throwing = by((request) => {
    if (request.url.endsWith('/p/3')) throw new Error('no name for this')
    return fingerprint(request)
  })
  for (const day of [1, 2]) {
    days.web.change('/p/3')
    const { stats } = await days.run(24, throwing)
    expect(pathsOf(days.web.asked())).toEqual(first)
    expect(days.items).toMatchObject([{ path: '/p/3', visitsBefore: day }])
    // A start page that is sent whole leads to it, too.
    expect(stats['scheduler/no_fingerprint_count']).toBeGreaterThanOrEqual(1)
    expect(days.said).toContain(
      'FINGERPRINTER threw; the page is visited under the fingerprint that it had before',
    )
  }
  await days.run(24, USUAL)
  expect(pathsOf(days.web.asked())).toEqual(first)
})
