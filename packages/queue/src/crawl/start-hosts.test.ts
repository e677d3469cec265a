import type { StartHosts } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { JobDir } from '../jobdir/job-dir.ts'
import { clearCrawl } from '../members/crawl-control.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
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

async function letsNoneInsideThatWasPublic(one: StartHosts, other: StartHosts): Promise<void> {
  await one.add('b.example:80')
  expect(await other.has('b.example:80')).toBe(true)
  await one.notePublic('b.example:80')
  await one.notePublic('elsewhere.example:80')
  expect(await other.has('b.example:80')).toBe(false)
  await other.add('b.example:80')
  expect(await one.has('b.example:80')).toBe(false)
}

describe('the hosts of start requests', () => {
  test('in memory', async () => {
    await knowWhatWasAdded(new MemoryStartHosts())
    const startHosts = new MemoryStartHosts()
    await letsNoneInsideThatWasPublic(startHosts, startHosts)
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

  test('one that was public is let inside by no worker, and by no later run in its JOBDIR', async () => {
    const keys = bench.nextCrawl()
    const [one, other] = [1, 2].map(() => new RedisStartHosts({ redis: bench.connect(), keys }))
    await letsNoneInsideThatWasPublic(one!, other!)
    expect(await bench.redis.smembers(keys.publicHosts)).toEqual(['b.example:80'])
    await using dir = await tempDir()
    const first = jobDir(dir.path)
    await first.record.open()
    await letsNoneInsideThatWasPublic(first.startHosts, first.startHosts)
    await first.record.close()
    const second = jobDir(dir.path)
    await second.record.open()
    expect(await second.startHosts.has('b.example:80')).toBe(false)
    await second.record.close()
  })

  test('go with the crawl that is cleared', async () => {
    const keys = bench.nextCrawl()
    await new RedisStartHosts({ redis: bench.redis, keys }).add('a.example:80')
    await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
    expect(await bench.redis.exists(keys.startHosts)).toBe(0)
  })
})
