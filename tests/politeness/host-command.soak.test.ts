/** `webloom host` while workers crawl, judged by the server's own log. */

import { type FakeWebProcess, type Hit, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, followingSpider } from '../cluster/cluster-crawl.ts'

/** How soon all workers obey. */
const OBEYED_MS_MAX = 2000
const PAGES = 3000

async function crawling(web: FakeWebProcess, url: string): Promise<ClusterFolder> {
  const settings = {
    REDIS_URL: url,
    CONCURRENT_REQUESTS: 4,
    CONCURRENT_REQUESTS_PER_DOMAIN: 2,
    DOWNLOAD_DELAY: 0.02,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  }
  const folder = await ClusterFolder.of(web, settings, followingSpider(web))
  for (const name of ['a', 'b']) folder.worker(name)
  return folder
}

/** Since that moment, of one host, in order. */
function since(hits: readonly Hit[], host: string, atMs: number): Hit[] {
  return hits
    .filter((hit) => new URL(hit.url).host === host && hit.atMs > atMs)
    .sort((a, b) => a.atMs - b.atMs)
}

test('a host is paused, goes on, and gets a delay: all workers obey within two seconds', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: PAGES, latencyMs: 5 })
  await using folder = await crawling(web, server.url)
  const [paused, other] = web.origins.map((origin) => new URL(origin).host) as [string, string]
  const name = new URL(web.origins[0]!).hostname
  const hitsOf = async (host: string, atMs: number) => since(await web.hits(), host, atMs)
  const arrive = (host: string, count: number, atMs: number) =>
    vi.waitFor(async () => expect((await hitsOf(host, atMs)).length).toBeGreaterThanOrEqual(count), {
      timeout: 30_000,
      interval: 100,
    })
  await arrive(paused, 40, 0)
  await arrive(other, 40, 0)

  const told = await folder.run('host', 'pages', name, '--pause', '1h')
  expect(told.stdout, told.stderr).toMatch(/ordered: paused for (1 h|59 min)/)
  const pausedAtMs = performance.now()
  await arrive(other, 60, pausedAtMs + OBEYED_MS_MAX)
  expect(await hitsOf(paused, pausedAtMs + OBEYED_MS_MAX)).toEqual([])

  await folder.run('host', 'pages', name, '--resume')
  const resumedAtMs = performance.now()
  await arrive(paused, 10, resumedAtMs)
  expect((await hitsOf(paused, resumedAtMs))[0]!.atMs - resumedAtMs).toBeLessThan(OBEYED_MS_MAX)

  await folder.run('host', 'pages', name, '--delay', '500ms')
  const delayedAtMs = performance.now()
  await arrive(paused, 5, delayedAtMs + OBEYED_MS_MAX)
  const gaps = gapsOf(await hitsOf(paused, delayedAtMs + OBEYED_MS_MAX))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(450)

  await folder.run('host', 'pages', name, '--delay', 'default')
  const defaultAtMs = performance.now()
  await arrive(paused, 30, defaultAtMs)
  expect((await folder.run('host', 'pages', name)).stdout).toContain('nothing is ordered for it')
})

function gapsOf(hits: readonly Hit[]): number[] {
  return hits.slice(1).map((hit, n) => hit.atMs - hits[n]!.atMs)
}

test('a host whose name nobody knows, a wrong time and a crawl that is not there are told', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ pagesPerHost: 3 })
  await using folder = await ClusterFolder.of(web, { REDIS_URL: server.url })
  const none = await folder.run('host', 'pages', 'quotes.test', '--delay', '2')
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('webloom worker pages  begins one') })
  const wrong = await folder.run('host', 'pages', 'quotes.test', '--pause', 'ten')
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is no span of time') })
  await folder.worker('a').exited
  const unknown = await folder.run('host', 'pages', 'QUOTES.test', '--delay', '2')
  expect(unknown.stdout).toContain('quotes.test   ordered: delay 2 s')
  expect(unknown.stdout).toContain('nothing of that host is queued now')
})
