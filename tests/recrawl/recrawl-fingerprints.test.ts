/** Crawls that come back to their pages, and of which FINGERPRINTER makes other fingerprints than before. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { fingerprint, Request, type SettingsInput } from 'webloom'
import { inSoaks, testIf } from '../setup/soaks.ts'
import { Days, pathsOf, Shop } from './recrawl-days.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
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

/** Each of two pages takes the other's. */
const SWAPPED = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`/p/${n}`, `/p/${n ^ 1}`]))

/** May ask for one page past the filter, whenever it is due, and for no other one. */
class AskingFor extends Shop {
  static isAsking = false

  override async *start() {
    const { href } = new URL('/sitemap.xml', this.startUrls[0])
    const meta = { recrawl: false }
    if (AskingFor.isAsking) yield new Request(href, { callback: this.ask, dontFilter: true, meta })
    else yield* super.start()
  }

  *ask() {
    const { href } = new URL('/p/3', this.startUrls[0])
    yield new Request(href, { callback: this.parseItem, dontFilter: true })
  }
}

let crawls = 0
const PLACES: [string, () => SettingsInput][] = [
  ['in a JOBDIR', () => ({})],
  ['on Redis', () => ({ REDIS_URL: server.url, CRAWL_ID: `names-${++crawls}` })],
]

const SWAPS: [string, Record<string, string>][] = [
  ['two pages change fingerprints with each other', { '/p/1': '/p/2', '/p/2': '/p/1' }],
  ['each takes that of the next', { '/p/1': '/p/2', '/p/2': '/p/3', '/p/3': '/none' }],
  ['some take those of others in a circle', { '/p/4': '/p/1', '/p/1': '/p/2', '/p/2': '/p/4' }],
]

describe.each(PLACES)('%s', (name, placeOf) => {
  const onRedis = name === 'on Redis'
  const [two, next, circle] = SWAPS
  test.each(onRedis ? [circle!, ...inSoaks(two!, next!)] : [next!, ...inSoaks(two!, circle!)])(
    '%s: each is visited once a day, with what is known of it',
    async (_, names) => {
      await using days = await Days.of({ pages: 9 })
      const place = placeOf()
      await days.run(0, { ...place, ...USUAL })
      const first = pathsOf(days.web.asked())
      for (const day of [1, 2]) {
        const { stats } = await days.run(24, { ...place, ...by(renaming(names)) })
        expect(pathsOf(days.web.asked())).toEqual(first)
        expect(stats['recrawl/moved_count'] ?? 0).toBe(day === 1 ? Object.keys(names).length : 0)
        expect(stats['recrawl/unchanged_count']).toBe(10)
      }
      await days.run(24, { ...place, ...USUAL })
      expect(pathsOf(days.web.asked())).toEqual(first)
    },
  )

  testIf(onRedis)('pages whose names change while they wait in a line keep their schedules', async () => {
    await using days = await Days.of({ pages: 9 })
    const place = placeOf()
    await days.run(0, { ...place, ...USUAL })
    const first = pathsOf(days.web.asked())
    const settings = { ...place, ...USUAL, CLOSESPIDER_PAGECOUNT: 2, CONCURRENT_REQUESTS: 1 }
    await days.run(24, settings)
    const some = pathsOf(days.web.asked())
    expect(some.length).toBeLessThan(5)
    await days.run(0, { ...place, ...by(renaming(SWAPPED)) })
    expect([...some, ...pathsOf(days.web.asked())].sort()).toEqual(first)
    await days.run(24, { ...place, ...by(renaming(SWAPPED)) })
    expect(pathsOf(days.web.asked())).toEqual(first)
  })

  testIf(!onRedis)(
    'pages that change fingerprints with others long before their hours are not taken for one another',
    async () => {
      await using days = await Days.of({ pages: 9 })
      const place = placeOf()
      AskingFor.isAsking = false
      await days.run(0, { ...place, ...USUAL }, AskingFor)
      const first = pathsOf(days.web.asked())
      const swapped = { ...place, ...by(renaming(SWAPPED)) }
      AskingFor.isAsking = true
      const { stats } = await days.run(1, swapped, AskingFor)
      expect(pathsOf(days.web.asked())).toEqual(['/p/3', '/sitemap.xml'])
      expect(stats).toMatchObject({ 'recrawl/moved_count': 8, 'recrawl/not_modified_count': 1 })
      AskingFor.isAsking = false
      await days.run(23.5, swapped, AskingFor)
      expect(pathsOf(days.web.asked())).toEqual(first)
      await days.run(24, swapped, AskingFor)
      expect(pathsOf(days.web.asked())).toEqual(first)
    },
  )
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
