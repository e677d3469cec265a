import { type StartedProcess, startProcess } from '@webloom/testkit'
import type { CrawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'

/** Starts a worker in a process of its own, to be killed. See crawl-worker.ts for what it does. */
export function startCrawlWorker(
  url: string,
  keys: CrawlRedisKeys,
  task: 'open' | 'run-start' | 'count',
): StartedProcess {
  const spider = keys.queueName.slice(1, -1)
  return startProcess(process.execPath, [
    new URL('./crawl-worker.ts', import.meta.url).pathname,
    JSON.stringify({ url, spider, task }),
  ])
}
