/** What `webloom status` tells of hosts that stand out, as a worker process has seen them. */

import { crawlRedisKeys } from '@webloom/queue'
import { type FakeWeb, type RouteHandler, startFakeWeb, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, followingSpider, SHORT_TIMES } from '../cluster/cluster-crawl.ts'

const PAGES = 400
const [FINE, FAILS, IS_DEAD, IS_SLOW, ASKS_TO_WAIT, HAS_NO_ROBOTS_TXT] = [0, 1, 2, 3, 4, 5]

/** A web with a host of each kind. */
async function unevenWeb(): Promise<FakeWeb> {
  const web = await startFakeWeb({ hosts: 6, pagesPerHost: PAGES, latencyMs: 20 })
  const answers = (host: number, answer: RouteHandler) => {
    for (let page = 0; page < PAGES; page++)
      web.route(host, new URL(web.pageUrl(host, page)).pathname, answer)
  }
  answers(FAILS, (_, response) => response.writeHead(500).end())
  answers(IS_DEAD, (request) => request.socket.destroy())
  answers(IS_SLOW, (_, response) => setTimeout(() => response.writeHead(200).end(), 700))
  answers(ASKS_TO_WAIT, (_, response) => response.writeHead(429, { 'retry-after': '300' }).end())
  web.route(HAS_NO_ROBOTS_TXT, '/robots.txt', (_, response) => response.writeHead(503).end())
  return web
}

const SETTINGS = {
  ROBOTSTXT_RETRY_DELAY: 600,
  HOST_FAILURES_MAX: 3,
  HOST_BACKOFF: 0.1,
  RETRY_HTTP_CODES: [429],
  RETRY_BACKOFF: 0.1,
  CONCURRENT_REQUESTS_PER_DOMAIN: 1,
}

test('status lists the hosts that fail, are given up, are slow or pause; not what a lost worker has told', async () => {
  await using server = await startRedis()
  await using web = await unevenWeb()
  const nameOf = (host: number) => new URL(web.origins[host]!).host
  const slotOf = (host: number) => new URL(web.origins[host]!).hostname
  // Two failures are not yet as many as HOST_FAILURES_MAX.
  const seeds = [FINE, FAILS, IS_DEAD, IS_SLOW, ASKS_TO_WAIT, HAS_NO_ROBOTS_TXT].flatMap((host) =>
    Array.from({ length: host === FAILS ? 2 : 20 }, (_, page) => web.pageUrl(host, page)),
  )
  const settings = { ...SETTINGS, REDIS_URL: server.url }
  await using folder = await ClusterFolder.of(web, settings, followingSpider({ seeds }), SHORT_TIMES)
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
  const redis = new Redis(server.url)
  const worker = folder.worker('a', '-s', 'ROBOTSTXT_OBEY=true')
  await vi.waitFor(
    async () => {
      const told = JSON.parse((await redis.hvals(keys.hostLists))[0] ?? '{}')
      const named = (list: string) => told[list]?.map(({ host }: { host: string }) => host) ?? []
      expect(named('slowest'), worker.stderr).toContain(nameOf(IS_SLOW))
      expect(named('failing').sort()).toEqual([nameOf(FAILS), nameOf(ASKS_TO_WAIT)])
      expect(named('givenUp')).toEqual([nameOf(IS_DEAD)])
      expect(named('paused')).toEqual([nameOf(ASKS_TO_WAIT), nameOf(HAS_NO_ROBOTS_TXT)])
    },
    { interval: 50 },
  )

  const ghost = { failing: [{ host: 'ghost', failures: 9, reason: 'x', seenAtMs: 1 }] }
  await redis.hset(keys.workers, 'lost', JSON.stringify({ at: 1, id: 'lost', startedAt: new Date(1) }))
  await redis.hset(keys.hostLists, 'lost', JSON.stringify({ at: 1, sentAt: 1, ...ghost }))
  const [text, json] = await Promise.all([
    folder.run('status', 'pages'),
    folder.run('status', 'pages', '--json'),
  ])
  redis.disconnect()

  const lines = text.stdout.split('\n')
  const below = (head: RegExp, count: number) => {
    const at = lines.findIndex((line) => head.test(line))
    expect(at, text.stdout + text.stderr).toBeGreaterThan(0)
    return lines.slice(at + 1, at + 1 + count).join('\n')
  }
  const failing = below(/^ {2}failing {3}2 hosts, most failures in a row first$/, 2)
  expect(failing).toMatch(`    ${nameOf(FAILS)}   2 failures in a row · 500 Internal Server Error · `)
  expect(failing).toMatch(`    ${nameOf(ASKS_TO_WAIT)}   1 failure in a row · 429 `)
  expect(below(/^ {2}given up {2}1 host, whose requests are dropped/, 1)).toMatch(
    new RegExp(`^    ${nameOf(IS_DEAD)}   since \\d.*? · DownloadFailedError$`),
  )
  expect(text.stdout).toMatch(/^ {2}slowest .* with answers that take 500 ms or longer$/m)
  expect(text.stdout).toMatch(new RegExp(`^    ${nameOf(IS_SLOW)}   [\\d.]+ m?s · answered \\d.*? ago$`, 'm'))
  // Redis itself knows these, and that is shown.
  expect(text.stdout).toMatch(new RegExp(`^    ${slotOf(ASKS_TO_WAIT)} .*paused for \\d+ min .*\\(429`, 'm'))
  expect(text.stdout).not.toMatch(/^ {2}(paused|queued) /m)
  expect(text.stdout).not.toContain('ghost')

  const { hostLists } = JSON.parse(json.stdout)
  expect(hostLists.paused).toMatchObject([
    { host: nameOf(ASKS_TO_WAIT), reason: expect.stringContaining('Retry-After 300 s') },
    { host: nameOf(HAS_NO_ROBOTS_TXT), reason: 'its robots.txt cannot be fetched' },
  ])
  expect(hostLists.mostQueued.map(({ slot }: { slot: string }) => slot)).toContain(slotOf(FINE))
  worker.kill('SIGKILL')
  await worker.exited
})
