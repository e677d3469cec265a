/** `webloom dash` beside real crawls: its figures are those of `webloom status` and of the site, and it outlives its Redis. */

import { startFakeWebProcess, startProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, expectComplete, SHORT_TIMES, STATS_EACH_SECOND } from '../cluster/cluster-crawl.ts'
import { dashStarted, pageText, WITHIN, WITHOUT_DASHBOARD } from './dash-processes.ts'

const PAGES = 400
const VIEWS = ['hosts', 'failures', 'skips', 'dedup', 'items', 'workers', 'redis', 'settings', 'runs']

test('figures after four workers, one of them killed, are those of status and of the site', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 4, pagesPerHost: PAGES / 4, latencyMs: 20 })
  const settings = { REDIS_URL: server.url, ...STATS_EACH_SECOND }
  await using folder = await ClusterFolder.of(web, settings, undefined, SHORT_TIMES)
  const url = await dashStarted(folder)
  const workers = ['a', 'b', 'c', 'd'].map((name) => folder.worker(name))
  await vi.waitFor(async () => expect((await web.hits()).length).toBeGreaterThan(PAGES / 8), WITHIN)
  workers[0]!.kill('SIGKILL')
  await Promise.all(workers.slice(1).map(({ exited }) => exited))
  await expectComplete(web, folder)

  // A page is a second old at the most.
  await vi.waitFor(async () => expect(await pageText(`${url}c/pages/overview`)).toContain('finished'), WITHIN)
  const { stats, counts, state } = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  const overview = await pageText(`${url}c/pages/overview`)
  expect(state).toBe('finished')
  expect(overview).toContain('finished')
  const grouped = (value: number) => value.toLocaleString('en-US')
  expect(overview).toContain(
    `Pages ${grouped(stats.response_received_count)} Items ${grouped(stats.item_scraped_count)}`,
  )
  expect(overview).toContain(`waiting ${counts.waiting} `)
  const crawls = await pageText(url)
  expect(crawls).toMatch(/pages redis:\/\/127\.0\.0\.1:\d+\/0 finished/)
  // What the killed one had fetched and not told yet, within its last second.
  const hits = (await web.hits()).length
  expect(stats.response_received_count).toBeLessThanOrEqual(hits)
  expect(stats.response_received_count).toBeGreaterThan(hits - PAGES / 4)
  for (const view of VIEWS) expect((await fetch(`${url}c/pages/${view}`)).status, view).toBe(200)
  expect(await pageText(`${url}c/pages/settings`)).toContain('CLOSESPIDER_PAGECOUNT')
  const known = [...web.reachable()][0]!
  expect(await pageText(`${url}c/pages/dedup?url=${encodeURIComponent(known)}`)).toContain('not met yet')
  expect(await pageText(`${url}c/pages/runs`)).toContain('finished')
})

test('a Redis that dies is told of, and all is there again when it is back', async () => {
  await using server = await startRedis({ appendonly: 'always' })
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 20 })
  await using folder = await ClusterFolder.of(web, { REDIS_URL: server.url })
  await folder.worker('a').exited
  const url = await dashStarted(folder)
  expect(await pageText(`${url}c/pages/overview`)).toContain('finished')
  await server.kill()
  await vi.waitFor(
    async () => expect(await pageText(`${url}c/pages/overview`)).toContain('cannot be reached'),
    WITHIN,
  )
  expect(await pageText(url)).toContain('cannot be reached')
  await server.restart()
  await vi.waitFor(async () => expect(await pageText(`${url}c/pages/overview`)).toContain('finished'), WITHIN)
})

test('webloom crawl --dash --control shows and steers a crawl without Redis while it runs', async () => {
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 300, latencyMs: 5 })
  await using folder = await ClusterFolder.of(web, { DOWNLOAD_DELAY: 0.05 })
  const crawl = folder.start('crawl', 'pages', '--dash', '--control')
  await vi.waitFor(() => expect(crawl.stderr).toMatch(/the dashboard is at http:/), WITHIN)
  const url = /the dashboard is at (http:[^\s"]+)/.exec(crawl.stderr)![1]!
  await vi.waitFor(
    async () => expect(await pageText(`${url}c/pages/overview`)).toMatch(/Pages [1-9]\d* Items/),
    WITHIN,
  )
  expect(await pageText(url)).toMatch(/pages this process running/)
  for (const view of VIEWS) expect((await fetch(`${url}c/pages/${view}`)).status, view).toBe(200)
  expect(await pageText(`${url}c/pages/items`)).toContain('&quot;url&quot;')
  expect(await pageText(`${url}c/pages/settings`)).toMatch(/DOWNLOAD_DELAY .*0.05 config/)
  const told = (verb: string, fields: Record<string, string> = {}) =>
    fetch(`${url}c/pages/do/${verb}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(url).origin },
      body: new URLSearchParams({ ...fields, back: '/c/pages/overview' }),
    })
  expect((await told('pause')).status).toBe(303)
  expect(await pageText(`${url}c/pages/overview`)).toMatch(/Go on .* paused/)
  await told('resume')
  await told('set_host', { name: '127.0.0.1', delaySeconds: '3600' })
  expect(await pageText(`${url}c/pages/host?name=127.0.0.1`)).toMatch(/Delay 1 h It comes from set by hand/)
  crawl.kill('SIGINT')
  expect((await crawl.exited).code).toBe(130)
})

test('without the package there is one error, with the line to type', async () => {
  await using folder = await ClusterFolder.of({ seeds: [] }, {})
  const words = ['--import', WITHOUT_DASHBOARD, 'node_modules/webloom/bin/webloom.js', 'dash']
  const run = { cwd: folder.path(''), timeoutMs: 30_000 }
  const { code, stderr } = await startProcess(process.execPath, words, run).exited
  expect(stderr).toMatch(/^webloom: .*npm install @webloom\/dashboard \[WL_USAGE\]\n$/)
  expect(code).toBe(2)
})
