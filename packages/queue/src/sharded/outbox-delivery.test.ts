import { silentLogger } from '@webloom/core'
import { expect, test, vi } from 'vitest'
import { OutboxDelivery } from './outbox-delivery.ts'

test('for a shard that does not answer a few megabytes are kept, however large its entries are; the rest is in the outbox', async () => {
  const kept = new Map<string, number>()
  const away = Promise.withResolvers<never>()
  const delivery = new OutboxDelivery({
    logger: silentLogger,
    isShort: () => false,
    apply: (shard, deliveries) => {
      kept.set(shard, (kept.get(shard) ?? 0) + deliveries.length)
      return away.promise
    },
    onChanges: () => {},
  })
  const entries = ['x'.repeat(1_000_000)]
  for (let n = 0; n < 20; n++) delivery.gather(new Map([['00', [{ sender: '01', epoch: 'e.1', entries }]]]))
  delivery.gather(new Map([['02', [{ sender: '01', epoch: 'e.1', entries }]]]))
  const drained = delivery.drained()
  expect(kept.get('00')).toBeLessThan(10)
  expect(kept.get('02')).toBe(1)

  away.reject(new Error('back, without what was sent'))
  await drained
  kept.clear()
  delivery.gather(new Map([['00', [{ sender: '01', epoch: 'e.1', entries }]]]))
  await delivery.drained()
  expect(kept.get('00')).toBe(1)
})

test('links gather for 100 ms while all have enough to do, and go soon when a worker waits', async () => {
  using _ = withFakeTimers()
  let isShort = false
  const applied: number[] = []
  const delivery = new OutboxDelivery({
    logger: silentLogger,
    isShort: () => isShort,
    apply: async (_shard, deliveries) => {
      applied.push(deliveries.length)
      return { woken: [], raised: [], nudged: [], lost: 0 }
    },
    onChanges: () => {},
  })
  const gather = () => delivery.gather(new Map([['00', [{ sender: '01', epoch: 'e.1', entries: ['x'] }]]]))
  gather()
  await vi.advanceTimersByTimeAsync(99)
  gather()
  expect(applied).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(applied.splice(0)).toEqual([2])

  gather()
  await vi.advanceTimersByTimeAsync(20)
  isShort = true
  await vi.advanceTimersByTimeAsync(5)
  expect(applied.splice(0), 'a worker has begun to wait').toEqual([1])
  gather()
  await vi.advanceTimersByTimeAsync(5)
  expect(applied, 'it waits').toEqual([1])
})

function withFakeTimers(): Disposable {
  vi.useFakeTimers()
  return { [Symbol.dispose]: () => void vi.useRealTimers() }
}
