import { Request } from '@webloom/core'
import { startProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { quarantined } from '../../testing/quarantined.ts'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { BullJobQueue } from '../jobs/bull-job-queue.ts'
import { BUCKETS, bucketOf } from '../politeness/bucket-of.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { type CrawlRedisKeys, crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketQueue } from './bucket-queue.ts'

const { server, redis } = await redisOfFile()

let crawls = 0

const PACE = { delayMs: 0, concurrency: 0, randomize: false }
const page = (id: string, callback?: string) => ({
  id,
  request: new Request(`http://a.test/${id}`, callback ? { callback } : {}),
})

/** As a newer release would leave it: one page with a callback of its own, and one in a form of its own. */
async function leaveCrawl(mode: string, keys: CrawlRedisKeys): Promise<void> {
  const options = { redis, keys, workerId: 'newer:1:x' }
  const queue =
    mode === 'job'
      ? new BullJobQueue({ ...options, clock: new MemoryHostClock({ pace: PACE }) })
      : new BucketQueue({ ...options, hosts: { pace: () => PACE } })
  await queue.open()
  await queue.push([page('form'), page('detail', 'parseDetail'), page('1'), page('2')], 'start/0')
  await queue.close()
  const text = 'form\n\n{"v":99,"url":"http://a.test/form"}'
  if (mode === 'job') await redis.hset(`webloom:${keys.queueName}:r-form`, 'data', JSON.stringify(text))
  else {
    const lines = `${keys.frontier}:lines:${bucketOf('a.test', BUCKETS)}`
    const line = (await redis.hget(lines, 'a.test'))!
    const [, head, first] = /^([^\n]*\n0 )\d+\n(form\n\n[^}]*\})/.exec(line)!
    await redis.hset(
      lines,
      'a.test',
      line.replace(`${head}${first!.length}\n${first}`, `${head}${text.length}\n${text}`),
    )
  }
}

test.concurrent.each(['turns', 'job'])(
  'QUEUE_MODE=%s: what all workers refuse is quarantined with its history, and the crawl ends',
  async (mode) => {
    // Of its own for each try.
    const spider = `newer-${mode}-${++crawls}`
    const keys = crawlRedisKeys({ spider, crawlId: null })
    await leaveCrawl(mode, keys)
    const workers = [1, 2].map(() =>
      startProcess(process.execPath, [
        new URL('../../testing/workers/old-release-worker.ts', import.meta.url).pathname,
        JSON.stringify({ url: server.url, spider, mode, rejectedMs: 100 }),
      ]),
    )
    for (const { exited } of workers) {
      const { code, stdout, stderr } = await exited
      expect(code, stderr).toBe(0)
      expect(stdout).toMatch(/over\n$/)
    }
    const set = await quarantined({ redis, keys })
    const reasons = new Map(set.map(({ id, reason }) => [id, reason]))
    expect(reasons.get('detail')).toBe('the spider has no callback parseDetail')
    expect(reasons.get('form')).toMatch(/99/)
    expect(reasons.size).toBe(2)
    const ids = workers.map(({ stdout }) => /^ready (\S+)$/m.exec(stdout)![1])
    for (const { history } of set) {
      expect(history.length).toBeGreaterThanOrEqual(10)
      // A worker that began when all was over has refused nothing.
      for (const { worker } of history) expect(ids).toContain(worker)
    }
  },
)
