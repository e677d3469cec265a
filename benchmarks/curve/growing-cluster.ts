/** Pages a second of one crawl by more and more worker processes, and what a page costs each Redis. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, startRedis, tempDir } from '@webloom/testkit'
import type { PeerTask, ProcessUse } from '../peers/peer-task.ts'
import type { BenchSite } from '../peers/site.ts'
import { redisUse } from './redis-use.ts'

export interface Cluster {
  readonly workers: number
  readonly filter: 'redis-set' | 'redis-bloom'
}

export interface ClusterPoint extends Cluster {
  readonly pagesPerSecond: number
  /** CPU of all workers together. */
  readonly workerMicros: number
  readonly queueMicros: number
  readonly filterMicros: number
}

const WORKER = join(import.meta.dirname, '../peers/webloom.ts')
const IN_FLIGHT = 32
const RUN_MS_MAX = 300_000
/** 20 hashes, at the default error of 1e-6. */
const BLOOM_CAPACITY = 1_000_000

/**
 * One crawl of the site: links only, 32 at a time however many workers there are, a Redis for each role. `flags` are for
 * the workers' Node.
 */
export async function crawlTogether(
  site: BenchSite,
  { workers, filter }: Cluster,
  flags: readonly string[] = [],
): Promise<ClusterPoint> {
  await using queueRedis = await startRedis()
  await using filterRedis = await startRedis()
  await using folder = await tempDir()
  const task: PeerTask = {
    seeds: [site.start],
    concurrency: IN_FLIGHT,
    select: false,
    flavour: filter,
    redis: queueRedis.url,
    storage: null,
  }
  const env = {
    DUPEFILTER_REDIS_URL: filterRedis.url,
    WEBLOOM_BLOOMFILTER_CAPACITY: String(BLOOM_CAPACITY),
  }
  const taskFile = folder.join('task.json')
  await writeFile(taskFile, JSON.stringify(task))
  const command = [...flags, '--conditions=webloom-source', WORKER, taskFile]
  await site.visits()
  const ended = await Promise.all(
    Array.from({ length: workers }, () =>
      runProcess(process.execPath, command, { env, timeoutMs: RUN_MS_MAX }),
    ),
  )
  const { pages, different, seconds } = await site.visits()
  if (different < site.urls.length * 0.999)
    throw new Error(`${workers} workers asked for ${different} of ${site.urls.length} pages`)
  const cpuSeconds = ended.map(({ code, stdout, stderr }) => {
    if (code !== 0) throw new Error(`a worker ended with ${code}: ${stderr}`)
    return (JSON.parse(stdout.trim().split('\n').at(-1)!) as ProcessUse).cpuSeconds
  })
  return {
    workers,
    filter,
    pagesPerSecond: pages / seconds,
    workerMicros: (1e6 * cpuSeconds.reduce((sum, one) => sum + one, 0)) / pages,
    queueMicros: (await redisUse(queueRedis)).micros / pages,
    filterMicros: (await redisUse(filterRedis)).micros / pages,
  }
}
