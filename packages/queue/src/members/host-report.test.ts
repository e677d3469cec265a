import {
  HOST_LIST_MAX,
  HOST_LISTS_BYTES_MAX,
  HostListSources,
  scaledTimes,
  silentLogger,
} from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { HostReport, readHostLists } from './host-report.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const SOON = { times: scaledTimes(0.05) }

const failing = (host: string, failures = 1) => ({ host, failures, reason: '500', seenAtMs: Date.now() })

/** What a worker tells; `list` is what fails at it. */
function told(...list: ReturnType<typeof failing>[]) {
  const sources = new HostListSources()
  sources.add(() => ({ failing: list }))
  return { list, hostLists: () => sources.now() }
}

async function failingHosts(keys: CrawlRedisKeys, ...workers: { readonly workerId: string }[]) {
  const ids = workers.map(({ workerId }) => workerId)
  return (await readHostLists(bench.redis, keys, ids)).failing.map(({ host }) => host)
}

const reporters = (keys: CrawlRedisKeys) => bench.redis.hkeys(keys.hostLists)

test('what stands out is with the first heartbeat, is told again when it has changed, and goes when the worker leaves', async () => {
  const keys = bench.nextKeys()
  const { list, hostLists } = told(failing('a'))
  const worker = await bench.join(keys, { ...SOON, tells: { hostLists } })
  const other = await bench.join(keys, { ...SOON, tells: told(failing('b', 3)) })
  expect(await failingHosts(keys, worker, other)).toEqual(['b', 'a'])
  list[0] = failing('c')
  await until(async () => (await failingHosts(keys, worker)).includes('c'), 5000)
  list.length = 0
  await until(async () => (await failingHosts(keys, worker)).length === 0, 5000)
  expect(await failingHosts(keys, other)).toEqual(['b'])
  expect((await reporters(keys)).sort()).toEqual([worker.workerId, other.workerId].sort())
  for (const { heartbeat, record } of [worker, other]) {
    await heartbeat.close()
    await record.leave()
  }
  expect(await bench.redis.exists(keys.hostLists)).toBe(0)
})

test('a worker at which nothing stands out tells nothing', async () => {
  const keys = bench.nextKeys()
  const worker = await bench.join(keys, { ...SOON, tells: told() })
  const silent = await bench.join(keys, SOON)
  expect(await reporters(keys)).toEqual([])
  expect(await readHostLists(bench.redis, keys, [worker.workerId, silent.workerId])).toEqual(
    new HostListSources().now(),
  )
})

test('of 10 000 hosts that fail 200 are told, or as many as fit into 64 KiB', async () => {
  const keys = bench.nextKeys()
  const many = Array.from({ length: 10_000 }, (_, n) => failing(`${'long-name.'.repeat(20)}h${n}.test`, n))
  const worker = await bench.join(keys, { tells: told(...many) })
  const talkative = many.map((one) => ({ ...one, reason: 'it failed '.repeat(100) }))
  const other = await bench.join(keys, { tells: told(...talkative) })
  for (const [{ workerId }, count] of [
    [worker, HOST_LIST_MAX],
    [other, HOST_LIST_MAX / 2],
  ] as const) {
    const text = (await bench.redis.hget(keys.hostLists, workerId))!
    // The two moments come beside the lists.
    expect(Buffer.byteLength(text)).toBeLessThan(HOST_LISTS_BYTES_MAX + 64)
    const hosts = await failingHosts(keys, { workerId })
    expect(hosts).toHaveLength(count)
    expect(hosts[0]).toMatch(/h9999\.test$/)
  }
})

test('clear, and a crawl that begins where all others are lost, forget what was told', async () => {
  const keys = bench.nextKeys()
  const old = await bench.join(keys, { tells: told(failing('a')) })
  await old.heartbeat.close()
  await clearCrawl({
    redis: bench.redis,
    keys,
    statsKey: bench.statsKey(keys),
    force: true,
    clear: async () => {},
  })
  expect(await bench.redis.exists(keys.hostLists)).toBe(0)

  const killed = await bench.join(keys, { tells: told(failing('b')) })
  await killed.heartbeat.close()
  expect(await reporters(keys)).toEqual([killed.workerId])
  await bench.unheardFor(20_000, keys, killed.workerId)
  const next = await bench.join(keys, { tells: told(failing('c')) })
  expect(await reporters(keys)).toEqual([next.workerId])
})

test('a worker that is swept as lost is forgotten; one that lives after all tells all of it again', async () => {
  const keys = bench.nextKeys()
  const zombie = await bench.join(keys, { ...SOON, tells: told(failing('a')) })
  // As it is present, the next one finds a crawl that goes on.
  await bench.join(keys, SOON)
  const killed = await bench.join(keys, { tells: told(failing('b')) })
  await killed.heartbeat.close()
  await bench.unheardFor(700_000, keys, killed.workerId)
  for (const hash of [keys.workers, keys.hostLists]) await bench.redis.hdel(hash, zombie.workerId)
  await bench.join(keys, SOON)
  await until(async () => String(await reporters(keys)) === zombie.workerId, 5000)
})

test('a full Redis gets heartbeats without what stands out, and that too when there is room again', async () => {
  const keys = bench.nextKeys()
  const { list, hostLists } = told(failing('a'))
  const worker = await bench.join(keys, { ...SOON, tells: { hostLists } })
  const heardAt = async () =>
    (JSON.parse((await bench.redis.hget(keys.workers, worker.workerId))!) as { at: number }).at
  await bench.redis.config('SET', 'maxmemory', '1')
  list.push(failing('b', 2))
  const fullAt = await heardAt()
  // Longer than until the next report is due.
  await until(async () => (await heardAt()) > fullAt + 1000, 10_000)
  expect(await failingHosts(keys, worker)).toEqual(['a'])
  await bench.redis.config('SET', 'maxmemory', '0')
  await until(async () => (await failingHosts(keys, worker)).includes('b'), 5000)
})

test('moments are by Redis’s clock, however wrong the worker’s is', async () => {
  const keys = bench.nextKeys()
  const [at, seenAtMs] = [1_000_000, 2_000]
  const report = { at, sentAt: 5000, failing: [{ ...failing('a'), seenAtMs }] }
  await bench.redis.hset(keys.hostLists, 'w1', JSON.stringify(report), 'w2', 'of another release')
  expect(await readHostLists(bench.redis, keys, ['w1', 'w2', 'w3'])).toMatchObject({
    failing: [{ host: 'a', seenAtMs: at - 3000 }],
  })
})

test('of a report of another release, what cannot be read is left out', async () => {
  const keys = bench.nextKeys()
  const fine = { ...failing('a'), seenAtMs: 1, more: [1] }
  const reports = [
    {
      failing: [null, fine, { host: 'b' }, { ...fine, host: 5 }],
      mostQueued: [null],
      slowest: 5,
      paused: 'x',
      others: [1],
    },
    { failing: 7 },
  ].map((lists, n) => [`w${n}`, JSON.stringify({ at: 1, sentAt: 1, ...lists })])
  await bench.redis.hset(keys.hostLists, ...reports.flat(), 'w2', '{"at":"now"}', 'w3', 'null')
  const { failing: read, ...others } = await readHostLists(bench.redis, keys, ['w0', 'w1', 'w2', 'w3'])
  expect(read).toEqual([fine])
  expect(Object.values(others).flat()).toEqual([])
})

test('a part of the crawl that throws costs the lists and one warning, not the heartbeat', () => {
  const warned: string[] = []
  const warn = (_fields: object | string, message?: string) => void warned.push(message ?? '')
  const hostLists = () => {
    throw new Error('mine')
  }
  const report = new HostReport({ hostLists, everyMs: 0, logger: { ...silentLogger, warn } })
  expect([report.due().text, report.due().text]).toEqual(['', ''])
  expect(warned).toEqual([expect.stringContaining('crawler.hostLists')])
})

test('what Redis did not take is told with the next heartbeat that is due', () => {
  const report = new HostReport({ ...told(failing('a')), everyMs: 0, logger: silentLogger })
  const first = report.due()
  expect(report.due().text).toContain('"a"')
  first.sent()
  expect(report.due().text).toBe('')
  report.forgotten()
  expect(report.due().text).toContain('"a"')
})
