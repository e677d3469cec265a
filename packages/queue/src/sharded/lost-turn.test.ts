import { scaledTimes } from '@webloom/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'
import { ShardBench } from '../../testing/shard-bench.ts'

const SHARDS = 3
const NEVER_MS = 2 ** 30
const bench = new ShardBench(SHARDS)
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('who waits at a shard is told that it has the turns of a lost worker: he waits without a connection that Redis could wake', async () => {
  const { turns, ...others } = scaledTimes(0.1)
  // As of a process that stands still; and no sweep tells of it.
  const times = { ...others, turns: { ...turns, renewEveryMs: NEVER_MS, sweepEveryMs: NEVER_MS } }
  const { queue, channel, dispose } = await bench.queue({ times })
  let told = 0
  channel.listen({ onTurns: () => void told++ })
  await queue.open()
  await queue.push(pages('a', 1), 'start/0')
  expect(await leased(queue, 1)).toHaveLength(1)
  await vi.waitUntil(async () => {
    const isOver = (await bench.keysEnding(':lock')).length === 0
    // What was told by then was told of what came.
    if (!isOver) told = 0
    return isOver
  })
  await vi.waitUntil(() => told > 0)
  await dispose()
})
