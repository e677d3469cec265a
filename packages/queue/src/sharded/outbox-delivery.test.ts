import { silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
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
    onJobChanges: () => {},
  })
  const entries = ['x'.repeat(1_000_000)]
  for (let n = 0; n < 20; n++) delivery.gather(new Map([['00', [{ sender: '01', epoch: 'e.1', entries }]]]))
  delivery.gather(new Map([['02', [{ sender: '01', epoch: 'e.1', entries }]]]))
  const settled = delivery.settled()
  expect(kept.get('00')).toBeLessThan(10)
  expect(kept.get('02')).toBe(1)

  away.reject(new Error('back, without what was sent'))
  await settled
  kept.clear()
  delivery.gather(new Map([['00', [{ sender: '01', epoch: 'e.1', entries }]]]))
  await delivery.settled()
  expect(kept.get('00')).toBe(1)
})
