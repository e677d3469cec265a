/** A worker's clock may be wrong: BullMQ delays turns, and finds those that are due, by the clocks of workers. */

import { type Lease, PROTOCOL_TIMES } from '@webloom/core'
import { MachineLag } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { BucketBench, pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'
import type { BucketQueue } from './bucket-queue.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

async function oneOf(queue: BucketQueue): Promise<Lease> {
  const [lease] = await leased(queue, 1)
  return lease!
}

const HOUR_MS = 3_600_000
const LEAVES_SOON = { ...PROTOCOL_TIMES, turns: { ...PROTOCOL_TIMES.turns, restMs: 500 } }

test.each([
  ['an hour ahead, and goes right again', HOUR_MS, 0],
  ['right, and then an hour late', 0, -HOUR_MS],
])(
  'a turn that is left while the clock is %s goes on when its host may be asked',
  async (_what, atFirst, then) => {
    const keys = bench.nextKeys()
    const queue = await bench.queue({ keys, pace: { delayMs: 2500 }, times: LEAVES_SOON })
    try {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + atFirst })
      await queue.push(pages('a', 2), 'start/0')
      const [first] = await leased(queue, 1)
      first!.started()
      await queue.commit(first!)
      using lag = new MachineLag()
      const startedAt = performance.now()
      const next = oneOf(queue)
      // It is left when nothing may go for a while.
      await vi.waitFor(async () =>
        expect(await bench.redis.zcard(`webloom:${keys.queueName}:delayed`)).toBe(1),
      )
      vi.setSystemTime(new Date(Date.now() - atFirst + then))
      const second = await next
      expect(performance.now() - startedAt).toBeLessThan(15_000 + lag.ms)
      await queue.commit(second)
    } finally {
      vi.useRealTimers()
    }
  },
)
