import assert from 'node:assert/strict'
import { type QueueOrder, Request, type RequestInit } from '@webloom/core'
import { type ContractTests, type Deviation, runContract, type TestRunner } from '@webloom/core/contract'
import type { DelayedRequest, RequestStore, StoredRequest, WaitingLine } from '../src/local/request-store.ts'

type Store = RequestStore<StoredRequest, DelayedRequest>
type Line = WaitingLine<StoredRequest, DelayedRequest>

/** Makes a fresh store of that order, opened. */
type Make = (order?: QueueOrder) => Store

export interface RequestStoreImplementation {
  readonly name: string
  create(): Promise<{ make(order: QueueOrder): Store; dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

const on = (id: string, init: RequestInit = {}): StoredRequest => ({
  id,
  request: new Request(`http://a.test/${id}`, init),
})

/** Takes all that waits, in order. */
function taken(line: Line): string[] {
  const ids: string[] = []
  for (let held = line.take(); held; held = line.take()) ids.push(held.id)
  return ids
}

function filled(store: Store, ...requests: readonly StoredRequest[]): Line {
  const line = store.line('a')
  store.atomically(() => {
    for (const request of requests) line.add(request)
  })
  return line
}

const PRIORITIES = [on('1'), on('2', { priority: 5 }), on('3', { priority: -1 }), on('4', { priority: 5 })]

const TESTS: ContractTests<Make> = {
  'a fresh store holds nothing from before': async (make) => {
    const store = make()
    assert.ok(store.name.length > 0)
    assert.equal(store.unreadable, 0)
    const line = store.line('a')
    assert.deepEqual([line.length, line.headPriority, line.take()], [0, 0, undefined])
  },
  'a line by priority gives the highest first, and of equals the one that came first': async (make) => {
    const line = filled(make('priority'), ...PRIORITIES)
    assert.deepEqual([line.length, line.headPriority], [4, 5])
    assert.deepEqual(taken(line), ['2', '4', '1', '3'])
    assert.deepEqual([line.length, line.headPriority], [0, 0])
  },
  'fifo and lifo know no priority': async (make) => {
    for (const [order, ids] of [
      ['fifo', ['1', '2', '3', '4']],
      ['lifo', ['4', '3', '2', '1']],
    ] as const) {
      const store = make(order)
      const line = filled(store, ...PRIORITIES)
      assert.equal(line.headPriority, 0)
      assert.deepEqual(taken(line), ids)
      store.clear()
    }
  },
  'a request comes back as it was': async (make) => {
    const init = { method: 'POST', body: 'é', headers: { a: 'b' }, meta: { deep: [1] }, priority: 3 }
    const line = filled(make(), on('1', init))
    const held = line.take()!
    assert.equal(held.id, '1')
    assert.deepEqual(held.request.meta, { deep: [1] })
    assert.deepEqual(
      [held.request.method, held.request.priority, held.request.url],
      ['POST', 3, 'http://a.test/1'],
    )
    assert.equal(Buffer.from(held.request.body).toString(), 'é')
    assert.deepEqual([held.attempt ?? 1, held.redelivered ?? false], [1, false])
  },
  'what is requeued goes before what was taken later, whatever the order of going back': async (make) => {
    for (const order of ['priority', 'fifo', 'lifo'] as const) {
      const store = make(order)
      const line = filled(store, on('1'), on('2'), on('3'), on('4'))
      const before = [line.take()!, line.take()!, line.take()!]
      const ids = before.map(({ id }) => id)
      for (const held of [before[1]!, before[2]!, before[0]!]) line.requeue(held)
      assert.equal(line.length, 4)
      assert.deepEqual(taken(line).slice(0, 3), ids, order)
      store.clear()
    }
  },
  'a request that is requeued changed is the changed one, with its priority': async (make) => {
    const line = filled(make('priority'), on('1'), on('2'))
    const held = line.take()!
    line.requeue(held, { ...held, request: held.request.replace({ priority: 9, meta: { tried: 1 } }) })
    assert.equal(line.headPriority, 9)
    const again = line.take()!
    assert.deepEqual([again.id, again.request.meta], ['1', { tried: 1 }])
    assert.deepEqual(taken(line), ['2'])
  },
  'a delayed request is in no line until it joins one, behind those of its priority': async (make) => {
    const store = make('priority')
    const line = filled(store, on('1'), on('2'))
    const held = line.take()!
    const changed = { ...held, request: held.request.replace({ meta: { tried: 1 } }) }
    const delayed = store.atomically(() => store.delay(held, changed, 'a', 60_000))
    assert.equal(delayed.slot, 'a')
    assert.equal(line.length, 1)
    store.atomically(() => {
      line.join(delayed)
      line.add(on('3'))
    })
    assert.equal(line.length, 3)
    const order = [line.take()!, line.take()!, line.take()!]
    assert.deepEqual(
      order.map(({ id }) => id),
      ['2', '1', '3'],
    )
    assert.deepEqual(order[1]!.request.meta, { tried: 1 })
  },
  'what is in doubt is in no line, and may be queued or forgotten': async (make) => {
    const store = make()
    const line = filled(store, on('1'))
    const doubt = store.atomically(() => store.addInDoubt(on('2'), 'a'))
    assert.equal(doubt.id, '2')
    assert.deepEqual(taken(line), ['1'])
    store.atomically(() => {
      store.done(doubt)
      line.add(doubt)
    })
    assert.deepEqual(taken(line), ['2'])
  },
  'lines are apart, whatever their hosts are called': async (make) => {
    const store = make()
    const slots = ['a', 'A', '', "'; --", 'ü%_']
    const lines = slots.map((slot) => store.line(slot))
    store.atomically(() => {
      for (const [n, line] of lines.entries()) line.add(on(`${n}`))
    })
    for (const [n, line] of lines.entries()) assert.deepEqual(taken(line), [`${n}`])
  },
  'a step that fails leaves nothing of what it did, and the next run goes on without it': async (make) => {
    const store = make()
    filled(store, on('1'))
    const step = () =>
      store.atomically(() => {
        store.line('a').add(on('2'))
        throw new Error('half way')
      })
    assert.throws(step, /half way/)
    store.close()
    const [[slot, line], ...others] = [...make().open().lines] as [readonly [string, Line]]
    assert.deepEqual([slot, line.length, others], ['a', 1, []])
    assert.deepEqual(taken(line), ['1'])
  },
}

/** Every RequestStore runs this. What a queue makes of it, the contract of queues says. */
export function requestStoreContract(
  runner: TestRunner,
  { name, create, deviations }: RequestStoreImplementation,
): void {
  runContract<Make>(runner, 'RequestStore', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { make, dispose } = await create()
      const subject: Make = (order = 'priority') => {
        const store = make(order)
        store.open()
        return store
      }
      return { subject, dispose }
    },
  })
}
