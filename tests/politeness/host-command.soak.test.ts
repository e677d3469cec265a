/** `webloom host`: a delay that workers get while they crawl, and what cannot be ordered. */

import { type Hit, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { OBEYED_MS_MAX, OrderedHost } from './ordered-host.ts'

test('a host gets a delay, and loses it: all workers obey within two seconds', async () => {
  await using host = await OrderedHost.start()

  await host.order('--delay', '500ms')
  const delayedAtMs = performance.now()
  await host.arrive(5, delayedAtMs + OBEYED_MS_MAX)
  const gaps = gapsOf(await host.hits(delayedAtMs + OBEYED_MS_MAX))
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(450)

  await host.order('--delay', 'default')
  const defaultAtMs = performance.now()
  await host.arrive(30, defaultAtMs)
  expect((await host.order()).stdout).toContain('nothing is ordered for it')
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
  const asked = await folder.run('host', 'pages', 'quotes.test')
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('nobody has begun the crawl here') })
  const wrong = await folder.run('host', 'pages', 'quotes.test', '--pause', 'ten')
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a span of time') })
  await folder.worker('a').exited
  const unknown = await folder.run('host', 'pages', 'QUOTES.test', '--delay', '2')
  expect(unknown.stdout).toContain('quotes.test   ordered: delay 2 s')
  expect(unknown.stdout).toContain('nothing of that host is queued now')
  const short = await folder.run('host', 'pages', 'quotes.test', '--delay', '40ms')
  expect(short.stdout).toContain('quotes.test   ordered: delay 40 ms')
  const pattern = await folder.run('host', 'pages', '*.quotes.test', '--delay', '2')
  expect(pattern).toMatchObject({ code: 2, stderr: expect.stringContaining('looks like a pattern') })
})
