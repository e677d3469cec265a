import { startHostsContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { JobDir } from '../jobdir/job-dir.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { MemoryStartHosts } from './memory-start-hosts.ts'
import { RedisStartHosts } from './redis-start-hosts.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
const jobDir = (folder: string) => new JobDir({ folder, spiderName: 's', clock })

startHostsContract(
  { describe, test },
  {
    name: 'MemoryStartHosts',
    create: async () => {
      const hosts = new MemoryStartHosts()
      return { one: hosts, other: hosts, dispose: async () => {} }
    },
  },
)
startHostsContract(
  { describe, test },
  {
    name: 'The start hosts of a JOBDIR',
    create: async () => {
      const dir = await tempDir()
      const { record, startHosts } = jobDir(dir.path)
      await record.open()
      const dispose = async () => {
        await record.close()
        await dir.remove()
      }
      return { one: startHosts, other: startHosts, dispose }
    },
  },
)
startHostsContract(
  { describe, test },
  {
    name: 'RedisStartHosts',
    create: async () => {
      const keys = bench.nextKeys()
      const [one, other] = [1, 2].map(() => new RedisStartHosts({ redis: bench.connect(), keys }))
      return { one: one!, other: other!, dispose: async () => {} }
    },
  },
)

test('start hosts without room are forgotten, and count as none; one that had a public address stays known as such', async () => {
  // Room for 64.
  const hosts = new MemoryStartHosts(1)
  await hosts.add('rebinds.example:80')
  await hosts.notePublic('rebinds.example:80')
  const names = Array.from({ length: 1000 }, (_, n) => `host-${n}.example:80`)
  for (const name of names) await hosts.add(name)
  const known = await Promise.all(names.map((name) => hosts.has(name)))
  expect(known.filter(Boolean).length).toBe(63)
  expect(known.slice(-20)).toEqual(Array(20).fill(true))
  await hosts.add('rebinds.example:80')
  expect(await hosts.has('rebinds.example:80')).toBe(false)
})

test('a crawl that is resumed in its JOBDIR knows its start hosts, and which of them were public', async () => {
  await using dir = await tempDir()
  const first = jobDir(dir.path)
  await first.record.open()
  await first.startHosts.add('a.example:80')
  await first.startHosts.add('b.example:80')
  await first.startHosts.notePublic('b.example:80')
  await first.record.close()
  const second = jobDir(dir.path)
  await second.record.open()
  expect(await second.startHosts.has('a.example:80')).toBe(true)
  expect(await second.startHosts.has('b.example:80')).toBe(false)
  await second.record.close()
})

test('on Redis they go with the crawl that is cleared', async () => {
  const keys = bench.nextKeys()
  const hosts = new RedisStartHosts({ redis: bench.redis, keys })
  await hosts.add('a.example:80')
  await hosts.notePublic('a.example:80')
  await clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear: async () => {} })
  expect(await bench.redis.exists(keys.startHosts, keys.publicHosts)).toBe(0)
})
