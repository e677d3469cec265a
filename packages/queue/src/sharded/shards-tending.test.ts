import { scaledTimes, silentLogger } from '@webloom/core'
import { expect, test, vi } from 'vitest'
import { HOME } from '../shards/crawl-shards.ts'
import { ShardRest } from '../shards/shard-rest.ts'
import type { ShardState } from '../shards/shard-state.ts'
import { OutboxDelivery } from './outbox-delivery.ts'
import type { OneWorkersTask } from './shards-home.ts'
import { ShardsTending } from './shards-tending.ts'

const TIMES = scaledTimes(0.1)

/** A crawl of two shards in which nothing is left, and workers of it that each count their looks. */
function endingCrawl() {
  const tasks = new Map<OneWorkersTask, string>()
  const startedAt = performance.now()
  const state = (): ShardState => ({
    ...{ replid: 'r', nowMs: performance.now() - startedAt, offset: 0, run: 'run' },
    mayFinish: true,
    ...{ waiting: 0, delayed: 0, leased: 0, sent: new Map(), applied: new Map() },
  })
  const crawl = { waiting: 0, runOf01: 'run', quietIn: 'run', owesNothing: true }
  const names = ['00', '01', HOME]
  const worker = (name: string, times = TIMES) => {
    let looks = 0
    let tended = 0
    const lost = Promise.withResolvers<{ readonly shards: readonly string[]; readonly tended: number }>()
    const looked: string[] = []
    const rests = new Map(names.map((shard) => [shard, new ShardRest()]))
    const script = (shard: string) => ({
      shardState: async () => {
        looks++
        looked.push(shard)
        return { ...state(), waiting: crawl.waiting, ...(shard === '01' && { run: crawl.runOf01 }) }
      },
      quietIn: async () => crawl.quietIn,
      read: async () => [],
      trim: async () => 0,
    })
    const takes = async (task: OneWorkersTask) => {
      if (!tasks.has(task)) tasks.set(task, name)
      if (task === 'tender') tended++
      return tasks.get(task) === name
    }
    const isOfAnother = async (task: OneWorkersTask) => tasks.has(task) && tasks.get(task) !== name
    const letsGo = async (task: OneWorkersTask) => void tasks.delete(task)
    const tending = new ShardsTending({
      scripts: new Map(names.map((shard) => [shard, script(shard)])),
      rests,
      home: {
        ...{ run: 'run', takes, isOfAnother, letsGo, look: async () => {}, keep: async () => {} },
        owesNothing: async () => crawl.owesNothing,
        endLost: async (shards) => lost.resolve({ shards, tended }),
      },
      delivery: new OutboxDelivery({
        logger: silentLogger,
        isShort: () => false,
        apply: () => Promise.reject(new Error('nothing is to be delivered')),
        onChanges: () => {},
      }),
      // By a message.
      onMissed: (shard) => void setImmediate(() => rests.get(shard)!.stirred()),
      times,
      logger: silentLogger,
    })
    return { tending, looks: () => looks, looked, rests, tended: () => tended, lost: lost.promise }
  }
  return { crawl, worker }
}

test('at the end one worker looks again and again, and the others take its word', async () => {
  const { worker } = endingCrawl()
  const [one, other] = [worker('one'), worker('other')]
  const ending = one.tending.isOver()
  await vi.waitUntil(() => one.looks() > 6, { interval: 5 })
  expect(await other.tending.isNothingLeft()).toBe(true)
  expect(await other.tending.isOver()).toBeUndefined()
  expect(other.looks()).toBe(0)
  expect(await ending).toBe(0)
})

test('a worker that finds something leaves the looking to whoever finds nothing next', async () => {
  const { crawl, worker } = endingCrawl()
  const [one, other] = [worker('one'), worker('other')]
  const ending = one.tending.isOver()
  await vi.waitUntil(() => one.looks() > 6, { interval: 5 })
  crawl.waiting = 1
  expect(await ending).toBeUndefined()
  expect(await other.tending.isNothingLeft()).toBe(false)
  crawl.waiting = 0
  expect(await other.tending.isOver()).toBe(0)
})

test('a crawl is not over while a shard does not know of its run: it has lost what it had', async () => {
  const { crawl, worker } = endingCrawl()
  const { tending } = worker('one')
  crawl.runOf01 = ''
  expect([await tending.isNothingLeft(), await tending.isOver()]).toEqual([false, undefined])
  crawl.runOf01 = 'run'
  const ending = tending.isOver()
  crawl.runOf01 = 'another'
  expect(await ending).toBeUndefined()
})

function rest(rests: ReadonlyMap<string, ShardRest>): void {
  for (const [name, one] of rests) {
    if (name !== HOME) one.swept(true, false)
    one.hasSentAll()
  }
}

test('shards that have nothing are left alone until they have something, or are found to', async () => {
  const { crawl, worker } = endingCrawl()
  const { tending, looked, rests } = worker('one', scaledTimes(0.01))
  rest(rests)
  tending.open()
  await vi.waitUntil(() => looked.length > 1, { interval: 5 })
  expect(new Set(looked)).toEqual(new Set([HOME]))
  rests.get('01')!.stirred()
  rests.get('01')!.sends()
  await vi.waitUntil(() => looked.includes('01'), { interval: 5 })
  expect(looked).not.toContain('00')
  crawl.quietIn = ''
  await vi.waitUntil(() => looked.includes('00'), { interval: 5 })
  tending.close()
})

test.each(['nothing at all', 'nothing for others', 'something for others'])(
  'a shard that had %s and has lost all is found by the next look at it',
  async (what) => {
    const { crawl, worker } = endingCrawl()
    const { tending, rests, tended, lost } = worker('one', scaledTimes(0.05))
    rest(rests)
    if (what !== 'nothing at all') rests.get('01')!.stirred()
    if (what === 'something for others') rests.get('01')!.sends()
    tending.open()
    await vi.waitUntil(() => tended() > 0, { interval: 1 })
    const before = tended()
    Object.assign(crawl, { runOf01: '', quietIn: '' })
    expect(await lost).toEqual({ shards: ['01'], tended: before + 1 })
    tending.close()
  },
)

test('a shard that does not know of the run while that is still to be told is not lost', async () => {
  const { crawl, worker } = endingCrawl()
  const { tending, rests, looked, lost } = worker('one', scaledTimes(0.01))
  Object.assign(crawl, { runOf01: '', owesNothing: false })
  rest(rests)
  rests.get('01')!.stirred()
  tending.open()
  const found = vi.fn()
  void lost.then(found)
  await vi.waitUntil(() => looked.filter((name) => name === '01').length > 3, { interval: 1 })
  expect(found).not.toHaveBeenCalled()
  crawl.owesNothing = true
  expect(await lost).toMatchObject({ shards: ['01'] })
  tending.close()
})

test('a crawl that had nothing is not looked at again until it has something', async () => {
  const { crawl, worker } = endingCrawl()
  const { tending, looked, rests } = worker('one')
  expect([await tending.isNothingLeft(), await tending.isNothingLeft(), looked.length]).toEqual([
    true,
    true,
    6,
  ])
  rest(rests)
  expect([await tending.isNothingLeft(), await tending.isNothingLeft(), looked.length]).toEqual([
    true,
    true,
    9,
  ])
  crawl.waiting = 1
  rests.get('00')!.stirred()
  expect(await tending.isNothingLeft()).toBe(false)
})
