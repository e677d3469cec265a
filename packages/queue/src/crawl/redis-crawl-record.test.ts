import { scaledTimes } from '@webloom/core'
import { crawlRecordContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { pauseCrawl } from '../outside/crawl-control.ts'
import { readCrawl } from '../outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { Todo } from './crawl-todo.ts'
import type { RedisCrawlRecord } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const never = new AbortController().signal

crawlRecordContract(
  { describe, test },
  {
    name: 'RedisCrawlRecord',
    create: async () => {
      const keys = bench.nextKeys()
      return { record: () => bench.record(keys, { persists: true }), dispose: async () => {} }
    },
  },
)

test('whether start() has ended is asked once, and again when a heartbeat tells otherwise', async () => {
  const keys = bench.nextKeys()
  let mayStart = true
  await bench.begun(keys)
  const late = bench.record(keys, { mayStart: () => mayStart })
  await late.open()
  expect(await late.takeStart(never)).toBeNull()
  mayStart = false
  // As in an older state that has come back.
  await bench.redis.hdel(keys.record, 'startEnded', 'startOwner')
  expect(await late.takeStart(never)).toBeNull()
  mayStart = true
  expect(await late.takeStart(never)).toBe(0)
})

test('start() and outputs wait for a Redis that takes no writes: they have not failed for that', async () => {
  const keys = bench.nextKeys()
  const record = bench.record(keys, { times: scaledTimes(0.1) })
  await record.open()
  const whileRefusing = async (step: () => Promise<unknown>) => {
    await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    const refused = /NOREPLICAS:count=(\d+)/
    const count = async () =>
      Number(refused.exec(String(await bench.server.command('INFO', 'errorstats')))?.[1] ?? 0)
    const before = await count()
    const stepping = step()
    try {
      await Promise.race([stepping, until(async () => (await count()) > before, 5000)])
    } finally {
      await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    }
    return stepping
  }
  await whileRefusing(() => record.beginOutput('items.jsonl'))
  expect(await record.outputBegun('items.jsonl')).toBe(true)
  expect(await whileRefusing(() => record.takeStart(never))).toBe(0)
  await whileRefusing(() => record.startMoved(0, 3))
  await whileRefusing(() => record.startEnded(3))
  expect(await bench.redis.hmget(keys.record, 'startCursor', 'startEnded')).toEqual(['3', '1'])
})

describe('open', () => {
  test('two workers opening at once: exactly one begins, and both are in the same run', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = bench.nextKeys()
      const records = [1, 2, 3].map(() => bench.record(keys, { redis: bench.connect() }))
      const pasts = await Promise.all(records.map((record) => record.open()))
      expect(pasts.filter((past) => !past.begun)).toHaveLength(1)
      expect(new Set(records.map((record) => record.run.id)).size).toBe(1)
    }
  })

  test('a finished crawl is not begun again by a worker that merely starts', async () => {
    const keys = bench.nextKeys()
    const first = await bench.begun(keys)
    expect(await first.finish()).toBe(true)
    const late = bench.record(keys)
    const past = await late.open()
    expect(past.finishedAt!.getTime()).toBeGreaterThan(Date.now() - 10_000)
    expect(await bench.stateOf(keys)).toBe('finished')
    expect(await bench.entriesOf(keys)).toBe(1)
    await late.ended('closespider_timeout')
    await late.close()
    expect(await bench.stateOf(keys)).toBe('finished')
  })

  test('whoever may begin follows a finished crawl with a new one, and nothing of the old is left in the record', async () => {
    const keys = bench.nextKeys()
    const first = await bench.begun(keys)
    await first.beginOutput('out.jsonl')
    await bench.redis.hset(keys.record, 'startCursor', 7)
    await first.finish()
    const second = bench.record(keys, { begins: true })
    expect(await second.open()).toEqual({ begun: false, anew: true })
    expect(second.run.id).not.toBe(first.run.id)
    expect(await second.takeStart(never)).toBe(0)
    expect(await second.outputBegun('out.jsonl')).toBe(false)
  })

  test('a worker that slept through the end of its run changes nothing in the next', async () => {
    const keys = bench.nextKeys()
    const old = await bench.begun(keys)
    await old.finish()
    const next = await bench.begun(keys, { begins: true })
    expect(await old.finish()).toBe(false)
    await old.ended('cancelled')
    await expect(old.startMoved(0, 3)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    expect(await old.takeStart(never)).toBeNull()
    await old.leave()
    expect(await bench.stateOf(keys)).toBe('running')
    expect(await bench.redis.hget(keys.record, 'run')).toBe(next.run.id)
  })

  test('a finished crawl goes on for a worker to which seeds may come: the same run, start() is over', async () => {
    const keys = bench.nextKeys()
    const first = await bench.begun(keys)
    await first.finish()
    await first.ended('finished')
    expect(await first.leave()).toMatchObject({ last: true, owes: true })
    await bench.doOwed(keys)
    for (const begins of [false, false]) {
      const waked = bench.record(keys, { begins, wakes: true })
      expect(await waked.open()).toEqual({ begun: true })
      expect(waked.run.id).toBe(first.run.id)
      expect(await waked.takeStart(never)).toBeNull()
      expect(await bench.stateOf(keys)).toBe('running')
      expect(await waked.finish()).toBe(true)
    }
  })

  test('its end empties nothing, but the next crawl does, and SCHEDULER_FLUSH_ON_START when it wakes', async () => {
    const keys = bench.nextKeys()
    const first = await bench.begun(keys, { wakes: true })
    await first.finish()
    await first.ended('finished')
    expect(await first.leave()).toEqual({ last: true, finished: true, owes: true })
    const kept: Todo[] = []
    const act = async (todo: Todo) => void kept.push(todo)
    await bench.doOwed(keys, act)
    const flushing = bench.record(keys, { wakes: true, flushes: true })
    expect(await flushing.open()).toEqual({ begun: true, anew: true })
    await bench.doOwed(keys, act)
    await flushing.takeStart(never)
    await flushing.startEnded(0)
    await flushing.finish()
    await flushing.ended('finished')
    // It dies before it has done anything.
    expect(await flushing.leave()).toMatchObject({ last: true, owes: true })
    const again = bench.record(keys, { wakes: true, flushes: true })
    expect(await again.open()).toEqual({ begun: true, anew: true })
    await bench.doOwed(keys, act)
    await again.takeStart(never)
    await again.startEnded(0)
    await again.finish()
    await again.leave()
    const next = bench.record(keys, { wakes: true, begins: true })
    expect(await next.open()).toEqual({ begun: false, anew: true })
    await bench.doOwed(keys, act)
    expect(kept).toEqual(['owners', 'all', 'all', 'all'])
    // A signal stops it as any other.
    await next.ended('shutdown')
    expect(await next.leave()).toMatchObject({ last: true, owes: true })
  })

  test('its name is kept by its runs, and shared with no crawl of that name on another server', async () => {
    const keys = bench.nextKeys()
    const crawlOf = ({ runName }: RedisCrawlRecord) => runName.split(' ')[0]
    const first = await bench.begun(keys)
    await first.finish()
    const second = bench.record(keys, { begins: true })
    await second.open()
    expect(second.runName).not.toBe(first.runName)
    expect(crawlOf(second)).toBe(crawlOf(first))
    // Another server has no record of it.
    await bench.redis.del(keys.record)
    const other = await bench.begun(keys)
    expect(crawlOf(other)).not.toBe(crawlOf(first))
  })

  test('that a worker has joined the filter is known to its run, and to no other run', async () => {
    const keys = bench.nextKeys()
    const first = await bench.begun(keys)
    expect(await first.isFilterJoined()).toBe(false)
    await first.noteFilter()
    expect(await first.isFilterJoined()).toBe(true)
    await first.finish()
    const second = bench.record(keys, { begins: true })
    await second.open()
    await first.noteFilter()
    expect(await second.isFilterJoined()).toBe(false)
  })

  test('a crawl that was stopped goes on where it was, and no longer paused', async () => {
    const keys = bench.nextKeys()
    const first = bench.record(keys, { persists: true })
    await first.open()
    await first.takeStart(never)
    await first.startMoved(0, 5)
    await pauseCrawl({ redis: bench.redis, keys })
    await first.ended('cancelled')
    await first.leave()
    expect(await bench.stateOf(keys)).toBe('stopped')
    const second = bench.record(keys)
    expect(await second.open()).toEqual({ begun: true })
    expect(second.run.id).toBe(first.run.id)
    expect(second.run.runningSince).toBeGreaterThan(second.run.begunAt)
    expect(await second.takeStart(never)).toBe(5)
    const { state, paused, finishReason } = await bench.view(keys)
    expect({ state, paused, finishReason }).toEqual({ state: 'running', paused: false, finishReason: null })
  })
})

describe('finish', () => {
  test('is refused while start() may have more', async () => {
    const keys = bench.nextKeys()
    const record = bench.record(keys)
    await record.open()
    expect(await record.finish()).toBe(false)
    await record.takeStart(never)
    expect(await record.finish()).toBe(false)
    await record.startEnded(0)
    expect(await record.finish()).toBe(true)
  })

  const jobs = (keys: CrawlRedisKeys, list: string) => `webloom:${keys.queueName}:${list}`
  test.each([
    ['waiting in turns', (keys: CrawlRedisKeys) => bench.redis.hset(keys.frontierCounts, 'waiting', 1)],
    ['delayed in turns', (keys: CrawlRedisKeys) => bench.redis.hset(keys.frontierCounts, 'delayed', 1)],
    ['leased in turns', (keys: CrawlRedisKeys) => bench.redis.hset(keys.frontierCounts, 'leased', 1)],
    ['waiting as a job', (keys: CrawlRedisKeys) => bench.redis.lpush(jobs(keys, 'wait'), 'a')],
    ['of a paused queue', (keys: CrawlRedisKeys) => bench.redis.lpush(jobs(keys, 'paused'), 'a')],
    ['waiting by priority', (keys: CrawlRedisKeys) => bench.redis.zadd(jobs(keys, 'prioritized'), 1, 'a')],
    ['delayed as a job', (keys: CrawlRedisKeys) => bench.redis.zadd(jobs(keys, 'delayed'), 1, 'a')],
    ['leased as a job', (keys: CrawlRedisKeys) => bench.redis.lpush(jobs(keys, 'active'), 'a')],
  ])('is refused while a request is %s', async (_, put) => {
    const keys = bench.nextKeys()
    const record = await bench.begun(keys)
    await put(keys)
    expect(await record.finish()).toBe(false)
    expect(await bench.stateOf(keys)).toBe('running')
    await bench.redis.del(
      keys.frontierCounts,
      ...['wait', 'paused', 'prioritized', 'delayed', 'active'].map((list) => jobs(keys, list)),
    )
    expect(await record.finish()).toBe(true)
  })

  test('a turn that is just ending does not hold it up, and neither does what is quarantined', async () => {
    const keys = bench.nextKeys()
    const record = await bench.begun(keys)
    await bench.redis.hset(keys.frontierCounts, { waiting: 0, delayed: 0, leased: 0 })
    await bench.redis.lpush(jobs(keys, 'active'), 'a-turn')
    await bench.redis.hset(keys.quarantine, 'poison', '{}')
    expect(await record.finish()).toBe(true)
  })

  test('several workers that finish at once are all told so', async () => {
    const keys = bench.nextKeys()
    const records = [
      await bench.begun(keys),
      ...[1, 2, 3].map(() => bench.record(keys, { redis: bench.connect() })),
    ]
    for (const record of records.slice(1)) await record.open()
    expect(await Promise.all(records.map((record) => record.finish()))).toEqual([true, true, true, true])
    const { state, finishReason } = await bench.view(keys)
    expect({ state, finishReason }).toEqual({ state: 'finished', finishReason: 'finished' })
  })
})

test('a worker that was killed while it ran a suspect alone leaves no note of it behind the end of the crawl', async () => {
  const keys = bench.nextKeys()
  const record = await bench.begun(keys)
  await bench.redis.hset(keys.alone, 'killed', 'id')
  expect(await record.finish()).toBe(true)
  expect(await bench.redis.exists(keys.alone)).toBe(0)
})

test('an output is begun once on each machine, however its path is written', async () => {
  const keys = bench.nextKeys()
  const here = bench.record(keys, { host: 'here' })
  await here.open()
  expect(await here.outputBegun('/tmp/x/../out.json')).toBe(false)
  await here.beginOutput('/tmp/x/../out.json')
  expect(await bench.record(keys, { host: 'here' }).outputBegun('/tmp/out.json')).toBe(true)
  expect(await bench.record(keys, { host: 'there' }).outputBegun('/tmp/out.json')).toBe(false)
})

test.concurrent('after Redis was away nobody takes itself for the last one', async () => {
  const keys = bench.nextKeys()
  const [here, there] = [await bench.join(keys), await bench.join(keys)]
  await there.heartbeat.close()
  // None of them was heard for a while, and `here` is the first to be.
  await bench.unheardFor(11_000, keys, here.workerId, there.workerId)
  await bench.redis.hset(keys.record, 'beatAt', Date.now() - 11_000)
  await until(async () => (await bench.redis.hget(keys.record, 'silentUntil')) !== null, 10_000)
  await here.heartbeat.close()
  expect(await here.record.leave()).toMatchObject({ last: false })
  expect(await bench.stateOf(keys)).toBe('running')
})

test.concurrent('a Redis at its maxmemory still takes heartbeats, begins outputs, finishes the crawl and lets workers leave', async () => {
  const full = new CrawlBench()
  await full.start()
  try {
    const keys = full.nextKeys()
    const worker = await full.join(keys)
    await worker.record.takeStart(never)
    // Less than it needs when it is empty.
    await full.redis.config('SET', 'maxmemory', '500kb')
    await expect(full.redis.hset('any', 'field', 'value')).rejects.toThrow('OOM')
    const seenAt = async () =>
      (await readCrawl({ redis: full.redis, keys, statsKey: 'none' })).workers[0]!.seenAt.getTime()
    const before = await seenAt()
    await until(async () => (await seenAt()) > before, 10_000)
    await worker.record.beginOutput('items.jsonl')
    expect(await worker.record.outputBegun('items.jsonl')).toBe(true)
    await worker.record.startMoved(0, 1)
    await worker.record.startEnded(0)
    expect(await worker.record.finish()).toBe(true)
    await worker.hears('stop: finished')
    await worker.heartbeat.close()
    expect(await worker.record.leave()).toMatchObject({ last: true })
  } finally {
    await full.stop()
  }
})
