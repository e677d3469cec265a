/** `webloom runs`, after crawls by real workers. All that it can do is in the soak. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder, SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { shop } from './shop-spider.ts'

test('two crawls, the second after the shop has changed: runs tells which field is gone, and so does a monitor by exit code and log', async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ pagesPerHost: 20 })
  await using folder = await ClusterFolder.of(
    web,
    { REDIS_URL: server.url },
    shop(web.seeds, true),
    SHORT_TIMES,
  )
  expect((await folder.worker('a').exited).code).toBe(0)
  folder.writeSpider(shop(web.seeds, false))
  const judged = folder.worker('b', '--new', '-s', 'MONITORS={"coverage":{"price":0.9}}')
  expect((await judged.exited).code).toBe(4)
  expect(judged.stderr).toMatch(/ERROR.*price: 0 % of \d+ items have it; at least 90 % must/)
  const [compared, json] = await Promise.all([
    folder.run('runs', 'pages', '--compare'),
    folder.run('runs', 'pages', '--json'),
  ])
  expect(compared.stdout).toMatch(/^field price +100\.0 % +0\.0 %$/m)
  expect(compared.stdout).toMatch(/^field seller\.name +100\.0 % +100\.0 %$/m)
  const pages = web.reachable().size
  expect(JSON.parse(json.stdout)).toMatchObject([
    {
      ...{ state: 'finished', pages, items: pages, fields: { url: pages } },
      alerts: [{ id: 'coverage/price', pages: expect.arrayContaining([expect.stringMatching(/^http/)]) }],
    },
    { pages, statuses: { 200: pages }, fields: { price: pages } },
  ])
})
