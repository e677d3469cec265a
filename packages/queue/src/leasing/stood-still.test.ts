/** A worker that stood still for longer than a lock: others have had its requests meanwhile, or have ended its crawl. */

import { type Lease, Request, scaledTimes } from '@webloom/core'
import { startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'

const [buckets, jobs] = [new BucketBench(), new JobBench()]
beforeAll(() => Promise.all([buckets.start(), jobs.start()]))
afterAll(async () => {
  await jobs.closeAll()
  await Promise.all([buckets.stop(), jobs.stop()])
})

const page = (id: string) => ({ id, request: new Request(`http://a.test/${id}`) })
const isLost = { code: 'WL_LEASE_LOST' }
const times = scaledTimes(0.1)

describe.each([
  ['turns', buckets, (given: object) => buckets.queue(given)],
  ['job', jobs, (given: object) => jobs.open(given)],
] as const)('QUEUE_MODE=%s', (_mode, bench, open) => {
  test('a lease is safe while its lock lasts; after that it is renewed before it is used', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const queue = await open({ url: proxy.url, times })
    await queue.push([page('1')], 'start/0')
    const [lease] = await leased(queue, 1)
    expect(queue.confirm(lease!)).toBeUndefined()
    const renew = await silentUntilUnsafe(proxy, queue, lease!)
    proxy.flow()
    await renew()
    expect(queue.confirm(lease!)).toBeUndefined()
    await queue.commit(lease!)
  })

  test('a lease that another worker has had meanwhile is lost before it is used', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const queue = await open({ keys, url: proxy.url, times })
    await queue.push([page('1')], 'start/0')
    const [lease] = await leased(queue, 1)
    const renew = await silentUntilUnsafe(proxy, queue, lease!)
    const other = await open({ keys, times })
    const [taken] = await leased(other, 1)
    await other.commit(taken!)
    proxy.flow()
    await expect(renew()).rejects.toMatchObject(isLost)
  })

  test('what Redis had taken before the worker was cut off is done, though its other requests are another’s by then', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const queue = await open({ keys, url: proxy.url, times })
    await queue.push([page('1'), page('2')], 'start/0')
    const [done, held] = await leased(queue, 2)
    const isCommit = (command: readonly string[]) =>
      command.some((arg) => arg.includes('http://a.test/child'))
    proxy.judgeBy((command) => (isCommit(command) ? { holdReplyMs: 60_000 } : 'forward'))
    const committing = queue.commit(done!, { children: [page('child')] })
    const other = await open({ keys, times })
    await vi.waitUntil(async () => (await other.counts()).leased === 1, { interval: 5 })
    await proxy.down()
    // One after the other: a suspect runs alone.
    const taken: string[] = []
    while (taken.length < 2) {
      const [lease] = await leased(other, 1)
      taken.push(lease!.id)
      await other.commit(lease!)
    }
    expect(taken.sort()).toEqual([held!.id, 'child'].sort())
    proxy.judgeBy(() => 'forward')
    await proxy.up()
    await committing
    await expect(queue.commit(held!, { children: [page('other child')] })).rejects.toMatchObject(isLost)
    expect(await other.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
  })

  test('nothing is pushed to a crawl that has finished', async () => {
    const keys = bench.nextKeys()
    const redis = new Redis(bench.server.url)
    await redis.hset(keys.record, { run: 'n.1', state: 'running' })
    const queue = await open({ keys })
    expect(await queue.push([page('1')], 'start/0')).toBe(1)
    const [lease] = await leased(queue, 1)
    await queue.commit(lease!)
    await redis.hset(keys.record, { state: 'finished' })
    await expect(queue.push([page('2')], 'again/x')).rejects.toMatchObject(isLost)
    const aside = { ...page('3'), inDoubt: 'page' }
    await expect(queue.push([aside], 'again/y')).rejects.toMatchObject(isLost)
    expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
    redis.disconnect()
  })
})

test('QUEUE_MODE=turns: a request that must not leave, as its lock ran out, takes no place of its host', async () => {
  await using proxy = await startTcpProxy({ target: buckets.server.url })
  const queue = await buckets.queue({ url: proxy.url, times, pace: { concurrency: 1 } })
  await queue.push([page('1')], 'start/0')
  const [lease] = await leased(queue, 1)
  const renew = await silentUntilUnsafe(proxy, queue, lease!)
  lease!.started()
  expect(lease!.signal.aborted).toBe(true)
  proxy.flow()
  await expect(renew()).rejects.toMatchObject(isLost)
  const [again] = await leased(queue, 1)
  again!.started()
  await queue.commit(again!)
  expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
})

/** Resolves to the step that renews the lease, once another worker may have it. */
async function silentUntilUnsafe(
  proxy: { hang(): void },
  queue: { confirm(lease: Lease): (() => Promise<void>) | undefined },
  lease: Lease,
): Promise<() => Promise<void>> {
  proxy.hang()
  return vi.waitUntil(() => queue.confirm(lease), { interval: 5 })
}
