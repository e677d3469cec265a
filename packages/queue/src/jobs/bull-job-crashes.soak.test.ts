/** What bull-job-crashes.test.ts shows with expired locks is shown here with nothing but time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { page } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'
import { quarantined } from '../../testing/quarantined.ts'
import { JobProcessBench } from '../../testing/workers/job-processes.ts'

const bench = new JobProcessBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())
afterEach(() => bench.closeAll())

test('a worker that sleeps for eight seconds is refused when it wakes; its pages ran once more, their links came once', async () => {
  const keys = bench.nextKeys()
  const queue = await bench.open({ keys })
  await queue.push([page(1), page(2)], 'o')
  const sleeper = bench.worker(keys, 'sleeper', { max: 2 })
  await sleeper.waitForOutput(/leased 2 1/)
  sleeper.kill('SIGSTOP')
  // Waits: the eight seconds of the title.
  await sleep(8000)
  for (let n = 1; n <= 2; n++) {
    const [lease] = await leased(queue, 1)
    expect(lease!.attempt).toBe(2)
    await queue.commit(lease!, { children: [page(`child of ${lease!.id}`)] })
  }
  sleeper.kill('SIGCONT')
  sleeper.write('commit 1\ncommit 2\n')
  await sleeper.waitForOutput(/refused 2 WL_LEASE_LOST/)
  await sleeper.waitForOutput(/refused 1 WL_LEASE_LOST/)
  expect(await queue.counts()).toEqual({ waiting: 2, delayed: 0, leased: 0, quarantined: 0 })
}, 60_000)

test('a poison page: the first death makes it a suspect, three more its end, none of them later than ten seconds', async () => {
  const keys = bench.nextKeys()
  const queue = await bench.open({ keys })
  await queue.push([page('poison')], 'o')
  for (let attempt = 1; attempt <= 4; attempt++) {
    const worker = bench.worker(keys, `worker ${attempt}`)
    await worker.waitForOutput(new RegExp(`leased poison ${attempt}`))
    worker.kill('SIGKILL')
    await worker.exited
  }
  // Waits: the ten seconds of the title.
  await sleep(10_000)
  expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 1 })
  const [entry] = await quarantined({ redis: bench.connect(), keys })
  expect(entry!.history.map(({ worker }) => worker)).toEqual(['worker 1', 'worker 2', 'worker 3', 'worker 4'])
}, 90_000)

test('Redis away for ten seconds: nobody who lived on loses what it had', async () => {
  await using server = await startRedis({ appendonly: 'always' })
  const keys = bench.nextKeys()
  const [one, other] = [
    await bench.open({ keys, url: server.url }),
    await bench.open({ keys, url: server.url }),
  ]
  await one.push(
    Array.from({ length: 20 }, (_, n) => page(n)),
    'o',
  )
  const leases = [...(await leased(one, 10)), ...(await leased(other, 10))]
  await server.kill()
  // Waits: the ten seconds of the title.
  await sleep(10_000)
  await server.restart()
  // Waits: so long a lock lasts: by then it is renewed or lost.
  await sleep(5000)
  expect(leases.filter(({ signal }) => signal.aborted)).toEqual([])
  for (const lease of leases.slice(0, 10)) await one.commit(lease)
  for (const lease of leases.slice(10)) await other.commit(lease)
  expect(await one.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
}, 60_000)

test('workers killed at random: nothing is lost, and no more is fetched again than was in flight', async () => {
  const keys = bench.nextKeys()
  const [pages, inFlight, kills] = [4000, 4, 8]
  const queue = await bench.open({ keys })
  await queue.push([page(1)], 'o')
  let started = 0
  const start = () => bench.worker(keys, `worker ${++started}`, { max: inFlight, treeTo: pages })
  const workers = [start(), start(), start()]
  for (let kill = 0; kill < kills; kill++) {
    const at = Math.floor(Math.random() * workers.length)
    await workers[at]!.waitForOutput(/all hands full/, 60_000)
    // Waits: a worker is killed at any point of its work.
    await sleep(Math.random() * 200)
    workers[at]!.kill('SIGKILL')
    workers[at] = start()
  }
  const redis = bench.connect()
  for (;;) {
    const { waiting, delayed, leased: held } = await queue.counts()
    if (waiting + delayed + held === 0) break
    // Waits: asked seldom, as the workers need the server.
    await sleep(500)
  }
  const fetched = Object.values(await redis.hgetall('fetched')).map(Number)
  expect(fetched.length).toBe(pages)
  const again = fetched.reduce((sum, times) => sum + times - 1, 0)
  console.log(`${kills} kills: ${again} fetched again`)
  expect(again).toBeGreaterThan(0)
  expect(again).toBeLessThanOrEqual(kills * inFlight)
  expect((await queue.counts()).quarantined).toBe(0)
}, 180_000)
