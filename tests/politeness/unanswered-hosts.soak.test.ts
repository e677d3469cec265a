/** A host that never answers is told before its request times out: after ten seconds, with the next report of its worker. */

import { createServer } from 'node:net'
import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, seededSpider } from '../cluster/cluster-crawl.ts'

test('status lists it, with how many requests it owes an answer', async () => {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({ pagesPerHost: 1 })
  const mute = createServer(() => {})
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const { port } = mute.address() as { port: number }
  const seeds = [1, 2].map((n) => `http://127.0.0.1:${port}/${n}`)
  await using folder = await ClusterFolder.of(web, { REDIS_URL: redis.url }, seededSpider(seeds))
  const worker = folder.start('worker', 'pages')
  const unanswered = async () => {
    const { stdout, stderr } = await folder.run('status', 'pages', '--json')
    return JSON.parse(stdout || stderr).hostLists.unanswered
  }
  const owes = [{ host: `127.0.0.1:${port}`, requests: 2, sinceMs: expect.any(Number) }]
  await vi.waitFor(async () => expect(await unanswered()).toEqual(owes), { timeout: 60_000, interval: 500 })
  expect((await folder.run('status', 'pages')).stdout).toMatch(
    /^ {2}no answer 1 host asked 10 s ago or longer$/m,
  )
  worker.kill('SIGKILL')
  await worker.exited
  mute.close()
}, 120_000)
