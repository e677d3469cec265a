/** A hot slot gets no more lanes than the scripts look at, whatever a worker asks for. */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BucketBench } from '../../../testing/bucket-bench.ts'
import { LANES_MAX } from '../../frontier/turn-protocol.ts'
import { BucketScripts } from './bucket-scripts.ts'
import { CommandNumbers } from './command-numbers.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const SLOT = 'hot.test'
const TURN = { unit: SLOT, lane: '0', generation: '1', holder: 'w/1', ended: [], told: [], returned: [] }
const ASKED = { more: [], slots: 1, each: 1, batch: 1, aheadMs: 0, bytes: 1e6, concurrency: 0, delayMs: 0 }

test.each([
  [LANES_MAX - 1, LANES_MAX],
  [LANES_MAX, LANES_MAX],
])('of %i lanes and a line that is long enough for more there are %i', async (before, after) => {
  const keys = bench.nextKeys()
  const scripts = new BucketScripts({ redis: bench.redis, keys, order: 'priority' })
  const lanes = Array.from({ length: before }, (_, lane) => [`g${lane}`, `${lane + 1}`] as const)
  const unit = `${keys.frontier}:unit:${SLOT}`
  await bench.redis.hset(unit, {
    bucket: '#0',
    up: `${before}`,
    o0: TURN.holder,
    ...Object.fromEntries(lanes),
  })
  await bench.redis.hset(`${keys.frontier}:lines:#0`, SLOT, 'h0\n@0')
  const texts = Array.from({ length: 64 * 20 }, (_, n) => `${n}\n{}`)
  await bench.redis.rpush(`${keys.frontier}:line:0:${SLOT}`, ...texts)
  const turn = { ...TURN, leaves: false, heats: 0, asked: { ...ASKED, lanes: 20 } }
  const { answers } = await scripts.exchange([turn], false, new CommandNumbers('w').next())
  expect(answers[0]).toMatchObject({ status: 'held', taken: [{ slot: SLOT }] })
  const fields = await bench.redis.hgetall(unit)
  expect(Object.keys(fields).filter((name) => /^g\d/.test(name))).toHaveLength(after)
  expect(fields.up).toBe(`${after}`)
})

test('workers and scripts have the same number', () => {
  const keysFile = new URL('../../../lua/slots/keys.lua', import.meta.url)
  expect(readFileSync(keysFile, 'utf8')).toContain(`local LANES_MAX = ${LANES_MAX}\n`)
})
