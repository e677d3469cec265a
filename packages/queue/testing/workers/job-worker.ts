/**
 * A worker process for the tests: leases what it can and says so, and commits what it is told to by lines on its input.
 *
 *     ──► leased <id> <attempt>      ◄── commit <id>      ──► committed <id>, or refused <id> <error code>
 *
 * With `treeTo` it crawls by itself a tree of pages: n links to 2n and 2n + 1, as far as `treeTo`. Hash `fetched` in Redis
 * counts how often each was fetched. It says `all hands full` whenever it has `max` pages in flight.
 */
import { createInterface } from 'node:readline'
import { type Lease, Request, WebloomError } from '@webloom/core'
import { Redis } from 'ioredis'
import { BullJobQueue } from '../../src/jobs/bull-job-queue.ts'
import { MemoryHostClock } from '../../src/politeness/memory-host-clock.ts'
import { crawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'

const { url, spider, workerId, quarantineAfter, max, treeTo } = JSON.parse(process.argv[2]!) as {
  url: string
  spider: string
  workerId: string
  quarantineAfter: number
  max: number
  treeTo?: number
}
const redis = new Redis(url, { maxRetriesPerRequest: null, socketTimeout: 4000 })
redis.on('error', () => {})
const queue = new BullJobQueue({
  redis,
  keys: crawlRedisKeys({ spider, crawlId: null }),
  workerId,
  clock: new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } }),
  concurrency: max,
  givingUp: { quarantineAfter },
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

async function crawl(lease: Lease): Promise<void> {
  const n = Number(lease.id)
  await redis.hincrby('fetched', lease.id, 1)
  // Waits: so long a page takes.
  await new Promise((resolve) => setTimeout(resolve, 20))
  const children = [2 * n, 2 * n + 1]
    .filter((child) => child <= treeTo!)
    .map((child) => ({ id: String(child), request: new Request(`http://a.test/${child}`) }))
  await queue.commit(lease, { children }).catch(() => {})
  held.delete(lease.id)
}

await queue.open()
for (;;) {
  const room = max - held.size
  for (const lease of room > 0 ? await queue.lease(room) : []) {
    held.set(lease.id, lease)
    if (treeTo && held.size === max) console.log('all hands full')
    if (treeTo) void crawl(lease)
    else console.log(`leased ${lease.id} ${lease.attempt}`)
  }
  // Waits: between two looks.
  await new Promise((resolve) => setTimeout(resolve, 20))
}
