/** What a crawl of many workers may spend, while they and their Redis are killed: judged by what the web was asked for. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { ClusterFolder, randomOf, SHORT_TIMES, settingsOf } from './cluster-crawl.ts'

const ROUNDS = Number(process.env.BUDGET_ROUNDS ?? 6)
const PAGES = 120
const IN_AIR = 8

test.each(['turns', 'job'])(
  'QUEUE_MODE=%s: kills and restarts, and never a page more than the day has',
  {
    timeout: 900_000,
  },
  async (mode) => {
    for (let round = 1; round <= ROUNDS; round++) {
      const random = randomOf(round)
      await using redis = await startRedis({ appendonly: 'always' })
      await using web = await startFakeWebProcess({
        seed: round,
        hosts: 4,
        pagesPerHost: 100,
        latencyMs: [5, 40],
      })
      await using folder = await ClusterFolder.of(
        web,
        settingsOf(redis, `budgets-${mode}-${round}`, {
          QUEUE_MODE: mode,
          CONCURRENT_REQUESTS: IN_AIR,
          SCHEDULER_PERSIST: true,
          BUDGETS: { day: { pages: PAGES }, hostDay: { pages: 50 } },
        }),
        undefined,
        SHORT_TIMES,
      )
      const workers = ['a', 'b', 'c'].map((name) => folder.worker(name))
      await web.waitForHits(Math.round(10 + random() * 60), 60_000)
      workers[0]!.kill('SIGKILL')
      await workers[0]!.exited
      if (round % 2 === 0) {
        await redis.kill()
        await redis.restart()
      }
      folder.worker('d')
      // What the killed one had taken and not sent is all that may be missing.
      await web.waitForHits(PAGES - IN_AIR, 60_000)
      // All hosts wait for the next day now; in job mode each worker holds some of their requests.
      if (mode === 'turns')
        await vi.waitFor(async () => {
          const { hosts, counts } = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
          expect(counts.leased).toBe(0)
          expect(JSON.stringify(hosts)).toContain('is spent')
        }, 60_000)
      expect((await folder.run('stop', 'pages')).code).toBe(0)
      const hits = await web.hits()
      expect(hits.length, `round ${round}`).toBeLessThanOrEqual(PAGES)
      const perHost = Map.groupBy(hits, ({ url }) => new URL(url).host)
      for (const [host, of] of perHost) expect(of.length, host).toBeLessThanOrEqual(50)
      // Another run on that day gets nothing.
      await folder.run('clear', 'pages', '--force')
      const { exited } = folder.start('worker', 'pages', '--new', '-s', 'CLOSESPIDER_TIMEOUT=2')
      await exited
      expect(await web.hitCount()).toBeLessThanOrEqual(PAGES)
    }
  },
)
