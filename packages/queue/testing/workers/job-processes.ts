import { type StartedProcess, startProcess } from '@webloom/testkit'
import type { CrawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'
import { JobBench } from '../job-bench.ts'

/** A `JobBench` whose workers may also be processes of their own, to be killed or stopped. */
export class JobProcessBench extends JobBench {
  readonly #processes: StartedProcess[] = []

  /** Starts a worker; see job-worker.ts for what it says. */
  worker(
    keys: CrawlRedisKeys,
    workerId: string,
    {
      max = 3,
      quarantineAfter = 3,
      treeTo,
    }: { max?: number; quarantineAfter?: number; treeTo?: number } = {},
  ): StartedProcess {
    const spider = keys.queueName.slice(1, -1)
    const worker = startProcess(process.execPath, [
      new URL('./job-worker.ts', import.meta.url).pathname,
      JSON.stringify({ url: this.server.url, spider, workerId, max, quarantineAfter, treeTo }),
    ])
    this.#processes.push(worker)
    return worker
  }

  /** Kills the workers that a test has started, and closes its queues. */
  override async closeAll(): Promise<void> {
    for (const worker of this.#processes.splice(0)) worker.kill('SIGKILL')
    await super.closeAll()
  }
}
