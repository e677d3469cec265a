/** How soon the dashboard tells of a worker that is killed: with the protocol's real times. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { dashStarted, pageText, WITHIN } from './dash-processes.ts'

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
  workers[0]!.kill('SIGKILL')
  const killedAt = performance.now()
  await shows(/Present 1 Lost 1 /)
  expect(performance.now() - killedAt).toBeLessThan(LOST_MS_MAX)
})
