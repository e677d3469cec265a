/**
 * Hosts that never answer, and a worker that is killed while it asks them: its requests to them may have killed it, and are fetched alone. That holds
 * up the other worker for some seconds each, and not until they time out.
 */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder, seededSpider, settingsOf } from '../cluster/cluster-crawl.ts'

const SILENT_HOSTS = 4
const WATCHED_MS = 60_000
/** The wait for what hangs and those for suspects take eight seconds at the most, before others have a break. */
const GAP_MS_MAX = 10_000

test('after a kill the worker that is left goes on, though four hosts are silent', async () => {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 20, pagesPerHost: 500 })
  await using mute = createServer((socket) => void socket.resume()).listen(0)
  await once(mute, 'listening')
  const { port } = mute.address() as { port: number }
  const silent = Array.from({ length: 4 * SILENT_HOSTS }, (_, n) => {
    return `http://127.77.0.${1 + (n % SILENT_HOSTS)}:${port}/${n}`
  })
  const settings = { CONCURRENT_REQUESTS: 32, DOWNLOAD_DELAY: 0.2, DOWNLOAD_TIMEOUT: 180 }
  const spider = seededSpider([...web.seeds, ...silent])
  await using folder = await ClusterFolder.of(web, settingsOf(redis, 'silent', settings), spider)
  const workers = [1, 2].map(() => folder.start('worker', 'pages'))
  await web.waitForHits(1500, 60_000)
  const status = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  const seen: { pid: number; downloading: number }[] = status.workers
  const busiest = seen.reduce((a, b) => (b.downloading > a.downloading ? b : a))
  const killed = workers.find(({ pid }) => pid === busiest.pid)!
  killed.kill('SIGKILL')
  const killedAtMs = performance.now()
  // Waits: for what the other one does meanwhile.
  await sleep(WATCHED_MS)
  const hitsMs = (await web.hits()).map(({ atMs }) => atMs - killedAtMs).filter((ms) => ms > 0)
  const gapsMs = [...hitsMs, WATCHED_MS].map((ms, n) => ms - (hitsMs[n - 1] ?? 0))
  const left = workers.find((worker) => worker !== killed)!
  left.kill('SIGKILL')
  const { stderr } = await left.exited
  expect(stderr, 'none of its requests was a suspect').toMatch(/127\.77\.0\..*may have killed it/)
  expect(Math.max(...gapsMs)).toBeLessThan(GAP_MS_MAX)
}, 200_000)
