/** `webloom dash` beside four workers of which one is killed, and how soon it tells of one: with the protocol's real times. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, expectComplete, SHORT_TIMES, STATS_EACH_SECOND } from '../cluster/cluster-crawl.ts'
import { dashStarted, pageText, VIEWS, WITHIN } from './dash-processes.ts'

const PAGES = 400
/** Ten seconds without a heartbeat, and a page that is a second old. */
const LOST_MS_MAX = 11_500

test('a killed worker is shown as lost within ten seconds or so', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 2000, latencyMs: 50 })
  const settings = { REDIS_URL: server.url, DOWNLOAD_DELAY: 0.1 }
  await using folder = await ClusterFolder.of(web, settings)
  const url = await dashStarted(folder)
  const workers = [folder.worker('a'), folder.worker('b')]
  const shows = (words: RegExp) =>
    vi.waitFor(async () => expect(await pageText(`${url}c/pages/workers`)).toMatch(words), WITHIN)
  await shows(/Present 2 /)
  // Workers report every nine seconds.
  await vi.waitFor(
    async () =>
      expect(await pageText(`${url}c/pages/host?name=127.0.0.1`)).toMatch(
        /Answers counted since .* 200 [1-9]/,
      ),
    WITHIN,
  )
  workers[0]!.kill('SIGKILL')
  const killedAt = performance.now()
  await shows(/Present 1 Lost 1 /)
  expect(performance.now() - killedAt).toBeLessThan(LOST_MS_MAX)
})

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
