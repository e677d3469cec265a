import assert from 'node:assert/strict'
import { WebloomError } from '../errors/errors.ts'
import type { Lease, QueuedRequest, QueueOrder, RequestQueue } from '../ports/request-queue.ts'
import { Request } from '../requests/request.ts'
import type { RequestInit } from '../requests/request-parts.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/**
 * The options that a test wants for its queue. By default: order priority, no delay, no bound on a host's requests in
 * flight.
 */
export interface QueueUnderTest {
  readonly order?: QueueOrder
  readonly delayMs?: number
  readonly concurrency?: number
}

export interface QueueImplementation {
  readonly name: string
  create(options: QueueUnderTest): Promise<{ queue: RequestQueue; dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

type Make = (options?: QueueUnderTest) => Promise<RequestQueue>

const on = (host: string, path: string | number, init: RequestInit = {}): QueuedRequest => ({
  id: `${host}/${path}`,
  request: new Request(`http://${host}.test/${path}`, init),
})
const ids = (leases: readonly { id: string }[]) => leases.map(({ id }) => id)

const inDoubt = (host: string, path: string | number): QueuedRequest => ({
  ...on(host, path),
  inDoubt: 'page',
})

/** Waits until so many links may be asked about: some queues hold a page's links back for a while. */
async function takenInDoubt(queue: RequestQueue, count: number): Promise<QueuedRequest[]> {
  const taken: QueuedRequest[] = []
  for (const until = performance.now() + 5000; taken.length < count; ) {
    assert.ok(performance.now() < until, `only ${taken.length} are to be asked about`)
    taken.push(...(await queue.doubts.take(10)))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return taken
}

/** Leases and commits one request after the other until the queue holds none. */
async function drain(queue: RequestQueue): Promise<string[]> {
  const order: string[] = []
  for (;;) {
    const [lease] = await queue.lease(1)
    if (!lease) return order
    order.push(lease.id)
    await queue.commit(lease)
  }
}

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
  'hosts take turns': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('b', 1), on('b', 2), on('c', 1)], 'o')
    const order = await drain(queue)
    assert.deepEqual(new Set(order.slice(0, 3)), new Set(['a/1', 'b/1', 'c/1']))
    assert.equal(order.length, 5)
  },
  'an urgent request of one host goes before ordinary ones of others': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('b', 1), on('c', 1, { priority: 10 })], 'o')
    assert.equal((await drain(queue))[0], 'c/1')
  },
  'meta.download_slot decides the line': async (make) => {
    const queue = await make({ concurrency: 1 })
    await queue.push(
      [on('a', 1, { meta: { download_slot: 'shared' } }), on('b', 1, { meta: { download_slot: 'shared' } })],
      'o',
    )
    const leases = await queue.lease(5)
    assert.equal(leases.length, 1)
    assert.equal(leases[0]?.slot, 'shared')
  },
  'a host never has more in flight than its concurrency, and others go on': async (make) => {
    const queue = await make({ concurrency: 2 })
    await queue.push([...[1, 2, 3, 4].map((n) => on('a', n)), on('b', 1)], 'o')
    const leases = [...(await queue.lease(10))]
    while (leases.length < 3) leases.push(...(await queue.lease(10)))
    assert.deepEqual(new Set(ids(leases)), new Set(['a/1', 'a/2', 'b/1']))
    await queue.commit(leases.find(({ slot }) => slot === 'a.test') as Lease)
    assert.deepEqual(ids(await queue.lease(10)), ['a/3'])
  },
  'a lease waits for the end of another when its host is full': async (make) => {
    const queue = await make({ concurrency: 1 })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    const second = queue.lease(1)
    await queue.commit(first as Lease)
    assert.deepEqual(ids(await second), ['a/2'])
  },
  'the delay runs from start to start and holds up no other host': async (make) => {
    const delayMs = 120
    const queue = await make({ delayMs })
    await queue.push([on('a', 1), on('a', 2), on('b', 1)], 'o')
    const leases = [...(await queue.lease(5))]
    while (leases.length < 2) leases.push(...(await queue.lease(5)))
    assert.deepEqual(new Set(ids(leases)), new Set(['a/1', 'b/1']))
    for (const lease of leases) lease.started()
    const startedAt = performance.now()
    for (const lease of leases) await queue.commit(lease)
    const [second] = await queue.lease(5)
    assert.equal(second?.id, 'a/2')
    assert.ok(
      performance.now() - startedAt >= delayMs - 5,
      `a/2 came ${performance.now() - startedAt} ms after a/1`,
    )
  },
  'the delay does not wait for the answer: the next goes while the first is in flight': async (make) => {
    const queue = await make({ delayMs: 50 })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    first?.started()
    assert.deepEqual(ids(await queue.lease(1)), ['a/2'])
  },
  'a request that never started uses up no turn of its host': async (make) => {
    const queue = await make({ delayMs: 60_000 })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [filtered] = await queue.lease(1)
    await queue.commit(filtered as Lease)
    assert.deepEqual(ids(await queue.lease(1)), ['a/2'])
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
  'commit can change the delay of its host': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    first?.started()
    const startedAt = performance.now()
    await queue.commit(first as Lease, { host: { delayMs: 100 } })
    assert.deepEqual(ids(await queue.lease(1)), ['a/2'])
    assert.ok(performance.now() - startedAt >= 95)
  },
  'a delay that shrinks takes effect at the next turn': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('a', 3)], 'o')
    const [first, second] = await queue.lease(2)
    for (const lease of [first, second]) lease?.started()
    await queue.commit(first as Lease, { host: { delayMs: 60_000 } })
    const waiting = queue.lease(1)
    await queue.commit(second as Lease, { host: { delayMs: 50 } })
    assert.deepEqual(ids(await waiting), ['a/3'])
  },
  'a paused host starts nothing before its pause is over, others go on': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('b', 1)], 'o')
    const leases = await queue.lease(1)
    assert.deepEqual(ids(leases), ['a/1'])
    const pausedAt = performance.now()
    await queue.commit(leases[0] as Lease, { host: { pauseMs: 300, pauseReason: 'Retry-After' } })
    assert.deepEqual(ids(await queue.lease(2)), ['b/1'])
    assert.deepEqual(ids(await queue.lease(2)), ['a/2'])
    assert.ok(performance.now() - pausedAt >= 295, `a/2 came after ${performance.now() - pausedAt} ms`)
  },
  'a pause does not end a longer one': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('a', 3)], 'o')
    const [first, second] = await queue.lease(2)
    const pausedAt = performance.now()
    await queue.commit(first as Lease, { host: { pauseMs: 300 } })
    await queue.commit(second as Lease, { host: { pauseMs: 1 } })
    assert.deepEqual(ids(await queue.lease(1)), ['a/3'])
    assert.ok(performance.now() - pausedAt >= 295, `a/3 came after ${performance.now() - pausedAt} ms`)
  },
  'what a request has taught about its host is told with the next lease': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('b', 1)], 'o')
    const [first] = await queue.lease(1)
    assert.deepEqual(first?.host, { delayMs: 0, failures: 0 })
    await queue.commit(first as Lease, { host: { delayMs: 10, failures: 3 } })
    const leases = [...(await queue.lease(2)), ...(await queue.lease(2))]
    const hosts = new Map(leases.map(({ id, host }) => [id, host]))
    assert.deepEqual(hosts.get('b/1'), { delayMs: 0, failures: 0 })
    assert.deepEqual(hosts.get('a/2'), { delayMs: 10, failures: 3 })
  },
  'a retry carries news as a commit does, and they leave what they do not name': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1)], 'o')
    const [first] = await queue.lease(1)
    const retriedAt = performance.now()
    await queue.retry(first as Lease, (first as Lease).request, 0, { failures: 1, pauseMs: 200 })
    const [second] = await queue.lease(1)
    assert.ok(performance.now() - retriedAt >= 195)
    await queue.retry(second as Lease, (second as Lease).request, 0, { delayMs: 10 })
    assert.deepEqual((await queue.lease(1))[0]?.host, { delayMs: 10, failures: 1 })
  },
  'an urgent request added late to a long line goes within two delays': async (make) => {
    const delayMs = 200
    const queue = await make({ delayMs })
    const line = Array.from({ length: 2000 }, (_, n) => on('a', n))
    for (let from = 0; from < line.length; from += 500)
      await queue.push(line.slice(from, from + 500), `o${from}`)
    const next = async () => {
      const [lease] = await queue.lease(1)
      lease?.started()
      await queue.commit(lease as Lease)
      return lease?.id
    }
    for (let n = 0; n < 3; n++) await next()
    await queue.push([on('a', 'urgent', { priority: 10 })], 'late')
    const pushedAt = performance.now()
    while ((await next()) !== 'a/urgent');
    assert.ok(
      performance.now() - pushedAt <= 2 * delayMs + 50,
      `it came after ${performance.now() - pushedAt} ms`,
    )
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
  'ten thousand requests over a thousand hosts all come out, each once': async (make) => {
    const queue = await make({ concurrency: 2 })
    const batch = Array.from({ length: 10_000 }, (_, n) => on(`h${n % 1000}`, n, { priority: n % 3 }))
    for (let at = 0; at < batch.length; at += 500) await queue.push(batch.slice(at, at + 500), `o${at}`)
    const seen = new Set<string>()
    for (;;) {
      const leases = await queue.lease(64)
      if (leases.length === 0) break
      for (const lease of leases) {
        assert.ok(!seen.has(lease.id), `${lease.id} came twice`)
        seen.add(lease.id)
      }
      await Promise.all(leases.map((lease) => queue.commit(lease)))
    }
    assert.equal(seen.size, batch.length)
  },
}

/** Every RequestQueue runs this. Its delays are a tenth of a second at most; it tests order and safety. */
export function requestQueueContract(
  runner: TestRunner,
  { name, create, deviations }: QueueImplementation,
): void {
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
