/** `webloom runs`, after crawls by real workers; and with what cli.test.ts leaves out. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder, SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import './cli.test.ts'
import { shop } from './shop-spider.ts'

test('two crawls, the second after the shop has changed: runs tells which field is gone; clear keeps them', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ pagesPerHost: 20 })
  const settings = { REDIS_URL: server.url }
  await using folder = await ClusterFolder.of(web, settings, shop(web.seeds, true), SHORT_TIMES)
  expect((await folder.run('runs', 'pages')).stdout).toMatch(/^no run of crawl "pages" is known yet/)
  const first = await Promise.all(['a', 'b'].map((name) => folder.worker(name).exited))
  expect(first.map(({ code }) => code)).toEqual([0, 0])
  const alone = await folder.run('runs', 'pages', '--compare')
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('two are needed to compare') })
  await folder.run('clear', 'pages')
  folder.writeSpider(shop(web.seeds, false))
  expect((await folder.worker('c').exited).code).toBe(0)

  const pages = web.reachable().size
  const { stdout } = await folder.run('runs', 'pages')
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(
    new RegExp(`^\\S+ \\S+ UTC {3}finished {3}.* s +pages ${pages} \\(±0 %\\) .*errors 0 +given up 0$`),
  )
  const compared = (await folder.run('runs', 'pages', '--compare')).stdout
  expect(compared).toMatch(/^field price +100\.0 % +0\.0 %$/m)
  expect(compared).toMatch(/^field seller\.name +100\.0 % +100\.0 %$/m)
  const [latest, before] = JSON.parse((await folder.run('runs', 'pages', '--json')).stdout)
  expect(latest).toMatchObject({ state: 'finished', pages, items: pages, fields: { url: pages } })
  expect(before).toMatchObject({ pages, statuses: { 200: pages }, fields: { price: pages } })

  expect((await folder.run('runs', 'pages', '--forget')).stdout).toBe('forgotten: 2 runs of crawl "pages"\n')
  expect(JSON.parse((await folder.run('runs', 'pages', '--json')).stdout)).toEqual([])
})
