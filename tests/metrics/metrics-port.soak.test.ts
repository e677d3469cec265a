/** METRICS_PORT of several worker processes and of `webloom crawl`, and one that is in use. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { startFakeWebProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { PORT, tellsAt } from './metrics-port.ts'

test('two worker processes have a port each, with what each of them has counted', () =>
  tellsAt([PORT + 1, PORT + 2], '--processes', '2'))

test('webloom crawl has it, too; a port in use is one error before anything is fetched', async () => {
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 3 })
  await using folder = await ClusterFolder.of(web, {})
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const refused = await folder.run('crawl', 'pages', '-s', `METRICS_PORT=${port}`)
  taken.close()
  expect(refused.stderr).toContain(
    `webloom: METRICS_PORT cannot listen on 127.0.0.1, port ${port}: another process listens there. Name another port:  -s METRICS_PORT=${port + 100} [WL_USAGE]`,
  )
  expect(refused.code).toBe(2)
  expect(await web.hits()).toEqual([])
  const { code, stderr } = await folder.run('crawl', 'pages', '-s', `METRICS_PORT=${port}`)
  expect(stderr).toContain(`metrics are at http://127.0.0.1:${port}/metrics`)
  expect(code).toBe(0)
})
