/** What a worker is told whose crawl is gone, and of what Redis has in flight in its name. */

import { type Logger, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BucketBench, page, pages } from '../../testing/bucket-bench.ts'
import { leased } from '../../testing/leased.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import { BucketScripts } from './scripts/bucket-scripts.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const EMPTY = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }

function listening(): { logger: Logger; warnings: string[] } {
  const warnings: string[] = []
  const logger = {
    ...silentLogger,
    warn: (fields: object | string, message?: string) => void warnings.push(message ?? String(fields)),
  }
  return { logger, warnings }
}

test('webloom clear --force: the workers’ leases are lost, nothing of theirs is queued again, and Redis is not said to have gone back', async () => {
  const keys = bench.nextKeys()
  const { logger, warnings } = listening()
  await bench.redis.hset(keys.record, { run: 'n.1', state: 'running' })
  await bench.redis.hset(keys.workers, 'some:1:a', JSON.stringify({ at: Date.now() }))
  const queue = await bench.queue({ keys, logger })
  await queue.push(pages('a', 3), 'start/0')
  const [held] = await leased(queue, 1)
  const other = await bench.queue()
  const clear = () => queue.clear()
  await clearCrawl({ redis: bench.redis, keys, statsKey: 'stats', force: true, clear })
  await expect(queue.push(pages('a', 3), 'page')).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  await expect(queue.pushStart([{ ...page('b', 1), element: 1 }], 1, 2)).rejects.toMatchObject({
    code: 'WL_LEASE_LOST',
  })
  await expect(queue.commit(held!, { children: pages('c', 3) })).rejects.toMatchObject({
    code: 'WL_LEASE_LOST',
  })
  // Another run has begun in its place.
  await bench.redis.hset(keys.record, { run: 'n.2', state: 'running' })
  await expect(queue.push(pages('d', 3), 'page 2')).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  expect(await queue.counts()).toEqual(EMPTY)
  expect(await bench.redis.exists(`${keys.frontier}:heard`)).toBe(0)
  expect(warnings).toEqual([])
  expect(await other.push(pages('a', 1), 'start/0')).toBe(1)
})

test('a worker that stood still until the others had ended and emptied its crawl is not told that Redis has gone back', async () => {
  const keys = bench.nextKeys()
  const { logger, warnings } = listening()
  await bench.redis.hset(keys.record, { run: 'n.1', state: 'running' })
  const queue = await bench.queue({ keys, logger })
  await queue.push(pages('a', 1), 'start/0')
  const [held] = await leased(queue, 1)
  const other = await bench.queue({ keys })
  await bench.redis.hset(keys.record, { state: 'finished' })
  await other.clear()
  await expect(queue.commit(held!, { children: pages('b', 2) })).rejects.toMatchObject({
    code: 'WL_LEASE_LOST',
  })
  expect(warnings).toEqual([])
  expect(await other.counts()).toEqual(EMPTY)
})

test('what is in flight in a worker’s name is told of turns, too, that the worker does not have', async () => {
  const keys = bench.nextKeys()
  const queue = await bench.queue({ keys })
  expect(await queue.inFlight()).toEqual([])
  await queue.push(pages('held', 1), 'start/0')
  const [lease] = await leased(queue, 1)
  const [key] = await bench.redis.keys(`${keys.frontier}:unit:*`)
  const holder = (await bench.redis.hget(key!, 'o0'))!.replace(/\/\d+$/, '')
  expect(await queue.inFlight()).toEqual([{ slot: lease!.slot, count: 1, holder }])
  // More turns than one script looks at; one is this worker's by name, and another's begins with the same letters.
  const units = Array.from({ length: 1200 }, (_, n) => [Date.now() + 60_000, `h${n}~0~1`])
  await bench.redis.zadd(`${keys.frontier}:due`, ...units.flat())
  for (const [host, lane, name] of [
    ['h700', '0', `${holder}/77`],
    ['h701', '0', `${holder}1/1`],
  ]) {
    await bench.redis.hset(`${keys.frontier}:unit:${host}`, {
      up: '1',
      [`g${lane}`]: '1',
      [`o${lane}`]: name!,
    })
    await bench.redis.hset(
      `${keys.frontier}:flight:${lane}:${host}`,
      '5.1',
      `${host}\n0\n{}`,
      '5.2',
      `${host}\n0\n{}`,
    )
  }
  const found = [...(await queue.inFlight())]
  expect(found.sort((a, b) => a.slot.localeCompare(b.slot))).toEqual(
    [
      { slot: 'h700', count: 2, holder },
      { slot: lease!.slot, count: 1, holder },
    ].sort((a, b) => a.slot.localeCompare(b.slot)),
  )
  await queue.commit(lease!)
  // Nothing is leased by the counts: no turn is looked at.
  expect(await queue.inFlight()).toEqual([])
})

test('a worker that stood still after it was handed a turn takes nothing from the one that has it now', async () => {
  const keys = bench.nextKeys()
  const queue = await bench.queue({ keys })
  await queue.push(pages('held', 3), 'start/0')
  const [lease] = await leased(queue, 1)
  lease!.started()
  const [unit] = await bench.redis.zrange(`${keys.frontier}:due`, 0, '-1')
  const [, host, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(unit!)!
  const scripts = new BucketScripts({ redis: bench.redis, keys, order: 'priority' })
  const late = { unit: host!, lane: lane!, generation: generation!, delayMs: 0, isSecond: false }
  const begun = await scripts.begin({ ...late, holder: 'late/1', lockToken: 'late/1' }, 3)
  expect(begun).toBe('taken')
  await queue.commit(lease!)
  expect(await queue.counts()).toMatchObject({ waiting: 2 })
})
