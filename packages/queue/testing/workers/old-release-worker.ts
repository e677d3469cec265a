/**
 * A worker process of an older release: it commits what it can do, and refuses the callback `parseDetail`, which it does
 * not know. It ends with the crawl, and says `over`.
 */
import { hostname } from 'node:os'
import { MemoryStatsCollector } from '@webloom/core'
import { Redis } from 'ioredis'
import { BucketQueue } from '../../src/buckets/bucket-queue.ts'
import { RedisCrawlRecord } from '../../src/crawl/redis-crawl-record.ts'
import { BullJobQueue } from '../../src/jobs/bull-job-queue.ts'
import { WorkerHeartbeat } from '../../src/members/worker-heartbeat.ts'
import { MemoryHostClock } from '../../src/politeness/memory-host-clock.ts'
import { crawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'

const { url, spider, mode, rejectedMs } = JSON.parse(process.argv[2]!) as {
  url: string
  spider: string
  mode: 'turns' | 'job'
  rejectedMs: number
}
const redis = new Redis(url, { maxRetriesPerRequest: null, socketTimeout: 4000 })
const keys = crawlRedisKeys({ spider, crawlId: null })
const workerId = `${hostname()}:${process.pid}:x`
const pace = { delayMs: 0, concurrency: 0, randomize: false }
const options = { redis, keys, workerId, givingUp: { rejectedMs } }
const queue =
  mode === 'job'
    ? new BullJobQueue({ ...options, clock: new MemoryHostClock({ pace }) })
    : new BucketQueue({ ...options, hosts: { pace: () => pace } })
const record = new RedisCrawlRecord({ redis, keys, workerId, begins: false, persists: true })
await record.open()
const heartbeat = new WorkerHeartbeat({
  redis,
  keys,
  statsKey: `${spider}:stats`,
  workerId,
  stats: new MemoryStatsCollector(),
  tells: { activity: () => ({ downloading: 0, scraping: 0 }) },
  obeys: { onPause: () => {}, onResume: () => {}, onStop: () => {} },
})
await heartbeat.open(record.run)
await queue.open()
console.log(`ready ${workerId}`)
for (;;) {
  for (const lease of await queue.lease(4)) {
    const { callback } = lease.request
    if (callback === 'parseDetail') await queue.reject(lease, `the spider has no callback ${callback}`)
    else await queue.commit(lease)
  }
  const { waiting, delayed, leased } = await queue.counts()
  if (waiting + delayed + leased === 0) break
}
await heartbeat.close()
await queue.close()
redis.disconnect()
console.log('over')
