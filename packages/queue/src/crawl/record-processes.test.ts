/** The crawl's record where its workers are processes of their own. */

import { setTimeout as sleep } from 'node:timers/promises'
import { MachineLag } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { startCrawlWorker } from '../../testing/workers/crawl-processes.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const never = new AbortController().signal

test('of two processes that open a finished crawl at once, one begins the next, in which both are', async () => {
  const keys = bench.nextKeys()
  const first = bench.record(keys)
  await first.open()
  await first.takeStart(never)
  await first.startEnded(0)
  await first.finish()
  await first.leave()
  const workers = [1, 2].map(() => startCrawlWorker(bench.server.url, keys, 'open'))
  for (const worker of workers) await worker.waitForOutput(/ready/)
  for (const worker of workers) worker.write('go\n')
  const told = await Promise.all(
    workers.map(async (worker) => JSON.parse((await worker.exited).stdout.split('\n')[1]!)),
  )
  expect(told.map(({ begun }) => begun).sort()).toEqual([false, true])
  expect(told[0].run).toBe(told[1].run)
  expect(told[0].run).not.toBe(first.run.id)
})

test('start() is taken over within eight seconds when the process that runs it is killed, and no sooner while it lives', async () => {
  const keys = bench.nextKeys()
  await using holder = startCrawlWorker(bench.server.url, keys, 'run-start')
  await holder.waitForOutput(/start\(\) is at 3/)
  const other = bench.record(keys)
  await other.open()
  const taking = other.takeStart(never)
  // Waits: longer than a lease: it is renewed.
  expect(await Promise.race([taking, sleep(7000, 'waits')])).toBe('waits')
  using lag = new MachineLag()
  const killedAt = performance.now()
  holder.kill('SIGKILL')
  expect(await taking).toBe(3)
  expect(performance.now() - killedAt).toBeLessThan(8000 + lag.ms)
})
