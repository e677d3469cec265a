/** `webloom dash` beside real crawls: its figures are those of `webloom status` and of the site, and it outlives its Redis. */

import { startFakeWeb, startProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { dashStarted, pageText, VIEWS, WITHIN, WITHOUT_DASHBOARD } from './dash-processes.ts'

test('figures are those of status, of failed list and of the site; a Redis that dies is told of, and all is there when it is back', async () => {
  await using server = await startRedis({ appendonly: 'always' })
  await using web = await startFakeWeb({ pagesPerHost: 30, errors: 0.2, errorStatuses: [404] })
  await using folder = await ClusterFolder.of(web, { REDIS_URL: server.url })
  // Its process is then the dashboard's.
  expect((await folder.worker('a').exited).code).toBe(0)
  const url = await dashStarted(folder)
  const overview = () => pageText(`${url}c/pages/overview`)
  const json = async (...words: string[]) => JSON.parse((await folder.run(...words, '--json')).stdout)
  const { hits } = web
  const [pages, lost] = [hits.length, hits.filter(({ status }) => status === 404).length]
  expect(lost).toBeGreaterThan(1)
  // A page is a second old at the most.
  await vi.waitFor(async () => expect(await overview()).toContain('finished'), WITHIN)
  expect(await overview()).toContain(
    `Done ${pages} requests, given up ones too Pages ${pages} Items ${pages - lost}`,
  )
  const [{ stats, state }, ledger] = await Promise.all([
    json('status', 'pages'),
    json('failed', 'list', 'pages'),
  ])
  expect(state).toBe('finished')
  expect([stats.response_received_count, stats.item_scraped_count]).toEqual([pages, pages - lost])
  expect([stats['failed/count'], stats['failed/reason_count/status'], ledger.kept]).toEqual([
    lost,
    lost,
    lost,
  ])
  const failures = await pageText(`${url}c/pages/failures`)
  expect(failures).toContain(
    `Given up ${lost} in the ledger status ${lost} By signature ${lost} requests kept`,
  )
  expect(failures).toMatch(new RegExp(` ${lost} status 404 \\d{4}-`))
  expect(await pageText(`${url}c/pages/runs`)).toMatch(
    new RegExp(` finished \\S+ m?s ${pages} ${pages - lost} \\d+ ${lost} `),
  )
  await server.kill()
  await vi.waitFor(async () => expect(await overview()).toContain('cannot be reached'), WITHIN)
  expect(await pageText(url)).toContain('cannot be reached')
  await server.restart()
  await vi.waitFor(async () => expect(await overview()).toContain('finished'), WITHIN)
})

test('webloom crawl --dash --control shows and steers a crawl without Redis while it runs', async () => {
  await using web = await startFakeWeb({ hosts: 1, pagesPerHost: 300, latencyMs: 5 })
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
  expect(await pageText(`${url}c/pages/overview`)).toContain(
    'at least: the delay of 127.0.0.1 allows no more',
  )
  // Its next request goes in an hour: none is in flight any more, and the rest waits.
  await vi.waitFor(
    async () =>
      expect(await pageText(`${url}c/pages/host?name=127.0.0.1`)).toMatch(
        / waits for its delay with \S+ Waiting [1-9]\d* Held for later 0 In flight 0 /,
      ),
    WITHIN,
  )
  const met = (address: string) => pageText(`${url}c/pages/dedup?url=${encodeURIComponent(address)}`)
  expect(await met(web.seeds[0]!)).toMatch(/ seen before .* Recorded [1-9]/)
  expect(await met(`${web.seeds[0]}/none`)).toContain(' not seen yet ')
  expect(await pageText(`${url}c/pages/host?name=127.0.0.1`)).toMatch(/Answers counted since .* 200 [1-9]/)
  crawl.kill('SIGINT')
  expect((await crawl.exited).code).toBe(130)
})

test('without the package there is one error, with the line to type', async () => {
  await using folder = await ClusterFolder.of({ seeds: [] }, {})
  const words = ['--import', WITHOUT_DASHBOARD, 'node_modules/webloom/bin/webloom.js', 'dash']
  const run = { cwd: folder.path('') }
  const { code, stderr } = await startProcess(process.execPath, words, run).exited
  expect(stderr).toMatch(/^webloom: .*npm install @webloom\/dashboard \[WL_USAGE\]\n$/)
  expect(code).toBe(2)
})
