/** Of a bucket whose hosts had to wait: as many as may go by now, and when the next one may. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { BucketBench } from '../../../testing/bucket-bench.ts'
import { BucketScripts } from './bucket-scripts.ts'
import { CommandNumbers } from './command-numbers.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const NEXT_MS = 60_000
const UNIT = { unit: '#0', lane: '0', generation: '1', holder: 'w/1' }
const NOTHING = { ended: [], told: [], returned: [] }

test.each([
  [1, 200],
  [8, 200],
  [9, 200],
  [10, 200],
  [99, 200],
  [100, 200],
  [9, 4],
  [20, 4],
])('%i are due, and %i are asked for', async (count, slots) => {
  const keys = bench.nextKeys()
  const scripts = new BucketScripts({ redis: bench.redis, keys, order: 'priority' })
  const nowMs = Date.now()
  const all = Array.from({ length: count }, (_, n) => [`h${n}.test`, nowMs - 1000 + n] as const)
  for (const [slot, atMs] of [...all, ['next.test', nowMs + NEXT_MS] as const]) {
    await bench.redis.hset(`${keys.frontier}:lines:#0`, slot, `l0\n0 ${slot.length}\n${slot}`)
    await bench.redis.zadd(`${keys.frontier}:later:#0`, atMs, slot)
  }
  const { lane, generation, holder, unit } = UNIT
  const later = String(all[0]![1])
  await bench.redis.hset(`${keys.frontier}:unit:${unit}`, {
    up: '1',
    paced: '1',
    [`g${lane}`]: generation,
    [`o${lane}`]: holder,
    later,
  })
  const asked = { more: [], slots, each: 1, batch: 1, aheadMs: 0, bytes: 1e6, concurrency: 0 }
  const turn = { ...UNIT, ...NOTHING, leaves: false, heats: 0, asked: { ...asked, delayMs: 0, lanes: 0 } }
  const { answers } = await scripts.exchange([turn], false, new CommandNumbers('w').next())
  const left = Math.max(0, count - slots)
  expect(answers[0]).toMatchObject({ status: 'held', unitStatus: { ready: left } })
  const { taken, unitStatus } = answers[0] as Extract<(typeof answers)[0], { taken: unknown }>
  expect(taken.map(({ slot }) => slot)).toEqual(all.slice(0, slots).map(([slot]) => slot))
  expect(unitStatus.dueInMs).toBeGreaterThan(NEXT_MS / 2)
  expect(await bench.redis.hlen(`${keys.frontier}:lines:#0`)).toBe(left + 1)
})
