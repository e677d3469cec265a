/** Crawlee's CheerioCrawler, with its storage in memory or, as by default, on disk. */

import { join } from 'node:path'
import { type PeerTask, peerModule, reportUse } from './peer-task.ts'

interface CrawleeContext {
  readonly $: (selector: string) => { text(): string }
  pushData(item: unknown): Promise<void>
  enqueueLinks(options: { strategy: string }): Promise<void>
}

interface Crawlee {
  readonly CheerioCrawler: new (
    options: Record<string, unknown>,
    configuration: unknown,
  ) => { run(urls: readonly string[]): Promise<unknown> }
  readonly Configuration: new (options: Record<string, unknown>) => unknown
  readonly log: { setLevel(level: number): void; LEVELS: { ERROR: number } }
}

export async function crawlCrawlee({ seeds, concurrency, select, storage }: PeerTask): Promise<void> {
  const { CheerioCrawler, Configuration, log } = await peerModule<Crawlee>('@crawlee/cheerio')
  log.setLevel(log.LEVELS.ERROR)
  const configuration = new Configuration({
    persistStorage: storage !== null,
    ...(storage !== null && { storageClientOptions: { localDataDirectory: join(storage, 'crawlee') } }),
  })
  const crawler = new CheerioCrawler(
    {
      minConcurrency: concurrency,
      maxConcurrency: concurrency,
      async requestHandler({ $, pushData, enqueueLinks }: CrawleeContext) {
        if (select) await pushData({ title: $('title').text() })
        await enqueueLinks({ strategy: 'same-hostname' })
      },
    },
    configuration,
  )
  await crawler.run(seeds)
}

await reportUse(crawlCrawlee)
