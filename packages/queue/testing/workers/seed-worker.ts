/**
 * A worker that does nothing but take seeds, note them as queued, and acknowledge them; it is there to be killed.
 *
 *     node seed-worker.ts <redis url> <key> <set of what was queued> <lease ms>
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Request, silentLogger } from '@webloom/core'
import { Redis } from 'ioredis'
import { RedisSeedSource } from '../../src/seeds/redis-seed-source.ts'

const [url, key, queued, leaseMs] = process.argv.slice(2) as [string, string, string, string]
const redis = new Redis(url, { maxRetriesPerRequest: null })
const source = new RedisSeedSource({
  redis,
  key,
  batchSize: 20,
  workerId: `test:${process.pid}:x`,
  makeRequests: (data) => [new Request(data)],
  redisRunId: async () => 'run',
  settled: async () => {},
  logger: silentLogger,
  stats: { inc() {} },
  leaseMs: Number(leaseMs),
  ripeMs: 200,
})
await source.open()
console.log('open')
for (;;) {
  const seeds = await source.next(20)
  for (const seed of seeds) {
    // Waits: so long a seed takes.
    await sleep(Math.random() * 3)
    await redis.sadd(queued, `${seed.request.url} ${seed.id}`)
    await source.acknowledge(seed)
  }
  // Waits: as a crawl without seeds asks again.
  if (seeds.length === 0) await sleep(50)
}
