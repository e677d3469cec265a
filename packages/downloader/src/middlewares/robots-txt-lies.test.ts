import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Request, RetryLater } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { type Answer, robotsOfFile } from '../../testing/robots-of-file.ts'
import type { RobotsEntry, RobotsStore } from '../robots/robots-store.ts'

const robots = robotsOfFile()
const { robotsTxt, robotsHits, crawl } = robots

const FORBIDDEN = 'Forbidden by robots.txt'

describe('a robots.txt that lies', () => {
  const RULES = 'User-agent: *\nDisallow: /private\n'

  test.each<[string, Answer, string | number]>([
    [
      'a page',
      {
        headers: { 'content-type': 'text/html' },
        body: `<html><pre>${RULES}</pre><h1>Disallow: /</h1></html>`,
      },
      'fetched',
    ],
    [
      'bytes without meaning',
      { body: Buffer.from(Array.from({ length: 10_000 }, (_, n) => (n * 7919) % 256)) },
      'fetched',
    ],
    ['rules under another type', { headers: { 'content-type': 'image/png' }, body: RULES }, FORBIDDEN],
    ['rules, compressed', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(RULES) }, FORBIDDEN],
    ['rules, compressed, and not said so', { body: gzipSync(RULES) }, 'fetched'],
    ['rules that are said to be compressed', { headers: { 'content-encoding': 'gzip' }, body: RULES }, 2000],
    ['rules before 3 MB of others', { body: RULES + 'Allow: /private\n'.repeat(200_000) }, 'fetched'],
    ['rules behind 3 MB of comments', { body: `${'# comment\n'.repeat(300_000)}${RULES}` }, 'fetched'],
    ['rules before 10 MB of nothing', { body: `${RULES}${'#\n'.repeat(5_000_000)}` }, FORBIDDEN],
    ['a bomb', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(50_000_000)) }, 2000],
    ['fewer bytes than announced', { headers: { 'content-length': '1000' }, body: RULES }, 2000],
    ['nothing', { body: '' }, 'fetched'],
  ])('%s', async (_, answer, outcome) => {
    robotsTxt(answer)
    const { outcome: of } = crawl()
    if (answer.headers?.['content-length']) {
      robots.site.script = (req, res) => {
        res.writeHead(200, { 'content-length': '1000' })
        res.write(RULES, () => req.socket.destroy())
      }
    }
    expect(await of('/private')).toBe(outcome)
  })

  test('one that drips, and one that never begins, are left at the deadline', async () => {
    robots.site.script = (req, res) => {
      if (req.url !== '/robots.txt') return void res.end()
      res.writeHead(200)
      const drip = setInterval(() => res.write('U'), 10)
      res.on('close', () => clearInterval(drip))
    }
    const { outcome, stats } = crawl({ timeoutMs: 200 })
    expect(await outcome('/a')).toBe(2000)
    robots.site.script = () => {}
    expect(await outcome(`http://localhost:${robots.site.port}/a`)).toBe(2000)
    expect(stats.get('robotstxt/exception_count/DownloadTimeoutError')).toBe(2)
  })

  test('the deadline is for all redirects together', async () => {
    robots.site.script = (_, res) =>
      void setTimeout(() => res.writeHead(302, { location: '/robots.txt' }).end(), 100)
    expect(await crawl({ timeoutMs: 250 }).outcome('/a')).toBe(2000)
    // With one of its own each could go on for as long as there may be redirects.
    expect(robotsHits()).toBeLessThanOrEqual(3)
  })
})

describe('the host’s pace', () => {
  test.each([
    ['obey', '7', 7],
    ['obey', '1e9', 86_400],
    ['obey', 'inf', 86_400],
    ['cap', '7', 7],
    ['cap', '40', 30],
    ['ignore', '7', undefined],
    ['obey', '-5', undefined],
    ['obey', '0', undefined],
  ] as const)('CRAWL_DELAY=%s and a Crawl-delay of %s ask for %s', async (crawlDelay, written, seconds) => {
    robotsTxt(`User-agent: *\nCrawl-delay: ${written}\nDisallow: /private`)
    const asked: [string, number][] = []
    const onCrawlDelay = ({ url }: Request, delay: number) => void asked.push([url, delay])
    const { outcome } = crawl({ crawlDelay, onCrawlDelay })
    for (const path of ['/a', '/private', '/b']) await outcome(path)
    expect(asked).toEqual(
      seconds === undefined ? [] : ['/a', '/b'].map((path) => [robots.site.origin + path, seconds]),
    )
  })

  test('robots.txt counts as a request to its host: with a delay the request that waits for it goes back, once, and says so', async () => {
    robotsTxt('User-agent: *\nDisallow: /private')
    const started: string[] = []
    const onStart = ({ url }: Request) => void started.push(url)
    const { fetching, request, outcome } = crawl({ onStart, isPaced: () => true })
    const [first, waiting] = await Promise.all([
      fetching.result(request('/a')),
      fetching.result(request('/b')),
    ])
    expect(started).toEqual([`${robots.site.origin}/a`])
    expect([first, waiting]).toMatchObject([{ delayMs: 0 }, { delayMs: 0 }])
    const again = (first as RetryLater).request
    expect(again.url).toBe(`${robots.site.origin}/a`)
    const response = await fetching.response(again)
    expect(response.meta).toEqual({ download_latency: expect.any(Number) })
    expect([await outcome('/c'), await outcome('/private')]).toEqual(['fetched', FORBIDDEN])
    expect(robotsHits()).toBe(1)
  })

  test('who comes while robots.txt is being kept goes back, too, and overtakes nobody', async () => {
    robotsTxt('User-agent: *\nDisallow: /private')
    let kept: RobotsEntry | undefined
    let whileKept: Promise<unknown> | undefined
    const store: RobotsStore = {
      get: () => kept,
      async set(_, entry) {
        kept = entry
        whileKept = fetching.result(request('/b'))
        // Waits: a store that takes its time, and longer than the other request takes.
        await sleep(20)
      },
    }
    const { fetching, request, outcome } = crawl({ store, onStart() {}, isPaced: () => true })
    expect(await fetching.result(request('/a'))).toBeInstanceOf(RetryLater)
    expect(await whileKept).toBeInstanceOf(RetryLater)
    expect(await outcome('/c')).toBe('fetched')
    expect(robotsHits()).toBe(1)
  })

  test('without a delay the requests that wait for it go on at once, and share it', async () => {
    robotsTxt('User-agent: *\nDisallow: /private')
    const { outcome } = crawl({ onStart() {}, isPaced: () => false })
    expect(await Promise.all(['/a', '/private', '/b'].map((path) => outcome(path)))).toEqual([
      'fetched',
      FORBIDDEN,
      'fetched',
    ])
    expect(robotsHits()).toBe(1)
  })

  test('a Crawl-delay that it has just brought sends all that waited for it back', async () => {
    robotsTxt('User-agent: *\nCrawl-delay: 7')
    const { fetching, request } = crawl({ onStart() {}, isPaced: () => false })
    const results = await Promise.all(['/a', '/b'].map((path) => fetching.result(request(path))))
    for (const result of results) expect(result).toBeInstanceOf(RetryLater)
    expect(robotsHits()).toBe(1)
  })

  test('a request that went back is not asked for again, though nothing is remembered, nor in another worker', async () => {
    robotsTxt('')
    const forgetful: RobotsStore = { get: () => undefined, set() {} }
    const workers = [1, 2].map(() => crawl({ store: forgetful, onStart() {}, isPaced: () => true }))
    const back = (await workers[0]!.fetching.result(workers[0]!.request('/a'))) as RetryLater
    expect(back).toBeInstanceOf(RetryLater)
    expect((await workers[1]!.fetching.response(back.request)).status).toBe(200)
    expect(robotsHits()).toBe(1)
  })

  test('one that came back after robots.txt held no longer asks again', async () => {
    robotsTxt('', 'User-agent: *\nDisallow: /')
    const { fetching, request, clock } = crawl({ onStart() {}, isPaced: () => true })
    const back = (await fetching.result(request('/a'))) as RetryLater
    clock.nowMs += 86_400_000
    await expect(fetching.result(back.request)).rejects.toThrow(FORBIDDEN)
    expect(robotsHits()).toBe(2)
  })

  test('while a site cannot tell, its host need not be asked', async () => {
    robotsTxt({ status: 503 })
    const waits: [string, number][] = []
    const { outcome } = crawl({ onWait: ({ url }, ms) => void waits.push([url, ms]) })
    await outcome('/a')
    expect(waits).toEqual([[`${robots.site.origin}/a`, 2000]])
  })
})
