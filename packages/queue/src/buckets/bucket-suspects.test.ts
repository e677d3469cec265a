import { scaledTimes } from '@webloom/core'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { BucketBench, crawl, page, pages } from '../../testing/bucket-bench.ts'
import type { BucketPoint } from './bucket-queue.ts'

const times = scaledTimes(0.2)
const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('suspects that wait for their turn, and are lost meanwhile, come again, and the crawl goes on', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const keys = bench.nextKeys()
  const silent = await bench.queue({ keys, times, url: proxy.url })
  await silent.push(pages('a', 3), 'o')
  expect(await silent.lease(3)).toHaveLength(3)
  await vi.waitFor(async () => expect(await bench.redis.keys(`${keys.frontier}:started:*`)).toHaveLength(1))

  let takes = 0
  const onPoint = (name: BucketPoint) => {
    if (name === 'taken') takes++
  }
  const queue = await bench.queue({ keys, times, onPoint })
  await queue.push([page('b', 0)], 'p')
  const [before] = await queue.lease(1)
  proxy.hang()
  await silent.close()
  // Suspects run alone: they lie here until this one has ended.
  const fetched: string[] = []
  const crawling = crawl(queue, 4, async (lease) => {
    fetched.push(`${lease.id}${lease.signal.aborted ? ' lost' : ''}`)
    lease.started()
    await queue.commit(lease)
  })
  await vi.waitFor(() => expect(takes).toBe(2), 10_000)
  // A Redis that has come back older knows fewer of its commands.
  await bench.redis.hset(`${keys.frontier}:heard`, 'bench:2:x', 0)
  await expect(queue.commit(before!)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  await crawling
  expect(fetched.sort()).toEqual(['a/0', 'a/1', 'a/2', 'b/0'])
}, 30_000)
