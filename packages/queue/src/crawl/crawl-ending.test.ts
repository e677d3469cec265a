import { scaledTimes, silentLogger } from '@webloom/core'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, finished, stopped, until } from '../../testing/crawl-bench.ts'
import { adoptCrawl } from '../outside/crawl-control.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { CrawlEnding } from './crawl-ending.ts'
import { joinedRunOf } from './crawl-run.ts'
import type { RedisCrawlRecord, RedisCrawlRecordOptions } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const never = new AbortController().signal
const forEver = new Promise<void>(() => {})
const TIMES = scaledTimes(0.05)

/** What the filter knows of an earlier crawl of the name, and whether that and this one are all that use it. */
interface LostBefore {
  isKnown: boolean
  readonly isAlone: boolean
  /** False: no worker lived to note it. Until it is found silent, it may be another that uses the filter. */
  isNoted?: boolean
  /** It is not known yet whether it is over. */
  isAwaited?: boolean
  onWait?: () => void
  /** How often it was asked about. */
  looks?: number
}

/** Queue, filter and start hosts that tell what is done to them; the worker dies at that step, if one is given. */
function workerOf(
  keys: CrawlRedisKeys,
  options: Partial<RedisCrawlRecordOptions> & {
    dies?: string
    comesBack?: boolean
    lost?: LostBefore
    place?: string
  } = {},
) {
  const { dies, comesBack = false, lost, place, ...more } = options
  const redis: Redis = bench.connect()
  const workerId = bench.nextWorker()
  const record = bench.record(keys, { redis, workerId, times: TIMES, ...more })
  const steps: string[] = []
  const lines: string[] = []
  const step = (name: string) => () => {
    if (name === dies) {
      redis.disconnect()
      return forEver
    }
    steps.push(name)
    return Promise.resolve()
  }
  const ending = new CrawlEnding({
    redis,
    keys,
    workerId,
    record,
    startHosts: { clear: step('start hosts') },
    pageForms: { clear: async () => {} },
    queue: {
      clear: step('queue'),
      counts: async () => ({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 }),
    },
    filter: {
      clear: () => {
        if (lost?.isAlone && lost.isNoted !== false) lost.isKnown = false
        return step('filter')()
      },
      knowsLostCrawl: async (signal) => {
        if (lost?.isAwaited)
          return new Promise((_, reject) => {
            lost.onWait?.()
            signal!.addEventListener('abort', () => reject(signal!.reason))
          })
        if (lost) Object.assign(lost, { isNoted: true, looks: (lost.looks ?? 0) + 1 })
        return lost?.isKnown ?? false
      },
      crawlEnded: step('owners'),
      ...(place && { place: async () => place }),
      joined: async (goesOn) => void steps.push(goesOn ? 'joined again' : 'joined'),
    },
    lostBefore: () => new Error('lost before'),
    otherPlace: () => new Error('other place'),
    times: TIMES,
    ...{ persists: more.persists ?? false, flushes: more.flushes ?? false, comesBack },
    logger: {
      ...silentLogger,
      info: (line: unknown) => void lines.push(String(line)),
      warn: (line: unknown) => void lines.push(String(line)),
    },
  })
  /** Resolves when it is done, or the worker is dead. */
  const tidy = () => {
    const dead = new Promise<void>((resolve) => redis.once('end', resolve))
    return Promise.race([ending.tidy(), dead])
  }
  return { record, ending, tidy, steps, lines }
}

describe('a worker whose filter knows a crawl that the queue has lost', () => {
  const known = (isAlone = true): LostBefore => ({ isKnown: true, isAlone })

  test('is refused where what was seen is to stay, again and again', async () => {
    const [keys, lost] = [bench.nextKeys(), known()]
    for (let n = 0; n < 2; n++) {
      const worker = workerOf(keys, { lost, persists: true })
      await worker.record.open()
      await expect(worker.ending.enter()).rejects.toThrow('lost before')
      expect(worker.steps).toEqual([])
      await worker.record.leave()
    }
    lost.isKnown = false
    const next = workerOf(keys, { lost, persists: true })
    await next.record.open()
    await next.ending.enter()
    expect(next.steps).toEqual(['joined'])
    lost.isKnown = true
    const beside = workerOf(keys, { lost, persists: true })
    await beside.record.open()
    await beside.ending.enter()
    expect(beside.steps, 'of a run that has begun').toEqual(['joined again'])
  })

  test('is refused before shards are emptied that are left', async () => {
    const worker = workerOf(bench.nextKeys(), { lost: known(), persists: true, shards: 3 })
    await worker.record.open()
    await expect(worker.ending.enter()).rejects.toThrow('lost before')
    expect(worker.steps).toEqual([])
  })

  test.each([1, 3])(
    'and is told to end while it waits empties and joins nothing: %s shards',
    async (shards) => {
      const ending = new AbortController()
      const waiting = Promise.withResolvers<void>()
      const lost = { ...known(), isAwaited: true, onWait: waiting.resolve }
      const worker = workerOf(bench.nextKeys(), { lost, persists: true, ...(shards > 1 && { shards }) })
      await worker.record.open()
      const entered = worker.ending.enter(ending.signal)
      await waiting.promise
      expect(worker.ending.waits).toMatch(/until an earlier crawl of this name/)
      ending.abort()
      await entered
      expect([worker.steps, worker.ending.waits]).toEqual([[], undefined])
      expect(await worker.record.isFilterJoined()).toBe(false)
    },
  )

  test('asks once, in a crawl of several shards, too', async () => {
    const lost: LostBefore = { isKnown: false, isAlone: true }
    const worker = workerOf(bench.nextKeys(), { lost, persists: true, shards: 3 })
    await worker.record.open()
    await worker.ending.enter()
    expect(worker.steps).toEqual(['queue', 'joined'])
    expect(lost.looks).toBe(1)
  })

  test('empties it without SCHEDULER_PERSIST, says so, and crawls', async () => {
    const [keys, lost] = [bench.nextKeys(), known()]
    const worker = workerOf(keys, { lost })
    await worker.record.open()
    await worker.ending.enter()
    expect(worker.steps).toEqual(['filter', 'joined'])
    expect(worker.lines).toEqual([expect.stringContaining('that was not finished with it')])
    const beside = workerOf(keys, { lost })
    await beside.record.open()
    await beside.ending.enter()
    expect(beside.steps).toEqual(['joined again'])
  })

  test('empties it with SCHEDULER_FLUSH_ON_START, too', async () => {
    const lost = { ...known(), isNoted: false }
    const worker = workerOf(bench.nextKeys(), { lost, persists: true, flushes: true })
    await worker.record.open()
    await worker.ending.enter()
    expect(worker.steps).toEqual([...EMPTIED, 'filter', 'joined'])
    expect(worker.lines).toEqual([expect.stringContaining('SCHEDULER_FLUSH_ON_START is true')])
  })

  test('is refused without SCHEDULER_PERSIST, too, where another crawl uses the filter', async () => {
    const worker = workerOf(bench.nextKeys(), { lost: known(false) })
    await worker.record.open()
    await expect(worker.ending.enter()).rejects.toThrow('lost before')
  })
})

describe('a worker with another filter that takes a crawl over', () => {
  const takenOver = async (keys: CrawlRedisKeys, persists = false) => {
    const first = workerOf(keys, { place: 'here', persists })
    await first.record.open()
    await first.ending.enter()
    const second = workerOf(keys, { place: 'there', persists })
    await second.record.open()
    await first.record.ended('shutdown')
    expect(await first.record.leave()).toMatchObject({ last: false })
    await second.ending.enter()
    return { second, crawl: crawlOf(second.record) }
  }
  const crawlOf = ({ runName }: RedisCrawlRecord) => runName.split(' ')[0]

  test('the next crawl is another one for the filter that was left: that knows what was not finished', async () => {
    const keys = bench.nextKeys()
    const { second, crawl } = await takenOver(keys)
    expect(await stopped(second.record)).toMatchObject({ owes: true })
    await second.tidy()
    expect(second.steps).toEqual(['joined again', ...EMPTIED])
    const lost = { isKnown: true, isAlone: true }
    const next = workerOf(keys, { place: 'here', lost })
    await next.record.open()
    expect(crawlOf(next.record)).not.toBe(crawl)
    await next.ending.enter()
    expect(next.steps).toEqual(['start hosts', 'queue', 'filter', 'joined'])
  })

  test('one that is brought requests after its end, and one that follows a finished one, are others, too', async () => {
    const keys = bench.nextKeys()
    const { second, crawl } = await takenOver(keys)
    await stopped(second.record)
    await second.tidy()
    const { name } = await joinedRunOf({ redis: bench.redis, keys })
    const { runName } = await adoptCrawl({ redis: bench.redis, keys })
    expect([name, runName.split(' ')[0] === crawl]).toEqual([runName, false])
    const others = bench.nextKeys()
    const kept = await takenOver(others, true)
    await kept.second.record.takeStart(never)
    await kept.second.record.startEnded(0)
    await finished(kept.second.record)
    await kept.second.tidy()
    const next = workerOf(others, { persists: true, begins: true })
    await next.record.open()
    expect(crawlOf(next.record)).not.toBe(kept.crawl)
  })

  test('is refused where its filter knows an earlier crawl; what the others have had is not emptied', async () => {
    const keys = bench.nextKeys()
    const first = workerOf(keys, { place: 'here' })
    await first.record.open()
    await first.ending.enter()
    await bench.unheardFor(TIMES.members.lostAfterMs + 1, keys, ...(await bench.redis.hkeys(keys.workers)))
    const second = workerOf(keys, { place: 'there', lost: { isKnown: true, isAlone: true } })
    await second.record.open()
    await expect(second.ending.enter()).rejects.toThrow('lost before')
    expect(second.steps).toEqual([])
  })

  test('one whose filter stays goes on under the name that it had', async () => {
    const keys = bench.nextKeys()
    const first = workerOf(keys, { place: 'here' })
    await first.record.open()
    await first.ending.enter()
    await stopped(first.record)
    await first.tidy()
    const next = workerOf(keys, { place: 'here, emptied' })
    await next.record.open()
    expect(crawlOf(next.record)).toBe(crawlOf(first.record))
  })
})

const EMPTIED = ['start hosts', 'queue', 'filter']

describe('the last worker of a crawl', () => {
  test.each(['nowhere', 'before it', ...EMPTIED])(
    'that is stopped empties it; it dies at: %s',
    async (dies) => {
      const keys = bench.nextKeys()
      const last = workerOf(keys, { dies })
      await last.record.open()
      await last.ending.enter()
      expect(last.steps).toEqual(['joined'])
      expect(await stopped(last.record)).toMatchObject({ owes: true })
      if (dies !== 'before it') await last.tidy()
      const next = workerOf(keys)
      expect(await next.record.open()).toEqual({ begun: false, anew: true })
      await next.ending.enter()
      // A new crawl always finds an empty queue; what was seen goes once.
      const owed = dies === 'nowhere' ? ['start hosts', 'queue'] : EMPTIED
      expect(next.steps).toEqual([...owed, 'joined'])
    },
  )

  test.each(['nowhere', 'before it', 'owners'])(
    'that is finished and may be woken tidies its filter; it dies at: %s',
    async (dies) => {
      const keys = bench.nextKeys()
      const last = workerOf(keys, { dies, wakes: true })
      await last.record.open()
      await last.ending.enter()
      await last.record.takeStart(never)
      await last.record.startEnded(0)
      expect(await finished(last.record)).toEqual({ last: true, finished: true, owes: true })
      if (dies !== 'before it') await last.tidy()
      const next = workerOf(keys, { wakes: true })
      expect(await next.record.open()).toEqual({ begun: true })
      await next.ending.enter()
      expect(next.steps).toEqual(dies === 'nowhere' ? ['joined'] : ['owners', 'joined'])
      const beside = workerOf(keys, { wakes: true })
      await beside.record.open()
      await beside.ending.enter()
      expect(beside.steps).toEqual(['joined again'])
    },
  )

  test.each([
    ['one that comes back to its pages', true, 'webloom refresh'],
    ['another', false, 'SCHEDULER_FLUSH_ON_START'],
  ])('leaves a crawl that stays; of the next run %s is told what it has set', async (_, comesBack, says) => {
    const keys = bench.nextKeys()
    const last = workerOf(keys, { persists: true })
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    await finished(last.record)
    await last.tidy()
    const next = workerOf(keys, { persists: true, begins: true, comesBack })
    await next.record.open()
    await next.ending.enter()
    expect(next.lines).toEqual([expect.stringContaining(says)])
  })

  test('does nothing where another has woken the crawl since, and leaves it running', async () => {
    const keys = bench.nextKeys()
    const last = workerOf(keys, { wakes: true })
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    expect(await last.record.finish()).toBe(true)
    const next = workerOf(keys, { wakes: true })
    await next.record.open()
    await next.ending.enter()
    await last.record.ended('finished')
    expect(await last.record.leave()).toEqual({ last: false, finished: false, owes: false })
    expect(await bench.redis.hget(keys.record, 'state')).toBe('running')
    expect(await next.record.finish()).toBe(true)
    await next.record.ended('finished')
    expect(await next.record.leave()).toEqual({ last: true, finished: true, owes: true })
    const third = workerOf(keys, { wakes: true })
    await third.record.open()
    await third.ending.enter()
    await next.tidy()
    expect([next.steps, third.steps]).toEqual([['joined again'], ['owners', 'joined']])
    expect(await bench.redis.hget(keys.record, 'filterJoined')).toBe('1')
  })

  test('whose crawl ends as requests_left leaves all as it is', async () => {
    const keys = bench.nextKeys()
    const last = workerOf(keys, { requestsElsewhere: async () => 1 })
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    expect(await last.record.finish()).toBe('requests_left')
    await last.record.ended('requests_left')
    expect(await last.record.leave()).toEqual({ last: true, finished: false, owes: false })
    const next = workerOf(keys)
    expect(await next.record.open()).toEqual({ begun: true })
    await next.ending.enter()
    expect([last.steps, next.steps]).toEqual([['joined'], ['joined again']])
  })

  test.each([
    ['is gone', async (keys: CrawlRedisKeys) => void (await bench.redis.del(keys.record, keys.workers))],
    ['was begun anew', async (keys: CrawlRedisKeys) => void (await bench.begun(keys, { begins: true }))],
  ])('whose crawl %s does nothing to what is there now', async (_, happens) => {
    const keys = bench.nextKeys()
    const last = workerOf(keys)
    await last.record.open()
    await last.ending.enter()
    await last.record.takeStart(never)
    await last.record.startEnded(0)
    expect(await last.record.finish()).toBe(true)
    await happens(keys)
    const before = await bench.redis.hgetall(keys.record)
    await last.record.ended('finished')
    expect(await last.record.leave()).toEqual({ last: false, finished: false, owes: false })
    expect(await bench.redis.hgetall(keys.record)).toEqual(before)
  })

  test('that could not open its filter empties nothing, and the next one does', async () => {
    const keys = bench.nextKeys()
    await finished(await bench.begun(keys, { persists: true }))
    const refused = bench.record(keys, { begins: true, flushes: true })
    await refused.open()
    expect(await refused.leave()).toMatchObject({ last: true, owes: false })
    expect(await bench.record(keys).open()).toEqual({ begun: true, anew: true })
    expect(await bench.todoOf(keys)).toEqual(['all'])
  })
})

describe('a worker that was killed just before the crawl finished', () => {
  const killed = async (keys: CrawlRedisKeys, persists: boolean) => {
    const options = { persists, times: TIMES }
    const [living, dead] = [await bench.begun(keys, options), bench.record(keys, options)]
    await dead.open()
    return { living, dead }
  }

  test.each([
    ['all', false],
    ['owners', true],
  ] as const)('is waited for, and what is owed is owed by who lives: %s', async (todo, persists) => {
    const keys = bench.nextKeys()
    const { living } = await killed(keys, persists)
    expect(await finished(living)).toEqual({ last: true, finished: true, owes: true })
    expect(await bench.todoOf(keys)).toEqual([todo])
  })

  test('two that live and wait for it: one does what is owed', async () => {
    const keys = bench.nextKeys()
    const { living } = await killed(keys, false)
    const second = bench.record(keys, { times: TIMES })
    await second.open()
    let acts = 0
    const leave = async (record: RedisCrawlRecord) => {
      if ((await finished(record)).owes) await bench.doOwed(keys, async () => void acts++, { leaves: true })
    }
    await Promise.all([leave(living), leave(second)])
    expect(acts).toBe(1)
    expect(await bench.todoOf(keys)).toEqual([])
  })

  test('and lives after all: who is heard after the end is the last', async () => {
    const keys = bench.nextKeys()
    const options = { persists: false, times: scaledTimes(10) }
    const first = await bench.begun(keys, options)
    const second = bench.record(keys, { ...options, workerId: 'slow' })
    await second.open()
    const leaving = finished(first)
    const isFinished = async () => (await bench.redis.hget(keys.record, 'state')) === 'finished'
    await until(isFinished, 5000)
    await bench.unheardFor(-10, keys, 'slow')
    expect(await leaving).toMatchObject({ last: false, owes: false })
    await second.ended('finished')
    expect(await second.leave()).toEqual({ last: true, finished: true, owes: true })
  })

  test('and comes back when the crawl is emptied: it empties nothing again', async () => {
    const keys = bench.nextKeys()
    const { living, dead } = await killed(keys, false)
    expect((await finished(living)).owes).toBe(true)
    expect(await bench.todoOf(keys)).toEqual(['all'])
    expect(await dead.finish()).toBe(true)
    await dead.ended('finished')
    expect(await dead.leave()).toMatchObject({ owes: false })
    expect(await bench.todoOf(keys)).toEqual([])
  })
})

test('what lost workers have told of hosts goes with the last worker of a crawl that has ended, and stays while it runs', async () => {
  const keys = bench.nextKeys()
  const record = await bench.begun(keys)
  await bench.redis.hset(keys.hostLists, 'lost:1:a', '{"failing":[]}')
  const other = bench.record(keys)
  await other.open()
  await other.ended('memusage_exceeded')
  await other.leave()
  expect(await bench.redis.hkeys(keys.hostLists)).toEqual(['lost:1:a'])
  await finished(record)
  expect(await bench.redis.exists(keys.hostLists)).toBe(0)
})
