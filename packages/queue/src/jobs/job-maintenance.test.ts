import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, PROTOCOL_TIMES, Request, silentLogger } from '@webloom/core'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { bullKey, JobBench } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'

const bench = new JobBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())
afterEach(() => bench.closeAll())

test('when Redis is back after locks have run out, a worker that connects two seconds later keeps what it has', async () => {
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const keys = bench.nextKeys()
  const late = await bench.open({ keys, url: proxy.url })
  await late.push([{ id: '1', request: new Request('http://a.test/1') }], 'o')
  const [lease] = await leased(late, 1)
  lease!.started()
  proxy.hang()
  const redis = bench.connect()
  // As it is after ten seconds without Redis.
  await redis.del(`${bullKey(keys, 'r-1')}:lock`)
  await redis.set(bullKey(keys, 'stalled-check'), Date.now() - 10_000)
  const warned: unknown[] = []
  const logger: Logger = { ...silentLogger, warn: (...line: unknown[]) => warned.push(line) }
  await bench.open({ keys, logger })
  const lookedAt = async () => Number(await redis.get(bullKey(keys, 'stalled-check')))
  const before = await lookedAt()
  await vi.waitFor(async () => expect(await lookedAt()).toBeGreaterThan(before), POLL)
  const backAt = Date.now()
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(backAt + 2000), POLL)
  proxy.flow()
  await late.commit(lease!)
  expect(warned).toEqual([])
})

test('what is due by Redis’s clock is handed out by a worker whose clock is an hour late', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
  try {
    const queue = await bench.open()
    const request = new Request('http://a.test/1')
    await queue.push([{ id: '1', request }], 'o')
    const [first] = await leased(queue, 1)
    await queue.retry(first!, request, 200)
    const [second] = await leased(queue, 1)
    expect(second!.attempt).toBe(1)
    await queue.commit(second!)
  } finally {
    vi.useRealTimers()
  }
})

test('a request on its way to the engine is not lost when Redis takes no writes just then', async () => {
  const jobs = { ...PROTOCOL_TIMES.jobs, lockedMsMin: Number.POSITIVE_INFINITY, errorPauseMs: 50 }
  const queue = await bench.open({ times: { ...PROTOCOL_TIMES, jobs }, pace: { delayMs: 400 } })
  const pages = ['1', '2'].map((id) => ({ id, request: new Request(`http://a.test/${id}`) }))
  await queue.push(pages, 'o')
  const [first] = await leased(queue, 1)
  first!.started()
  const taking = queue.lease(1)
  await vi.waitFor(async () => expect((await queue.counts()).leased).toBe(2), POLL)
  await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
  const refused = async () => String(await bench.server.command('INFO', 'errorstats')).includes('NOREPLICAS')
  await vi.waitFor(async () => expect(await refused()).toBe(true), POLL)
  // Waits: the moment at which the second may go is over by then.
  await sleep(500)
  await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  const [second] = await taking.then((found) => (found.length > 0 ? found : leased(queue, 1)))
  expect(second).toMatchObject({ id: '2', attempt: 1 })
})

const POLL = { interval: 10 }
