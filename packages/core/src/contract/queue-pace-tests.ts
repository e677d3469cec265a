/**
 * The part of the contract suite of queues that is about hosts: their lines, their pace, and what is learned of them.
 *
 * That something comes a delay after something else is measured from just before the queue is told of the first to just after it has
 * answered: however slow the machine is, what is measured is then no shorter than what the queue has kept.
 */

import assert from 'node:assert/strict'
import type { Lease } from '../ports/request-queue.ts'
import { drain, ids, leasedOf, type Make, on } from './queue-under-test.ts'
import type { ContractTests } from './suite.ts'

export const QUEUE_PACE_TESTS: ContractTests<Make> = {
  'hosts take turns': async (make) => {
    const queue = await make()
    const many = Array.from({ length: 30 }, (_, n) => on('a', n))
    await queue.push([...many, on('b', 1), on('c', 1)], 'o')
    const order = await drain(queue)
    // A worker may hear of a host a little later than of another.
    for (const one of ['b/1', 'c/1']) assert.ok(order.slice(0, 15).includes(one), `${one} in ${order}`)
    assert.equal(order.length, 32)
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
    const startedAt = performance.now()
    for (const lease of leases) lease.started()
    for (const lease of leases) await queue.commit(lease)
    const [second] = await queue.lease(5)
    assert.equal(second?.id, 'a/2')
    assert.ok(
      performance.now() - startedAt >= delayMs - 5,
      `a/2 came ${performance.now() - startedAt} ms after a/1`,
    )
  },
  'the delay runs from when a request has left, when the program stood still on the way out': async (
    make,
  ) => {
    const [delayMs, stoodStillMs] = [80, 30]
    const queue = await make({ delayMs })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    first?.started()
    const leftAt = performance.now() + stoodStillMs
    while (performance.now() < leftAt);
    assert.deepEqual(ids(await queue.lease(1)), ['a/2'])
    const gapMs = performance.now() - leftAt
    assert.ok(gapMs >= delayMs - 5, `a/2 came ${gapMs} ms after a/1 had left`)
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
  'a page’s documents leave between the requests of its host, each a delay after the one before': async (
    make,
  ) => {
    const delayMs = 60
    const queue = await make({ delayMs })
    await queue.push([on('a', 1), on('a', 2), on('a', 3)], 'o')
    const [first] = await leasedOf(queue, 1)
    const leftAt = [performance.now()]
    first!.started()
    const { signal } = new AbortController()
    const documents = ['more', 'most'].map((path) =>
      first!
        .documents()
        .mayLeave(`http://a.test/${path}`, signal)
        .then(({ left }) => {
          leftAt.push(performance.now())
          left()
        }),
    )
    for (const id of ['a/2', 'a/3']) {
      const [next] = await leasedOf(queue, 1)
      assert.equal(next!.id, id)
      leftAt.push(performance.now())
      next!.started()
      if (id === 'a/2') await Promise.all(documents)
    }
    assert.equal(leftAt.length, 5)
    for (const [n, at] of leftAt.slice(1).entries())
      assert.ok(at - leftAt[n]! >= delayMs - 5, `${n + 1} left ${at - leftAt[n]!} ms after the one before`)
  },
  'a document waits for a request that is about to leave, but not for one that stands by': async (make) => {
    const delayMs = 60
    const queue = await make({ delayMs })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await leasedOf(queue, 1)
    first!.started()
    const [second] = await leasedOf(queue, 1)
    const { signal } = new AbortController()
    const left: { readonly name: string; readonly atMs: number }[] = []
    const leaves = (lease: Lease, name: string) =>
      lease
        .documents()
        .mayLeave(`http://a.test/${name}`, signal)
        .then((document) => {
          left.push({ name, atMs: performance.now() })
          document.left()
        })
    const document = leaves(first!, 'document')
    // Waits: as long as the delay, as nothing tells that the other page has not left.
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    assert.equal(left.length, 0)
    // It waits for what the other page may have, and asks itself when it has that.
    second!.documents()
    await document
    await leaves(second!, 'second')
    const [one, other] = left
    assert.deepEqual([one?.name, other?.name], ['document', 'second'])
    const gapMs = other!.atMs - one!.atMs
    assert.ok(gapMs >= delayMs - 5, `it left ${gapMs} ms after the other`)
  },
  'nothing leaves for a host before its document is seen to leave, or is over': async (make) => {
    const delayMs = 60
    const queue = await make({ delayMs })
    await queue.push([on('a', 1), on('a', 2), on('a', 3)], 'o')
    const [first] = await leasedOf(queue, 1)
    first!.started()
    const page = new AbortController()
    const slow = await first!.documents().mayLeave('http://a.test/more', page.signal)
    const next = leasedOf(queue, 1)
    // Waits: that nothing leaves can only be waited for.
    const early = await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 2 * delayMs))])
    assert.equal(early, undefined)
    const leftAt = performance.now()
    slow.left()
    const [second] = await next
    assert.ok(performance.now() - leftAt >= delayMs - 5)
    second!.started()
    await second!.documents().mayLeave('http://a.test/never', page.signal)
    page.abort(new Error('the page is over'))
    assert.deepEqual(ids(await leasedOf(queue, 1)), ['a/3'])
  },
  'a document that is given up holds nothing up': async (make) => {
    const queue = await make({ delayMs: 50 })
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await leasedOf(queue, 1)
    first!.started()
    const page = new AbortController()
    const document = first!.documents().mayLeave('http://a.test/more', page.signal)
    page.abort(new Error('the page is over'))
    await assert.rejects(document, /over/)
    assert.deepEqual(ids(await leasedOf(queue, 1)), ['a/2'])
  },
  'a document that goes to another host waits for its delay, and that host for the document': async (
    make,
  ) => {
    const delayMs = 60
    const queue = await make({ delayMs })
    await queue.push([on('a', 1), on('b', 1), on('b', 2)], 'o')
    const leases = await leasedOf(queue, 2)
    const startedAt = performance.now()
    for (const lease of leases) lease.started()
    const first = leases.find(({ slot }) => slot === 'a.test')!
    const document = await first.documents().mayLeave('http://b.test/more', new AbortController().signal)
    const leftAt = performance.now()
    document.left()
    assert.ok(leftAt - startedAt >= delayMs - 5, `it left ${leftAt - startedAt} ms after b/1`)
    assert.deepEqual(ids(await leasedOf(queue, 1)), ['b/2'])
    const gapMs = performance.now() - leftAt
    assert.ok(gapMs >= delayMs - 5, `b/2 came ${gapMs} ms after it`)
  },
  'commit can change the delay of its host': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    const startedAt = performance.now()
    first?.started()
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
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const leases = await queue.lease(1)
    assert.deepEqual(ids(leases), ['a/1'])
    await queue.push([on('b', 1)], 'p')
    const pausedAt = performance.now()
    await queue.commit(leases[0] as Lease, { host: { pauseMs: 300, pauseReason: 'Retry-After' } })
    assert.deepEqual(ids(await queue.lease(2)), ['b/1'])
    assert.deepEqual(ids(await queue.lease(2)), ['a/2'])
    assert.ok(performance.now() - pausedAt >= 295, `a/2 came after ${performance.now() - pausedAt} ms`)
  },
  'a host that is paused by an order starts nothing until the order is taken back, others go on': async (
    make,
  ) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('b', 1)], 'o')
    await queue.steer(new Map([['a.test', { at: 1, pauseMs: 60_000 }]]))
    assert.deepEqual(ids(await leasedOf(queue, 1)), ['b/1'])
    const going = leasedOf(queue, 2)
    await queue.steer(new Map())
    assert.deepEqual(ids(await going).sort(), ['a/1', 'a/2'])
  },
  'a delay that is ordered takes the place of a longer one that was learned': async (make) => {
    const queue = await make()
    await queue.push([on('a', 1), on('a', 2), on('a', 3)], 'o')
    const [first] = await leasedOf(queue, 1)
    first!.started()
    await queue.commit(first!, { host: { delayMs: 60_000 } })
    await queue.steer(new Map([['a.test', { at: 1, delayMs: 200 }]]))
    const [second] = await leasedOf(queue, 1)
    const startedAt = performance.now()
    second!.started()
    await queue.commit(second!)
    const [third] = await leasedOf(queue, 1)
    assert.ok(performance.now() - startedAt >= 190, `a/3 came after ${performance.now() - startedAt} ms`)
    await queue.commit(third!)
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
    await queue.push([on('a', 1), on('a', 2)], 'o')
    const [first] = await queue.lease(1)
    assert.deepEqual(first?.host, { delayMs: 0, failures: 0 })
    await queue.push([on('b', 1)], 'p')
    await queue.commit(first as Lease, { host: { delayMs: 10, failures: 3 } })
    const leases = await leasedOf(queue, 2)
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
    const queue = await make({ delayMs: 200 })
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
    let before = 0
    while ((await next()) !== 'a/urgent') before++
    assert.ok(before <= 1, `${before} went before it`)
  },
}
