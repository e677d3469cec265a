/** `webloom dash` beside four workers of which one is killed, and how soon it tells of one: with the protocol's real times. */

import { type FakeWebProcess, type Hit, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, expectComplete, STATS_EACH_SECOND } from '../cluster/cluster-crawl.ts'
import { dashStarted, pageText, VIEWS, WITHIN } from './dash-processes.ts'

const PAGES = 800
/** Stats are written each second; what a callback has brought is counted a moment after its page came. */
const UNTOLD_MS_MAX = 1500
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
  await using web = await startFakeWebProcess({
    hosts: 4,
    pagesPerHost: PAGES / 4,
    latencyMs: 100,
    errors: 0.1,
    errorStatuses: [404],
  })
  const settings = { REDIS_URL: server.url, ...STATS_EACH_SECOND }
  await using folder = await ClusterFolder.of(web, settings)
  const url = await dashStarted(folder)
  const names = ['a', 'b', 'c', 'd']
  const workers = names.map((name) => folder.worker(name, '-s', `USER_AGENT=${name}`))
  await vi.waitFor(async () => expect((await web.hits()).length).toBeGreaterThan(PAGES / 3), WITHIN)
  const counted = await Promise.all(names.map(async (name) => (await hitsOf(web, name)).length))
  const victim = counted.indexOf(Math.max(...counted))
  workers[victim]!.kill('SIGKILL')
  await workers[victim]!.exited
  const killedAtMs = performance.now()
  for (const { code, stderr } of await Promise.all(workers.toSpliced(victim, 1).map(({ exited }) => exited)))
    expect(code, stderr).toBe(0)
  const repeats = await expectComplete(web, folder)

  // A page is a second old at the most.
  await vi.waitFor(async () => expect(await pageText(`${url}c/pages/overview`)).toContain('finished'), WITHIN)
  const { stats, counts, state, done, statsLack } = JSON.parse(
    (await folder.run('status', 'pages', '--json')).stdout,
  )
  const told = await (await fetch(`${url}api/crawls/pages/status`)).json()
  expect(told).toMatchObject({ state: 'finished', stats, counts, done, statsLack })
  expect([state, counts]).toEqual(['finished', { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }])

  // Requests, not downloads: one that is handed out again is done once. A link taken over from the killed one may be queued twice.
  const pagesAsked = new Set((await web.hits()).map(({ url }) => url)).size
  expect(done).toBeGreaterThanOrEqual(pagesAsked)
  expect(done).toBeLessThanOrEqual(pagesAsked + (stats['dupefilter/taken_over'] ?? 0))
  expect(statsLack).toBe(true)

  // What the site has answered, but for what the killed one has not told any more: its stats of its last second.
  const hits = await web.hits()
  const ofVictim = await hitsOf(web, names[victim]!)
  const last = ofVictim.filter(({ endedAtMs = 0 }) => endedAtMs > killedAtMs - UNTOLD_MS_MAX)
  const expectOfSite = (figure: number, isCounted: (hit: Hit) => boolean) => {
    const answered = hits.filter((hit) => isCounted(hit) && !hit.aborted)
    expect(figure).toBeLessThanOrEqual(answered.length)
    expect(figure).toBeGreaterThanOrEqual(answered.length - last.filter(isCounted).length)
  }
  expect(last.length).toBeLessThan(hits.length / 4)
  expectOfSite(stats.response_received_count, () => true)
  expectOfSite(stats.item_scraped_count, ({ status }) => status === 200)
  expectOfSite(stats['failed/count'], ({ status }) => status === 404)
  expect(repeats).toBeLessThanOrEqual(last.length + ofVictim.filter(({ aborted }) => aborted).length)

  const overview = await pageText(`${url}c/pages/overview`)
  const grouped = (stat: string) => Number(stats[stat] ?? 0).toLocaleString('en-US')
  const [pages, items] = [grouped('response_received_count'), grouped('item_scraped_count')]
  const errors = grouped('log_count/ERROR')
  expect(overview).toContain(
    `Done ${done} requests, given up ones too Pages ${pages} Items ${items} Errors ${errors} Seen before ${grouped('dupefilter/filtered')} Retries ${grouped('retry/count')} A worker was lost.`,
  )
  expect(overview).toContain('waiting 0 held for later 0 in flight 0 quarantined 0')
  expect(await pageText(url)).toMatch(
    new RegExp(`pages redis://127\\.0\\.0\\.1:\\d+/0 finished 0 0 ${pages} ${items} ${errors} 0 `),
  )
  expect(await pageText(`${url}c/pages/runs`)).toContain(` ${pages} ${items} ${errors} `)
  expect(await pageText(`${url}c/pages/skips`)).toContain(
    `met before links whose page the crawl has seen before ${grouped('dupefilter/filtered')} `,
  )
  expect(await (await fetch(`${url}metrics`)).text()).toContain(
    `\nwebloom_pages_total{crawl="pages"} ${stats.response_received_count}\n`,
  )
  // The ledger is written with the page, and knows what the killed one has given up as well.
  const lost = new Set(hits.filter(({ status }) => status === 404).map((hit) => hit.url)).size
  expect(JSON.parse((await folder.run('failed', 'list', 'pages', '--json')).stdout)).toMatchObject({
    kept: lost,
    total: lost,
  })
  expect(await pageText(`${url}c/pages/failures`)).toContain(`By signature ${lost} requests kept`)

  for (const view of VIEWS) expect((await fetch(`${url}c/pages/${view}`)).status, view).toBe(200)
  expect(await pageText(`${url}c/pages/settings`)).toContain('CLOSESPIDER_PAGECOUNT')
  const known = [...web.reachable()][0]!
  expect(await pageText(`${url}c/pages/dedup?url=${encodeURIComponent(known)}`)).toContain('not seen yet')
})

/** What the site was asked by the worker of that name. */
async function hitsOf(web: FakeWebProcess, name: string): Promise<Hit[]> {
  return (await web.hits()).filter(({ headers }) => headers['user-agent'] === name)
}
