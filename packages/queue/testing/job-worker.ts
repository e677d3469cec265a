/**
 * A worker process for the tests: leases what it can and says so, and commits what it is told to by lines on its input.
 *
 *     ──► leased <id> <attempt>      ◄── commit <id>      ──► committed <id>, or refused <id> <error code>
 */
import { createInterface } from 'node:readline'
import { type Lease, WebloomError } from '@webloom/core'
import { Redis } from 'ioredis'
import { BullJobQueue } from '../src/bull-job-queue.ts'
import { crawlRedisKeys } from '../src/crawl-redis-keys.ts'
import { MemoryHostClock } from '../src/memory-host-clock.ts'

const { url, spider, workerId, quarantineAfter, max } = JSON.parse(process.argv[2]!) as {
  url: string
  spider: string
  workerId: string
  quarantineAfter: number
  max: number
}
const redis = new Redis(url, { maxRetriesPerRequest: null, socketTimeout: 4000 })
redis.on('error', () => {})
const queue = new BullJobQueue({
  redis,
  keys: crawlRedisKeys({ spider, crawlId: null }),
  workerId,
  clock: new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } }),
  concurrency: max,
  quarantineAfter,
})
const held = new Map<string, Lease>()

const orders = createInterface(process.stdin)
orders.on('close', () => process.exit())
orders.on('line', async (line) => {
  const lease = held.get(line.replace('commit ', ''))!
  try {
    await queue.commit(lease)
    held.delete(lease.id)
    console.log(`committed ${lease.id}`)
  } catch (error) {
    console.log(`refused ${lease.id} ${error instanceof WebloomError ? error.code : error}`)
  }
})

await queue.open()
for (;;) {
  const room = max - held.size
  for (const lease of room > 0 ? await queue.lease(room) : []) {
    held.set(lease.id, lease)
    console.log(`leased ${lease.id} ${lease.attempt}`)
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
}
