/** Crawls in a JOBDIR by real processes: killed, stopped, run twice at once, and run again. */

import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { type FakeWeb, startFakeWeb } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fingerprint, Request } from 'webloom'
import { crawlWithKills, JobFolder, messages, spiderOf } from './jobdir-crawl.ts'

let web: FakeWeb
beforeAll(async () => {
  web = await startFakeWeb({ seed: 31, hosts: 3, pagesPerHost: 18, crossHostLinks: 0.2, latencyMs: [0, 12] })
})
afterAll(() => web.close())
beforeEach(() => web.resetHits())

const CONCURRENCY = 8
const BOUNDED = ['-s', `CONCURRENT_REQUESTS=${CONCURRENCY}`]

/** Runs until so many pages were asked for, then asks it to stop. */
async function stopped(folder: JobFolder, hits: number, ...args: string[]) {
  const running = folder.start(...BOUNDED, ...args)
  await web.waitForHits(web.hits.length + hits, 20_000)
  running.kill('SIGINT')
  return running.exited
}

/** The fingerprints in `requests.seen`, as Scrapy 2.19 would read them. */
function recordsOf(folder: JobFolder): string[] {
  const bytes = readFileSync(folder.path('job/requests.seen'))
  return Array.from({ length: bytes.length / 22 }, (_, n) => bytes.toString('hex', 22 * n + 2, 22 * n + 22))
}

describe('a crawl that is killed', () => {
  test('goes on when it is run again: no page is lost, and only what was in flight is fetched twice', async () => {
    await using folder = await JobFolder.of(web)
    // First as soon as a page is asked for, before anything was answered.
    const { kills, inFlight, repeats, last } = await crawlWithKills(folder, web, [1, 20], BOUNDED)
    expect({ code: last.code, kills }, last.stderr).toEqual({ code: 0, kills: 2 })
    expect(new Set(web.hits.map(({ url }) => url))).toEqual(web.linked())
    expect(new Set(folder.itemUrls())).toEqual(web.reachable())
    console.log(`in flight at ${kills} kills: ${inFlight}, fetched twice: ${repeats}`)
    expect(repeats).toBeLessThanOrEqual(inFlight)
    expect(messages(last)).toContainEqual(
      expect.stringMatching(/^\d+ requests of this crawl are queued already: going on with them$/),
    )
    const seen = recordsOf(folder)
    const all = [...web.linked()].map((url) => fingerprint(new Request(url)))
    expect(seen.toSorted()).toEqual(all.toSorted())
  })

  test('start() is not run from its beginning: what it had yielded is not fetched again', async () => {
    const start = `async *start() {
      for (let n = 0; n < 40; n++) yield n % 10 === 5 ? { url: 'item ' + n } : new Request('${web.origins[0]}/start?n=' + n, { dontFilter: true, callback: 'leaf' })
    }
    *leaf(response: Response) { yield { url: response.url } }`
    await using folder = await JobFolder.of(web, spiderOf(web, start))
    web.route(0, '/start', (_, response) =>
      response.setHeader('content-type', 'text/html').end('<title>x</title>'),
    )
    const { kills, inFlight, repeats, last } = await crawlWithKills(
      folder,
      web,
      // The second kill is of a start() that was resumed.
      [7, 9],
      [...BOUNDED, '-s', 'START_LOW_WATER=2'],
    )
    expect({ code: last.code, kills }, last.stderr).toEqual({ code: 0, kills: 2 })
    expect(new Set(web.hits.map(({ url }) => url)).size).toBe(36)
    expect(repeats).toBeLessThanOrEqual(inFlight)
    const items = new Set(folder.itemUrls())
    for (const n of [5, 15, 25, 35]) expect(items).toContain(`item ${n}`)
    expect(items.size).toBe(40)
  })
})

describe('a crawl that is stopped', () => {
  test('prints the line that resumes it, loses nothing and repeats nothing', async () => {
    await using folder = await JobFolder.of(web)
    const first = await stopped(folder, 15, '-o', 'it is out.jsonl')
    expect(first.code).toBe(130)
    const line = `webloom runspider spider.ts -s JOBDIR=job -s CONCURRENT_REQUESTS=${CONCURRENCY} -o 'it is out.jsonl'`
    expect(first.stderr).toContain(`\n  ${line}\n`)
    const second = await folder.run(...BOUNDED, '-o', 'it is out.jsonl')
    expect(second.code, second.stderr).toBe(0)
    expect(second.stderr).not.toContain('To go on')
    expect(web.hits.map(({ url }) => url).toSorted()).toEqual([...web.linked()].toSorted())
    expect(folder.itemUrls('it is out.jsonl').toSorted()).toEqual([...web.reachable()].toSorted())
  })

  test('by CLOSESPIDER_PAGECOUNT goes on too', async () => {
    await using folder = await JobFolder.of(web)
    const first = await folder.run('-s', 'CLOSESPIDER_PAGECOUNT=15')
    expect(messages(first).at(-1)).toBe('crawl ended: closespider_pagecount')
    expect((await folder.run()).code).toBe(0)
    expect(web.hits.map(({ url }) => url).toSorted()).toEqual([...web.linked()].toSorted())
  })

  test('-O on resume keeps the first half, in each format', async () => {
    await using folder = await JobFolder.of(web)
    for (const name of ['out.jsonl', 'out.json', 'out.csv'])
      writeFileSync(folder.path(name), '{"url":"old"}\n')
    const outputs = ['-O', 'out.jsonl', '-O', 'out.json', '-O', 'out.csv']
    await stopped(folder, 15, ...outputs)
    const half = JSON.parse(folder.read('out.json')) as { url: string }[]
    expect(half.map(({ url }) => url)).toEqual(folder.itemUrls())
    const second = await folder.run(...outputs)
    expect(second.code, second.stderr).toBe(0)
    const every = [...web.reachable()].toSorted()
    expect(folder.itemUrls().toSorted()).toEqual(every)
    const whole = JSON.parse(folder.read('out.json')) as { url: string }[]
    expect(whole.map(({ url }) => url).toSorted()).toEqual(every)
    const rows = folder.read('out.csv').trim().split('\r\n')
    expect(rows[0]).toBe('url,title')
    expect(
      rows
        .slice(1)
        .map((row) => row.split(',')[0]!)
        .toSorted(),
    ).toEqual(every)
    expect(existsSync(folder.path('out.json.spool'))).toBe(false)
  })
})

test('a crawl that was stopped when all was done says that nothing is left, and is not taken for an empty one', async () => {
  const start = `async *start() { yield new Request('${web.origins[0]}/only', { callback: 'leaf' }) }
    *leaf(response: Response) { yield { url: response.url } }`
  await using folder = await JobFolder.of(web, spiderOf(web, start))
  web.route(0, '/only', (_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>x</title>'),
  )
  const nothingLeft = expect.stringMatching(/^nothing was left to fetch/)
  const first = await folder.run('-s', 'CLOSESPIDER_PAGECOUNT=1')
  expect(messages(first).at(-1)).toBe('crawl ended: closespider_pagecount')
  expect(messages(first)).not.toContainEqual(nothingLeft)
  const second = await folder.run('-s', 'FAIL_ON_EMPTY=true')
  expect(second.code, second.stderr).toBe(0)
  expect(messages(second)).toContainEqual(nothingLeft)
  expect(second.stderr).not.toContain('nothing was crawled')
})

test('a finished crawl is not begun again: it says so, fetches nothing, and leaves its outputs', async () => {
  await using folder = await JobFolder.of(web)
  expect((await folder.run('-O', 'out.jsonl')).code).toBe(0)
  const before = folder.read('out.jsonl')
  web.resetHits()
  const again = await folder.run('-O', 'out.jsonl', '--stats-file', 'stats.json')
  expect(again.code).toBe(0)
  expect(messages(again)).toContainEqual(
    expect.stringMatching(/^this crawl finished on \d{4}-.*Remove the folder job or choose another JOBDIR/),
  )
  expect(web.hits).toEqual([])
  expect(folder.read('out.jsonl')).toBe(before)
  expect(JSON.parse(folder.read('stats.json'))).toEqual(
    expect.objectContaining({ finish_reason: 'finished' }),
  )
})

test('a second process in the same folder is refused with the name of the first, and the first goes on', async () => {
  const asked = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<void>()
  web.route(0, '/held', async (_, response) => {
    asked.resolve()
    await refused.promise
    response.end('it may end now')
  })
  const start = `async *start() {
    yield* super.start()
    yield new Request('${web.origins[0]}/held', { callback: 'none' })
  }
  *none() {}`
  await using folder = await JobFolder.of(web, spiderOf(web, start))
  await using first = folder.start('-o', 'out.jsonl')
  await Promise.race([asked.promise, first.exited])
  const second = await folder.run('-o', 'second.jsonl')
  refused.resolve()
  expect(second.code).toBe(2)
  expect(second.stderr).toMatch(
    new RegExp(`/job is in use by process ${first.pid}\\b.*\\[WL_JOBDIR_LOCKED\\]`),
  )
  expect((await first.exited).code).toBe(0)
  expect(new Set(folder.itemUrls())).toEqual(web.reachable())
  expect(existsSync(folder.path('second.jsonl'))).toBe(false)
})

describe('requests.seen', () => {
  const half = () => [...web.reachable()].filter((_, index) => index % 2 === 1 && !web.seeds.includes(_))

  test('of Scrapy is imported, and its torn last entry is cut', async () => {
    await using folder = await JobFolder.of(web, spiderOf(web))
    await stopped(folder, 1)
    const known = half().map((url) => fingerprint(new Request(url)))
    appendFileSync(
      folder.path('job/requests.seen'),
      Buffer.from(`${known.map((hex) => `0014${hex}`).join('')}0014a1`, 'hex'),
    )
    const asked = new Set(web.hits.map(({ url }) => url))
    const { stderr, code } = await folder.run()
    expect(code, stderr).toBe(0)
    expect(messages({ stderr })).toContainEqual(expect.stringMatching(/in the middle of an entry/))
    expect(messages({ stderr })).toContainEqual(
      expect.stringMatching(/^requests\.seen: \d+ seen requests imported/),
    )
    for (const hex of recordsOf(folder)) expect(hex).toMatch(/^[0-9a-f]{40}$/)
    expect(asked.size).toBeGreaterThan(0)
  })

  test('is completed when a kill came between commit and file, and written anew when it is gone', async () => {
    await using folder = await JobFolder.of(web)
    await stopped(folder, 15)
    const before = recordsOf(folder)
    truncateSync(folder.path('job/requests.seen'), 22 * 2 + 5)
    expect((await folder.run()).code).toBe(0)
    const lines = recordsOf(folder)
    expect(new Set(lines).size).toBe(lines.length)
    expect(lines.length).toBe(web.linked().size)
    expect(lines.slice(0, before.length)).toEqual(before)
  })
})

test.runIf(process.platform === 'linux').each([
  ['/proc/x', /JOBDIR \/proc\/x cannot be used: ENOENT/],
  ['spider.ts', /spider.ts is a file, or lies below one; expected a folder/],
])('where no folder can be made, %s, the crawl does not start', async (place, message) => {
  await using folder = await JobFolder.of(web)
  const { code, stderr } = await folder.run('-s', `JOBDIR=${place}`)
  expect(stderr).toMatch(message)
  expect(code).toBe(2)
})

test.each([
  [
    'another spider',
    (folder: JobFolder) => folder.writeSpider(spiderOf(web).replace("'everything'", "'other'")),
    [],
    /holds a crawl of spider everything/,
  ],
  [
    'another fingerprinter',
    () => {},
    ['-s', 'FINGERPRINTER=scrapy-redis'],
    /begun with FINGERPRINTER=scrapy/,
  ],
] as const)('a folder is refused to %s', async (_, change, args, message) => {
  await using folder = await JobFolder.of(web)
  await folder.run('-s', 'CLOSESPIDER_PAGECOUNT=1')
  change(folder)
  const { code, stderr } = await folder.run(...args)
  expect(stderr).toMatch(message)
  expect(code).toBe(2)
})
