import assert from 'node:assert/strict'
import { WebloomError } from '../errors/errors.ts'
import type { Lease, RequestQueue } from '../ports/request-queue.ts'
import { storeTrouble } from '../redis/store-trouble.ts'
import { QUEUE_PACE_TESTS } from './queue-pace-tests.ts'
import {
  drain,
  ids,
  inDoubt,
  leasedOf,
  type Make,
  on,
  type QueueUnderTest,
  takenInDoubt,
} from './queue-under-test.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

export interface QueueImplementation {
  readonly name: string
  create(options: QueueUnderTest): Promise<{ queue: RequestQueue; dispose(): Promise<void> }>
  /** Opens a queue whose store can be made to refuse all that is written, as a master does whose replicas are gone. Absent: none can be. */
  createRefusing?(): Promise<RefusingQueue & { dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

export interface RefusingQueue {
  readonly queue: RequestQueue
  /** Resolves once the store refuses, or takes writes again. */
  refuse(isRefused: boolean): Promise<void>
}

const SLOT_NOW = 'how one slot stands is told at once'

const TESTS: ContractTests<Make> = {
  'an empty queue answers at once that nothing can come': async (make) => {
    const queue = await make()
    assert.deepEqual(await queue.lease(5), [])
    assert.deepEqual(await queue.counts(), { waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
  },
  'what is pushed is leased, counted in each state, and gone when committed': async (make) => {
    const queue = await make()
    assert.equal(await queue.push([on('a', 1), on('a', 2)], 'start'), 2)
    assert.equal((await queue.counts()).waiting, 2)
    const [lease] = await queue.lease(1)
    assert.equal(lease?.id, 'a/1')
    assert.equal(lease?.attempt, 1)
    assert.equal(lease?.redelivered, false)
    assert.equal(lease?.signal.aborted, false)
    assert.deepEqual(await queue.counts(), { waiting: 1, delayed: 0, leased: 1, quarantined: 0 })
    await queue.commit(lease as Lease)
    assert.deepEqual(await queue.counts(), { waiting: 1, delayed: 0, leased: 0, quarantined: 0 })
  },
  'a push repeated by the same asker adds nothing until it is settled': async (make) => {
    const queue = await make()
    assert.equal(await queue.push([on('a', 1)], 'start/0'), 1)
    const [lease] = await queue.lease(1)
    await queue.commit(lease as Lease)
    assert.equal(await queue.push([on('a', 1)], 'start/0'), 0)
    await queue.settled('start/0')
    assert.equal(await queue.push([on('a', 1)], 'start/1'), 1)
  },
  'elements of start() are queued together, each once': async (make) => {
    const queue = await make()
    const element = (n: number) => ({ ...on('a', n), element: n })
    assert.equal(await queue.pushStart([element(0), element(2)], 0, 3), 2)
    assert.equal(await queue.pushStart([], 3, 4), 0)
    assert.equal(await queue.pushStart([element(4), { ...element(5), element: 4 }], 4, 5), 2)
    assert.deepEqual(await drain(queue), ['a/0', 'a/2', 'a/4', 'a/5'])
  },
  'order priority: higher first, then first come': async (make) => {
    const queue = await make({ order: 'priority' })
    await queue.push(
      [
        on('a', 1),
        on('a', 2, { priority: 5 }),
        on('a', 3),
        on('a', 4, { priority: -1 }),
        on('a', 5, { priority: 5 }),
      ],
      'o',
    )
    assert.deepEqual(await drain(queue), ['a/2', 'a/5', 'a/1', 'a/3', 'a/4'])
  },
  'order fifo: first come, whatever the priority': async (make) => {
    const queue = await make({ order: 'fifo' })
    await queue.push([on('a', 1), on('a', 2, { priority: 5 }), on('a', 3)], 'o')
    assert.deepEqual(await drain(queue), ['a/1', 'a/2', 'a/3'])
  },
  'order lifo: last come first': async (make) => {
    const queue = await make({ order: 'lifo' })
    await queue.push([on('a', 1), on('a', 2), on('a', 3)], 'o')
    assert.deepEqual(await drain(queue), ['a/3', 'a/2', 'a/1'])
  },
  'commit queues the children in the same step': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    await queue.commit(lease as Lease, { children: [on('a', 2), on('b', 1)] })
    assert.deepEqual(await queue.counts(), { waiting: 2, delayed: 0, leased: 0, quarantined: 0 })
    assert.deepEqual(new Set(await drain(queue)), new Set(['a/2', 'b/1']))
  },
  'a waiting lease gets the children of a page that was in flight': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1)], 'o')
    const [parent] = await queue.lease(1)
    const waiting = queue.lease(3)
    await queue.commit(parent as Lease, { children: [on('a', 2)] })
    assert.deepEqual(ids(await waiting), ['a/2'])
  },
  'a waiting lease ends with none when the last page in flight had no children': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1)], 'o')
    const [last] = await queue.lease(1)
    const waiting = queue.lease(3)
    await queue.commit(last as Lease)
    assert.deepEqual(await waiting, [])
  },
  'what is in doubt is set aside with the commit, in nobody’s line, counted as delayed, and once': async (
    make,
  ) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    await queue.commit(first as Lease, { children: [inDoubt('b', 1), on('a', 3), inDoubt('b', 2)] })
    assert.deepEqual(await queue.counts(), { waiting: 2, delayed: 2, leased: 0, quarantined: 0 })
    const [second] = await queue.lease(1)
    await queue.commit(second as Lease, { children: [inDoubt('b', 1)] })
    assert.deepEqual(await queue.counts(), { waiting: 1, delayed: 2, leased: 0, quarantined: 0 })
    const [third] = await queue.lease(1)
    await queue.commit(third as Lease)
    assert.equal(await queue.isEmpty(), false)
  },
  'what is in doubt is taken once for all, and ended: queued, or gone': async (make) => {
    const queue = await make()
    assert.equal(await queue.push([inDoubt('a', 1), on('a', 2), inDoubt('b', 3)], 'o'), 1)
    const taken = await takenInDoubt(queue, 2)
    assert.deepEqual(new Set(ids(taken)), new Set(['a/1', 'b/3']))
    assert.equal(taken.find(({ id }) => id === 'b/3')?.request.url, 'http://b.test/3')
    const fresh = taken.filter(({ id }) => id === 'a/1')
    assert.deepEqual(await queue.doubts.end(fresh, ['b/3']), ['a/1'])
    assert.deepEqual(await queue.counts(), { waiting: 2, delayed: 0, leased: 0, quarantined: 0 })
    assert.deepEqual(await queue.doubts.end(taken, []), [], 'ended twice')
    assert.deepEqual(await drain(queue), ['a/2', 'a/1'])
    assert.equal(await queue.isEmpty(), true)
  },
  'what was in doubt goes to the line of its host, also when it is given back as it was taken': async (
    make,
  ) => {
    const queue = await make()
    await queue.push([inDoubt('a', 1)], 'o')
    const taken = await takenInDoubt(queue, 1)
    assert.deepEqual(await queue.doubts.end(taken, []), ['a/1'])
    const [lease] = await leasedOf(queue, 1)
    assert.deepEqual([lease?.id, lease?.slot], ['a/1', 'a.test'])
    await queue.commit(lease as Lease)
    assert.equal(await queue.isEmpty(), true)
  },
  'what elements of start() are in doubt of is set aside with them': async (make) => {
    const queue = await make()
    assert.equal(await queue.pushStart([{ ...inDoubt('a', 0), element: 0 }], 0, 1), 0)
    assert.equal((await queue.counts()).delayed, 1)
    await queue.doubts.end([], ['a/0'])
    assert.equal(await queue.isEmpty(), true)
  },
  'the last doubt that ends with nothing ends a wait for requests': async (make) => {
    const queue = await make()
    await queue.push([inDoubt('a', 1)], 'o')
    const waiting = queue.lease(1)
    await queue.doubts.end([], ['a/1'])
    assert.deepEqual(await waiting, [])
    assert.equal(await queue.isEmpty(), true)
  },
  'clear forgets what is in doubt': async (make) => {
    const queue = await make()
    await queue.push([inDoubt('a', 1)], 'o')
    await queue.clear()
    assert.equal((await queue.counts()).delayed, 0)
    assert.deepEqual(await queue.doubts.end([on('a', 1)], []), [])
  },
  'an aborted wait ends with none and loses nothing': async (make) => {
    const queue = await make({ concurrency: 1 })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    const abort = new AbortController()
    const waiting = queue.lease(1, abort.signal)
    abort.abort()
    assert.deepEqual(await waiting, [])
    await queue.commit(first as Lease)
    assert.deepEqual(ids(await queue.lease(1)), ['a/2'])
  },
  'retry stores the changed request and holds it back for its delay': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    const request = (lease as Lease).request.replace({ meta: { retry_times: 1 } })
    const before = performance.now()
    await queue.retry(lease as Lease, request, 80)
    assert.deepEqual(await queue.counts(), { waiting: 0, delayed: 1, leased: 0, quarantined: 0 })
    const [again] = await queue.lease(1)
    assert.ok(performance.now() - before >= 75)
    assert.equal(again?.id, 'a/1')
    assert.equal(again?.request.meta.retry_times, 1)
  },
  'retry without delay comes back in turn': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [lease] = await queue.lease(1)
    await queue.retry(lease as Lease, (lease as Lease).request.replace({ priority: -1 }), 0)
    assert.deepEqual(await drain(queue), ['a/2', 'a/1'])
  },
  'what goes back first keeps its place, changed, before what was handed out after it': async (make) => {
    const queue = await make()
    await queue.push(
      [1, 2, 3, 4].map((n) => on('a', n)),
      'o',
    )
    const leases = [...(await queue.lease(1)), ...(await queue.lease(1))]
    const changed = leases.map(({ request }) => request.replace({ meta: { asked: true } }))
    await Promise.all(leases.map((lease, n) => queue.retry(lease, changed[n]!, 'first')))
    const [first] = await queue.lease(1)
    assert.equal(first?.request.meta.asked, true)
    await queue.retry(first as Lease, (first as Lease).request, 'first')
    assert.deepEqual(await drain(queue), ['a/1', 'a/2', 'a/3', 'a/4'])
  },
  'requeue puts the request back at the head of its line': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [lease] = await queue.lease(1)
    await queue.requeue(lease as Lease)
    assert.deepEqual(await drain(queue), ['a/1', 'a/2'])
  },
  'reject takes the request out of its line, and its host goes on': async (make) => {
    const queue = await make({ concurrency: 1 })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [lease] = await queue.lease(1)
    await queue.reject(lease as Lease, 'no callback parseList')
    const { delayed, quarantined, leased } = await queue.counts()
    assert.deepEqual([delayed + quarantined, leased], [1, 0])
    assert.deepEqual(ids(await queue.lease(5)), ['a/2'])
  },
  'a lease can be ended only once': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1)], 'o')
    const [lease] = await queue.lease(1)
    await queue.commit(lease as Lease)
    const lost = (error: unknown) => error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
    await assert.rejects(queue.commit(lease as Lease, { children: [on('a', 2)] }), lost)
    await assert.rejects(queue.requeue(lease as Lease), lost)
    assert.equal((await queue.counts()).waiting, 0)
  },
  [SLOT_NOW]: async (make) => {
    const queue = await make({ concurrency: 1 })
    assert.ok(queue.slotNow, 'it has no slotNow(): add ...withoutSlotNow(reason) to the deviations')
    assert.equal(queue.slotNow('a.test'), undefined)
    await queue.push(
      [1, 2, 3].map((n) => on('a', n)),
      'o',
    )
    const [lease] = (await queue.lease(1)) as [Lease]
    const now = { waiting: 2, delayed: 0, leased: 1, nextInMs: 0, delayMs: 0, failures: 0 }
    assert.deepEqual(queue.slotNow('a.test'), now)
    await queue.retry(lease, lease.request, 60_000, { failures: 1 })
    assert.deepEqual(queue.slotNow('a.test'), { ...now, delayed: 1, leased: 0, failures: 1 })
  },
  'the slots with the most waiting are named, the longest first': async (make) => {
    const queue = await make({ concurrency: 1 })
    assert.deepEqual(queue.mostQueued(10), [])
    await queue.push([on('a', 1), on('b', 1), ...[2, 3, 4].flatMap((n) => [on('a', n), on('b', n)])], 'o')
    await queue.push(
      [5, 6].map((n) => on('b', n)),
      'p',
    )
    const leases: Lease[] = []
    while (leases.length < 2) leases.push(...(await queue.lease(2)))
    const longest = [
      { slot: 'b.test', waiting: 5 },
      { slot: 'a.test', waiting: 3 },
    ]
    // A worker may learn of them only when it looks for more, and a little later.
    const none = queue.lease(8)
    for (const until = performance.now() + 3000; queue.mostQueued(10)[0]?.waiting !== 5; ) {
      assert.ok(performance.now() < until, `it names ${JSON.stringify(queue.mostQueued(10))}`)
      // Waits: between two looks: the port tells nobody of it.
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.deepEqual(queue.mostQueued(10), longest)
    assert.deepEqual(queue.mostQueued(1), longest.slice(0, 1))
    for (const lease of leases) await queue.commit(lease)
    for (const lease of await none) await queue.commit(lease)
    await drain(queue)
    assert.deepEqual(queue.mostQueued(10), [])
  },
  'clear deletes everything that waits': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('b', 1)], 'o')
    await queue.clear()
    assert.deepEqual(await queue.lease(5), [])
  },
  'five hundred requests over a hundred hosts all come out, each once': async (make) => {
    const queue = await make({ concurrency: 2 })
    const batch = Array.from({ length: 500 }, (_, n) => on(`h${n % 100}`, n, { priority: n % 3 }))
    for (let at = 0; at < batch.length; at += 250) await queue.push(batch.slice(at, at + 250), `o${at}`)
    const seen = new Set<string>()
    for (;;) {
      const leases = await queue.lease(64)
      // None come, too, when the machine has had no time for one: see LEASE_WAIT_MS_MAX.
      if (leases.length === 0 && (await queue.counts()).waiting === 0) break
      for (const lease of leases) {
        assert.ok(!seen.has(lease.id), `${lease.id} came twice`)
        seen.add(lease.id)
      }
      await Promise.all(leases.map((lease) => queue.commit(lease)))
    }
    assert.equal(seen.size, batch.length)
  },
  ...QUEUE_PACE_TESTS,
}

/** How a lease may end, and the counts of `waiting` and of `delayed` and `quarantined` then. */
const OUTCOMES: readonly [string, (queue: RequestQueue, lease: Lease) => Promise<void>, readonly number[]][] =
  [
    ['commit', (queue, lease) => queue.commit(lease), [1, 0]],
    ['commit with links', (queue, lease) => queue.commit(lease, { children: [on('a', 3)] }), [2, 0]],
    ['retry', (queue, lease) => queue.retry(lease, lease.request, 60_000), [1, 1]],
    ['requeue', (queue, lease) => queue.requeue(lease), [2, 0]],
    ['reject', async (queue, lease) => void (await queue.reject(lease, 'no callback parseList')), [1, 1]],
  ]

const REFUSING_TESTS: ContractTests<RefusingQueue> = Object.fromEntries(
  OUTCOMES.map(([name, end, counted]) => [
    `${name}: what the store refuses leaves the lease as it was, and can be given again`,
    async ({ queue, refuse }) => {
      await queue.push([on('a', 1), on('a', 2)], 'o')
      const [lease] = (await queue.lease(1)) as [Lease]
      await refuse(true)
      await assert.rejects(end(queue, lease), (error) => storeTrouble(error) === 'passing')
      assert.equal(lease.signal.aborted, false)
      await refuse(false)
      await end(queue, lease)
      const { waiting, delayed, leased, quarantined } = await queue.counts()
      assert.deepEqual([waiting, delayed + quarantined, leased], [...counted, 0])
    },
  ]),
)

/** The deviation of a queue that others share: the whole cluster is asked how a slot stands. */
export function withoutSlotNow(reason: string): Deviation[] {
  return [{ test: SLOT_NOW, reason }]
}

/** Every RequestQueue runs this. Its delays are a tenth of a second at most; it tests order and safety. */
export function requestQueueContract(
  runner: TestRunner,
  { name, create, createRefusing, deviations }: QueueImplementation,
): void {
  if (createRefusing)
    runContract<RefusingQueue>(runner, 'RequestQueue whose store refuses', REFUSING_TESTS, {
      name,
      create: async () => {
        const { dispose, ...subject } = await createRefusing()
        return { subject, dispose }
      },
    })
  runContract<Make>(runner, 'RequestQueue', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const made: (() => Promise<void>)[] = []
      const make: Make = async (options = {}) => {
        const { queue, dispose } = await create(options)
        made.push(dispose)
        await queue.open()
        return queue
      }
      return {
        subject: make,
        dispose: async () => {
          for (const dispose of made) await dispose()
        },
      }
    },
  })
}
