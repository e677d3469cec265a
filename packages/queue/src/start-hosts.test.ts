import type { StartHosts } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench } from '../testing/crawl-bench.ts'
import { clearCrawl } from './crawl-control.ts'
import { JobDir } from './job-dir.ts'
import { MemoryHostClock } from './memory-host-clock.ts'
import { MemoryStartHosts } from './memory-start-hosts.ts'
import { RedisStartHosts } from './redis-start-hosts.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
const jobDir = (folder: string) => new JobDir({ folder, spiderName: 's', clock })

async function knowWhatWasAdded(startHosts: StartHosts): Promise<void> {
  await startHosts.add('a.example:80')
  await startHosts.add('a.example:80')
  expect(await startHosts.has('a.example:80')).toBe(true)
  expect(await startHosts.has('a.example:8080')).toBe(false)
}

describe('the hosts of start requests', () => {
  test('in memory', async () => {
    await knowWhatWasAdded(new MemoryStartHosts())
  })

  test('in a JOBDIR, also when the crawl is resumed', async () => {
    await using dir = await tempDir()
    for (const isKnown of [false, true]) {
      const { record, startHosts } = jobDir(dir.path)
      await record.open()
      expect(await startHosts.has('a.example:80')).toBe(isKnown)
      await knowWhatWasAdded(startHosts)
      await record.close()
    }
  })

  test('on Redis, where one worker learns what another has added', async () => {
    const keys = bench.nextCrawl()
    const [one, other] = [1, 2].map(() => new RedisStartHosts({ redis: bench.connect(), keys }))
    expect(await other!.has('a.example:80')).toBe(false)
    await knowWhatWasAdded(one!)
    expect(await other!.has('a.example:80')).toBe(true)
  })

  test('go with the crawl that is cleared', async () => {
    const keys = bench.nextCrawl()
    await new RedisStartHosts({ redis: bench.redis, keys }).add('a.example:80')
    await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
    expect(await bench.redis.exists(keys.startHosts)).toBe(0)
  })
})
