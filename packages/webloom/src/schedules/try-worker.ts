import { silentLogger } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { assemble } from '../assembly/assemble.ts'
import { type CrawlBaseOptions, crawlBaseOf } from '../assembly/crawl-base.ts'
import type { LoadedConfig } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'

/**
 * Throws what a worker of that crawl would refuse before it fetches anything. Components are made and closed, and not opened; the log has
 * nothing of it.
 */
export async function tryWorker(Class: SpiderClass, options: CrawlBaseOptions): Promise<void> {
  const part = { begins: false, isWorker: true }
  const crawl = await assemble(Class, { ...options, part, createLogger: () => silentLogger })
  await crawl.letGo()
}

/** The same for a worker as a command line has it. */
export function tryWorkerOf(Class: SpiderClass, flags: CrawlFlags, config: LoadedConfig): Promise<void> {
  return tryWorker(Class, crawlBaseOf(flags, config))
}
