import { setTimeout as sleep } from 'node:timers/promises'
import { crawlRecordContract } from '@webloom/core/contract'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { pauseCrawl } from '../members/crawl-control.ts'
import { readCrawl } from '../members/crawl-view.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { Todo } from './crawl-todo.ts'
import type { RedisCrawlRecord } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const never = new AbortController().signal
const stateOf = (keys: CrawlRedisKeys) => bench.redis.hget(keys.record, 'state')
const entriesOf = (keys: CrawlRedisKeys) => bench.redis.hlen(keys.workers)

crawlRecordContract(
  { describe, test },
  {
    name: 'RedisCrawlRecord',
    create: async () => {
      const keys = bench.nextCrawl()
      return { record: () => bench.record(keys, { persists: true }), dispose: async () => {} }
    },
  },
)

/** Begun, and start() is over. */
async function begun(keys: CrawlRedisKeys, options = {}): Promise<RedisCrawlRecord> {
  const record = bench.record(keys, options)
  await record.open()
  await record.takeStart(never)
  await record.startEnded(0)
  return record
}

/** As the engine leaves, told to by a signal. */
async function leave(record: RedisCrawlRecord) {
  await record.ended('shutdown')
  return record.leave()
}

test('whether start() has ended is asked once, and again when a heartbeat tells otherwise', async () => {
  const keys = bench.nextCrawl()
  let mayStart = true
  await begun(keys)
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

describe('open', () => {
  test('two workers opening at once: exactly one begins, and both are in the same run', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = bench.nextCrawl()
      const records = [1, 2, 3].map(() => bench.record(keys, { redis: bench.connect() }))
      const pasts = await Promise.all(records.map((record) => record.open()))
      expect(pasts.filter((past) => !past.begun)).toHaveLength(1)
      expect(new Set(records.map((record) => record.run.id)).size).toBe(1)
    }
  })

  test('of two processes that open a finished crawl at once, one begins the next, in which both are', async () => {
    const keys = bench.nextCrawl()
    const first = await begun(keys)
    await first.finish()
    await first.leave()
    const workers = [bench.startWorker(keys, 'open'), bench.startWorker(keys, 'open')]
    for (const worker of workers) await worker.waitForOutput(/ready/)
    for (const worker of workers) worker.write('go\n')
    const told = await Promise.all(
      workers.map(async (worker) => JSON.parse((await worker.exited).stdout.split('\n')[1]!)),
    )
    expect(told.map(({ begun }) => begun).sort()).toEqual([false, true])
    expect(told[0].run).toBe(told[1].run)
    expect(told[0].run).not.toBe(first.run.id)
  })

  test('a finished crawl is not begun again by a worker that merely starts', async () => {
    const keys = bench.nextCrawl()
    const first = await begun(keys)
    expect(await first.finish()).toBe(true)
    const late = bench.record(keys)
    const past = await late.open()
    expect(past.finishedAt!.getTime()).toBeGreaterThan(Date.now() - 10_000)
    expect(await stateOf(keys)).toBe('finished')
    expect(await entriesOf(keys)).toBe(1)
    await late.ended('closespider_timeout')
    await late.close()
    expect(await stateOf(keys)).toBe('finished')
  })

  test('whoever may begin follows a finished crawl with a new one, and nothing of the old is left in the record', async () => {
    const keys = bench.nextCrawl()
    const first = await begun(keys)
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
    const keys = bench.nextCrawl()
    const old = await begun(keys)
    await old.finish()
    const next = await begun(keys, { begins: true })
    expect(await old.finish()).toBe(false)
    await old.ended('cancelled')
    await expect(old.startMoved(0, 3)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    expect(await old.takeStart(never)).toBeNull()
    await old.leave()
    expect(await stateOf(keys)).toBe('running')
    expect(await bench.redis.hget(keys.record, 'run')).toBe(next.run.id)
  })

  test('a finished crawl goes on for a worker to which seeds may come: the same run, start() is over', async () => {
    const keys = bench.nextCrawl()
    const first = await begun(keys)
    await first.finish()
    await first.ended('finished')
    expect(await first.leave()).toMatchObject({ last: true, owes: true })
    await bench.doOwed(keys)
    for (const begins of [false, false]) {
      const waked = bench.record(keys, { begins, wakes: true })
      expect(await waked.open()).toEqual({ begun: true })
      expect(waked.run.id).toBe(first.run.id)
      expect(await waked.takeStart(never)).toBeNull()
      expect(await stateOf(keys)).toBe('running')
      expect(await waked.finish()).toBe(true)
    }
  })

  test('its end empties nothing, but the next crawl does, and SCHEDULER_FLUSH_ON_START when it wakes', async () => {
    const keys = bench.nextCrawl()
    const first = await begun(keys, { wakes: true })
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
    const keys = bench.nextCrawl()
    const crawlOf = ({ runName }: RedisCrawlRecord) => runName.split(' ')[0]
    const first = await begun(keys)
    await first.finish()
    const second = bench.record(keys, { begins: true })
    await second.open()
    expect(second.runName).not.toBe(first.runName)
    expect(crawlOf(second)).toBe(crawlOf(first))
    // Another server has no record of it.
    await bench.redis.del(keys.record)
    const other = await begun(keys)
    expect(crawlOf(other)).not.toBe(crawlOf(first))
  })

  test('that a worker has joined the filter is known to its run, and to no other run', async () => {
    const keys = bench.nextCrawl()
    const first = await begun(keys)
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
    const keys = bench.nextCrawl()
    const first = bench.record(keys, { persists: true })
    await first.open()
    await first.takeStart(never)
    await first.startMoved(0, 5)
    await pauseCrawl({ redis: bench.redis, keys })
    await first.ended('cancelled')
    await first.leave()
    expect(await stateOf(keys)).toBe('stopped')
    const second = bench.record(keys)
    expect(await second.open()).toEqual({ begun: true })
    expect(second.run.id).toBe(first.run.id)
    expect(second.run.runningSince).toBeGreaterThan(second.run.begunAt)
    expect(await second.takeStart(never)).toBe(5)
    const { state, paused, finishReason } = await view(keys)
    expect({ state, paused, finishReason }).toEqual({ state: 'running', paused: false, finishReason: null })
  })
})

const view = (keys: CrawlRedisKeys) => readCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys) })

describe('start()', () => {
  test('is run by one worker at a time; the next one begins where it left', async () => {
    const keys = bench.nextCrawl()
    const [a, b] = [bench.record(keys), bench.record(keys)]
    await a.open()
    await b.open()
    expect(await a.takeStart(never)).toBe(0)
    const waiting = b.takeStart(never)
    await a.startMoved(0, 1)
    await a.startMoved(1, 2)
    expect(await Promise.race([waiting, sleep(50, 'waits')])).toBe('waits')
    await a.leave()
    expect(await waiting).toBe(2)
    await b.startEnded(2)
    expect(await b.takeStart(never)).toBeNull()
  })

  test('who lost it is refused with its next element, and the cursor never goes back', async () => {
    const keys = bench.nextCrawl()
    const [slow, quick] = [bench.record(keys), bench.record(keys)]
    await slow.open()
    await quick.open()
    await slow.takeStart(never)
    await slow.startMoved(0, 2)
    // As if it had stood still for six seconds.
    await bench.redis.hset(keys.record, 'startUntil', 1)
    expect(await quick.takeStart(never)).toBe(2)
    await quick.startMoved(2, 9)
    await expect(slow.startMoved(2, 3)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    await expect(slow.startEnded(3)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    await quick.startMoved(3, 4)
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('9')
    await quick.close()
    await slow.close()
  })

  test('is run again when Redis goes back to before its end, or to before its last elements', async () => {
    const keys = bench.nextCrawl()
    const record = bench.record(keys)
    await record.open()
    await record.takeStart(never)
    await record.startMoved(0, 7)
    await bench.redis.hset(keys.record, 'startCursor', 5)
    await expect(record.startMoved(7, 8)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    await expect(record.startEnded(7)).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
    expect(await record.takeStart(never)).toBe(5)
    await record.startMoved(5, 8)
    await record.startEnded(8)
    await bench.redis.hdel(keys.record, 'startEnded')
    await bench.redis.hset(keys.record, 'startCursor', 6)
    expect(await record.finish()).toBe(false)
    expect(await record.takeStart(never)).toBe(6)
    expect(await record.finish()).toBe(false)
    await record.startEnded(6)
    expect(await record.finish()).toBe(true)
  })

  test('who waits for it gives up when told to', async () => {
    const keys = bench.nextCrawl()
    const [a, b] = [bench.record(keys), bench.record(keys)]
    await a.open()
    await b.open()
    await a.takeStart(never)
    const stopping = new AbortController()
    const waiting = b.takeStart(stopping.signal)
    stopping.abort()
    expect(await waiting).toBeNull()
    await a.close()
  })
})

describe('finish', () => {
  test('is refused while start() may have more', async () => {
    const keys = bench.nextCrawl()
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
    ['waiting in turns', (keys: CrawlRedisKeys) => bench.redis.hset(keys.turnCounts, 'waiting', 1)],
    ['delayed in turns', (keys: CrawlRedisKeys) => bench.redis.hset(keys.turnCounts, 'delayed', 1)],
    ['leased in turns', (keys: CrawlRedisKeys) => bench.redis.hset(keys.turnCounts, 'leased', 1)],
    ['waiting as a job', (keys: CrawlRedisKeys) => bench.redis.lpush(jobs(keys, 'wait'), 'a')],
    ['of a paused queue', (keys: CrawlRedisKeys) => bench.redis.lpush(jobs(keys, 'paused'), 'a')],
    ['waiting by priority', (keys: CrawlRedisKeys) => bench.redis.zadd(jobs(keys, 'prioritized'), 1, 'a')],
    ['delayed as a job', (keys: CrawlRedisKeys) => bench.redis.zadd(jobs(keys, 'delayed'), 1, 'a')],
    ['leased as a job', (keys: CrawlRedisKeys) => bench.redis.lpush(jobs(keys, 'active'), 'a')],
  ])('is refused while a request is %s', async (_, put) => {
    const keys = bench.nextCrawl()
    const record = await begun(keys)
    await put(keys)
    expect(await record.finish()).toBe(false)
    expect(await stateOf(keys)).toBe('running')
    await bench.redis.del(
      keys.turnCounts,
      ...['wait', 'paused', 'prioritized', 'delayed', 'active'].map((list) => jobs(keys, list)),
    )
    expect(await record.finish()).toBe(true)
  })

  test('a turn that is just ending does not hold it up, and neither does what is quarantined', async () => {
    const keys = bench.nextCrawl()
    const record = await begun(keys)
    await bench.redis.hset(keys.turnCounts, { waiting: 0, delayed: 0, leased: 0 })
    await bench.redis.lpush(jobs(keys, 'active'), 'a-turn')
    await bench.redis.hset(keys.quarantine, 'poison', '{}')
    expect(await record.finish()).toBe(true)
  })

  test('several workers that finish at once are all told so', async () => {
    const keys = bench.nextCrawl()
    const records = [
      await begun(keys),
      ...[1, 2, 3].map(() => bench.record(keys, { redis: bench.connect() })),
    ]
    for (const record of records.slice(1)) await record.open()
    expect(await Promise.all(records.map((record) => record.finish()))).toEqual([true, true, true, true])
    const { state, finishReason } = await view(keys)
    expect({ state, finishReason }).toEqual({ state: 'finished', finishReason: 'finished' })
  })
})

test('a worker that was killed while it ran a suspect alone leaves no note of it behind the end of the crawl', async () => {
  const keys = bench.nextCrawl()
  const record = await begun(keys)
  await bench.redis.hset(keys.alone, 'killed', 'id')
  expect(await record.finish()).toBe(true)
  expect(await bench.redis.exists(keys.alone)).toBe(0)
})

describe('the end of a worker', () => {
  test.each(['shutdown', 'memusage_exceeded', 'output_failed'])(
    '%s leaves the crawl to the others',
    async (reason) => {
      const keys = bench.nextCrawl()
      const [a, b] = [bench.record(keys), bench.record(keys)]
      await a.open()
      await b.open()
      await a.ended(reason)
      expect(await a.leave()).toMatchObject({ last: false, owes: false })
      expect(await stateOf(keys)).toBe('running')
      expect(await entriesOf(keys)).toBe(1)
    },
  )

  test('a limit stops the crawl for all, with its reason', async () => {
    const keys = bench.nextCrawl()
    const [a, b] = [bench.record(keys), bench.record(keys)]
    await a.open()
    await b.open()
    await a.ended('closespider_itemcount')
    await b.ended('shutdown')
    const { state, finishReason } = await view(keys)
    expect({ state, finishReason }).toEqual({ state: 'stopped', finishReason: 'closespider_itemcount' })
  })

  test('of several that leave at once exactly one is the last', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = bench.nextCrawl()
      const records = [1, 2, 3].map(() => bench.record(keys, { redis: bench.connect() }))
      for (const record of records) await record.open()
      const left = await Promise.all(records.map(leave))
      expect(left.filter(({ last, owes }) => last && owes)).toHaveLength(1)
      expect(await stateOf(keys)).toBe('stopped')
    }
  })

  test('without SCHEDULER_PERSIST nothing is left to be resumed: the next worker begins from the start', async () => {
    const keys = bench.nextCrawl()
    const first = bench.record(keys)
    await first.open()
    await first.takeStart(never)
    await first.startMoved(0, 4)
    await first.ended('shutdown')
    expect(await first.leave()).toMatchObject({ last: true, owes: true })
    // It dies before it has emptied anything.
    const second = bench.record(keys)
    expect(await second.open()).toEqual({ begun: false, anew: true })
    expect(second.run.id).not.toBe(first.run.id)
    expect(await second.takeStart(never)).toBe(0)
    await second.close()
  })

  test('with SCHEDULER_PERSIST, and when it is to be replaced, the last worker keeps all as it is', async () => {
    for (const [reason, persists, state] of [
      ['shutdown', true, 'stopped'],
      ['memusage_exceeded', false, 'running'],
      ['output_failed', false, 'stopped'],
      ['not_opened', false, 'stopped'],
    ] as const) {
      const keys = bench.nextCrawl()
      const first = bench.record(keys, { persists })
      await first.open()
      await first.takeStart(never)
      await first.startMoved(0, 4)
      await first.ended(reason)
      expect(await first.leave()).toMatchObject({ last: true, owes: false })
      expect(await stateOf(keys)).toBe(state)
      const second = bench.record(keys)
      expect(await second.open()).toEqual({ begun: true })
      expect(await second.takeStart(never)).toBe(4)
      await second.close()
    }
  })

  test('who was killed does not keep the last one from knowing that it is the last', async () => {
    const keys = bench.nextCrawl()
    const last = bench.record(keys)
    await bench.record(keys, { workerId: 'killed:1:1' }).open()
    await last.open()
    await bench.unheardFor(11_000, keys, 'killed:1:1')
    expect(await leave(last)).toMatchObject({ last: true })
  })
})

test('an output is begun once on each machine, however its path is written', async () => {
  const keys = bench.nextCrawl()
  const here = bench.record(keys, { host: 'here' })
  await here.open()
  expect(await here.outputBegun('/tmp/x/../out.json')).toBe(false)
  await here.beginOutput('/tmp/x/../out.json')
  expect(await bench.record(keys, { host: 'here' }).outputBegun('/tmp/out.json')).toBe(true)
  expect(await bench.record(keys, { host: 'there' }).outputBegun('/tmp/out.json')).toBe(false)
})

describe('a reply is lost, and the script sent again', () => {
  const lost = async (
    step: (record: RedisCrawlRecord, keys: CrawlRedisKeys) => Promise<unknown>,
    before = async (_record: RedisCrawlRecord) => {},
  ) => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextCrawl()
    const record = bench.record(keys, { redis: bench.connect(proxy.url) })
    await before(record)
    const fault = proxy.cutReplyOf(([name]) => /^EVAL/.test(name!))
    const answer = await step(record, keys)
    expect(fault.count).toBe(1)
    return { answer, keys }
  }
  const open = async (record: RedisCrawlRecord) => {
    await record.open()
    await record.takeStart(never)
  }

  test('open: it has begun all the same', async () => {
    await bench.record(bench.nextCrawl()).open() // Redis knows the script now.
    const { answer, keys } = await lost((record) => record.open())
    expect(answer).toEqual({ begun: false })
    expect(await entriesOf(keys)).toBe(1)
  })

  test('startMoved and startEnded: they are no lost lease', async () => {
    const { keys } = await lost((record) => record.startMoved(0, 3), open)
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('3')
    const ended = await lost((record) => record.startEnded(0), open)
    expect(await bench.redis.hget(ended.keys.record, 'startEnded')).toBe('1')
  })

  test('finish: it is finished', async () => {
    const { answer } = await lost(
      (record) => record.finish(),
      async (record) => {
        await open(record)
        await record.startEnded(0)
      },
    )
    expect(answer).toBe(true)
  })

  test('leave, and late, when all is emptied: it need not be emptied again', async () => {
    const keys = bench.nextCrawl()
    const [record, copy] = [1, 2].map(() => bench.record(keys, { workerId: 'the-same:1:1' }))
    await record!.open()
    await copy!.open()
    await leave(record!)
    await bench.doOwed(keys)
    expect(await leave(copy!)).toMatchObject({ last: true, owes: false })
  })

  test('leave: it was the last one', async () => {
    const { answer, keys } = await lost(leave, open)
    expect(answer).toMatchObject({ last: true, owes: true })
    expect(await stateOf(keys)).toBe('stopped')
  })
})

// These wait, each for its own crawl.

test.concurrent('start() is taken over within eight seconds when the process that runs it is killed, and no sooner while it lives', async () => {
  const keys = bench.nextCrawl()
  await using holder = bench.startWorker(keys, 'run-start')
  await holder.waitForOutput(/start\(\) is at 3/)
  const other = bench.record(keys)
  await other.open()
  const taking = other.takeStart(never)
  // Longer than a lease: it is renewed.
  expect(await Promise.race([taking, sleep(7000, 'waits')])).toBe('waits')
  const killedAt = performance.now()
  holder.kill('SIGKILL')
  expect(await taking).toBe(3)
  expect(performance.now() - killedAt).toBeLessThan(8000)
})

test.concurrent('after Redis was away nobody takes itself for the last one', async () => {
  const keys = bench.nextCrawl()
  const [here, there] = [await bench.join(keys), await bench.join(keys)]
  await there.heartbeat.close()
  // None of them was heard for a while, and `here` is the first to be.
  await bench.unheardFor(11_000, keys, here.workerId, there.workerId)
  await bench.redis.hset(keys.record, 'beatAt', Date.now() - 11_000)
  await until(async () => (await bench.redis.hget(keys.record, 'silentUntil')) !== null, 10_000)
  await here.heartbeat.close()
  expect(await here.record.leave()).toMatchObject({ last: false })
  expect(await stateOf(keys)).toBe('running')
})

test.concurrent('a Redis at its maxmemory still takes heartbeats, begins outputs, finishes the crawl and lets workers leave', async () => {
  const full = new CrawlBench()
  await full.start()
  try {
    const keys = full.nextCrawl()
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
