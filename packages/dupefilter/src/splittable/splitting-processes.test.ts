import { startProcess } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { page } from '../../testing/pages.ts'
import { SplittableBloomDupeFilter } from './splittable-bloom-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('a worker that is killed (-9) in the middle of a split: another goes on, nothing is lost, nothing twice', async () => {
  // A leaf of 2 900 requests, which takes dozens of steps.
  const options = {
    key: bench.nextKey(),
    leafBit: 17,
    errorRate: 1e-9,
    splitLeaseMs: 300,
    pendingStaleMs: 60_000,
  }
  const worker = startProcess(process.execPath, [
    '--conditions=webloom-source',
    new URL('../../testing/splitting-worker.ts', import.meta.url).pathname,
    JSON.stringify({ url: bench.url, ...options }),
  ])
  const redis = bench.connect()
  const doneOf = async () =>
    Number(/^frozen (\d+)/.exec((await redis.hget(`{${options.key}}:tree`, '0')) ?? '')?.[1] ?? 0)
  let hasEnded = false
  void worker.exited.then(() => {
    hasEnded = true
  })
  await vi.waitUntil(async () => hasEnded || (await doneOf()) > 0, { interval: 2 })
  expect(hasEnded, worker.stderr).toBe(false)
  worker.kill('SIGKILL')
  await worker.exited
  const done = await doneOf()
  expect(done, 'it was in the middle').toBeGreaterThan(0)
  expect(await redis.hget(`{${options.key}}:tree`, '0')).not.toBe('inner')
  const told = worker.stdout
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => JSON.parse(line) as number[])
  const filter = new SplittableBloomDupeFilter({ redis, ...options })
  await filter.open()
  expect(told.length).toBeGreaterThan(2500)
  // Those of the last page are in doubt when the worker had not said that it is done.
  const isNew = async (asker: string) =>
    (await filter.requestsSeen(told.map(page), asker)).filter((seen) => seen === false)
  expect(await isNew('after')).toEqual([])
  await vi.waitFor(async () => expect((await filter.describe()).splitting).toBe(0))
  expect(await redis.hget(`{${options.key}}:tree`, '0')).toBe('inner')
  expect(await isNew('after the split')).toEqual([])
  expect(await sumOfLeaves(options.key)).toBe((await filter.describe()).count)
  await filter.close()
})

async function sumOfLeaves(key: string): Promise<number> {
  const counts = await bench.connect().hvals(`{${key}}:leaves`)
  return counts.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0)
}
