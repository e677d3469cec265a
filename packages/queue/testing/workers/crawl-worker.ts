/** A worker process for the tests: opens a crawl's record and does its task until it is killed. */
import { once } from 'node:events'
import { hostname } from 'node:os'
import { MemoryStatsCollector } from '@webloom/core'
import { Redis } from 'ioredis'
import { RedisCrawlRecord } from '../../src/crawl/redis-crawl-record.ts'
import { WorkerHeartbeat } from '../../src/members/worker-heartbeat.ts'
import { crawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'

const { url, spider, task } = JSON.parse(process.argv[2]!) as Record<string, string>
const redis = new Redis(url!, { maxRetriesPerRequest: null })
const keys = crawlRedisKeys({ spider: spider!, crawlId: null })
const workerId = `${hostname()}:${process.pid}:x`
const record = new RedisCrawlRecord({ redis, keys, workerId, begins: true, persists: true })

await redis.ping()
console.log('ready')
if (task === 'open') await once(process.stdin, 'data')
const past = await record.open()
if (task === 'open') {
  console.log(JSON.stringify({ ...past, run: record.run.id }))
  process.exit()
}
if (task === 'run-start') {
  const cursor = await record.takeStart(new AbortController().signal)
  await record.startMoved(cursor!, cursor! + 3)
  console.log(`start() is at ${cursor! + 3}`)
}
if (task === 'count') {
  const stats = new MemoryStatsCollector()
  const heartbeat = new WorkerHeartbeat({
    redis,
    keys,
    statsKey: `${spider}:stats`,
    workerId,
    stats,
    tells: { activity: () => ({ downloading: 0, scraping: 0 }) },
    obeys: { onPause: () => {}, onResume: () => {}, onStop: () => {} },
  })
  await heartbeat.open(record.run)
  stats.inc('item_scraped_count', 7)
  console.log(workerId)
}
