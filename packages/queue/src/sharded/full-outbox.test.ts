import { afterAll, beforeAll, expect, test } from 'vitest'
import { RedisBench } from '../../testing/redis-bench.ts'
import { BucketScripts } from '../buckets/scripts/bucket-scripts.ts'
import { explained } from '../buckets/turn-errors.ts'
import { addressIn } from '../shards/outbox-entry.ts'

const OUTBOX_BYTES_MAX = 64 * 2 ** 20

const bench = new RedisBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('a full outbox takes nothing more of start(), seeds and imports, says why, and takes it again when it has room', async () => {
  const keys = bench.nextKeys()
  const home = new BucketScripts({ redis: bench.redis, keys, order: 'fifo', isShard: true })
  let number = 0
  const push = (id: string) =>
    explained(
      home.push({
        command: { worker: 'w', number: ++number, answered: 0, run: '' },
        ...{ asker: 'start/1', isNoting: true },
        groups: [
          {
            ...{ place: 'end', bucket: addressIn('03', 'start/1', '#7'), slot: 'h.test', priority: 0 },
            requests: [{ id, text: `${id}\n{}` }],
          },
        ],
      }),
    )
  expect(await push('a')).toMatchObject({ added: 1 })
  await bench.redis.hset(keys.frontierCounts, 'outbox', OUTBOX_BYTES_MAX + 1)
  await expect(push('b')).rejects.toMatchObject({
    code: 'WL_QUEUE_FULL',
    message: expect.stringContaining('on its way to shards'),
    cause: { code: 'OUTBOXFULL', detail: String(OUTBOX_BYTES_MAX + 1) },
  })
  await bench.redis.hset(keys.frontierCounts, 'outbox', OUTBOX_BYTES_MAX)
  expect(await push('b')).toMatchObject({ added: 1 })
  expect(await bench.redis.llen(`${keys.frontier}:outbox:03`)).toBe(2)
})
