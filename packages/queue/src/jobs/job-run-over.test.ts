import { Request } from '@webloom/core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { bullKey, JobBench } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'
import { clearCrawl } from '../outside/crawl-control.ts'

const bench = new JobBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())
afterEach(() => bench.closeAll())

const page = (id: string) => ({ id, request: new Request(`http://a.test/${id}`) })
const isLost = { code: 'WL_LEASE_LOST' }

test('webloom clear --force: nothing of the workers’ is queued again, in the cleared crawl or in the run that follows', async () => {
  const keys = bench.nextKeys()
  const redis = bench.connect()
  await redis.hset(keys.record, { run: 'n.1', state: 'running' })
  await redis.hset(keys.workers, 'some:1:a', JSON.stringify({ at: Date.now() }))
  const queue = await bench.open({ keys })
  expect(await queue.push([page('1')], 'start/0')).toBe(1)
  const [held] = await leased(queue, 1)
  await clearCrawl({ redis, keys, statsKey: 'stats', force: true, clear: () => queue.clear() })
  const say = async () => {
    await expect(queue.push([page('2')], 'a page')).rejects.toMatchObject(isLost)
    await expect(queue.push([page('3')], 'start/1')).rejects.toMatchObject(isLost)
    await expect(queue.pushStart([{ ...page('4'), element: 1 }], 1, 2)).rejects.toMatchObject(isLost)
    expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
    expect(await redis.exists(keys.noted, bullKey(keys, 'noted:a page'))).toBe(0)
  }
  await expect(queue.commit(held!, { children: [page('5')] })).rejects.toMatchObject(isLost)
  await say()
  // Another run has begun in its place.
  await redis.hset(keys.record, { run: 'n.2', state: 'running' })
  await say()
  const other = await bench.open({ keys })
  expect(await other.push([page('1')], 'start/0')).toBe(1)
})
