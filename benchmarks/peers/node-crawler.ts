/** node-crawler, its jQuery by cheerio; it leaves knowing URLs again to its caller. */

import { type PeerTask, peerModule, reportUse } from './peer-task.ts'

interface Answer {
  readonly $: (selector: string) => { text(): string; each(see: (n: number, element: Anchor) => void): void }
}

interface Anchor {
  readonly attribs: { readonly href?: string }
}

interface NodeCrawler {
  add(request: { url: string }): void
  on(event: 'drain', listener: () => void): void
}

interface NodeCrawlerModule {
  readonly default: new (options: Record<string, unknown>) => NodeCrawler
}

export async function crawlNodeCrawler({ seeds, concurrency, select }: PeerTask): Promise<void> {
  const { default: Crawler } = await peerModule<NodeCrawlerModule>('crawler')
  const seen = new Set<string>()
  const titles: string[] = []
  const add = (url: string) => {
    if (seen.has(url)) return
    seen.add(url)
    crawler.add({ url })
  }
  const crawler = new Crawler({
    maxConnections: concurrency,
    silence: true,
    callback(error: unknown, { $, ...answer }: Answer & { options: { url: string } }, done: () => void) {
      if (!error) {
        if (select) titles.push($('title').text())
        $('a').each((_, { attribs: { href } }) => {
          if (href !== undefined) add(new URL(href, answer.options.url).href)
        })
      }
      done()
    },
  })
  const drained = new Promise<void>((resolve) => crawler.on('drain', resolve))
  for (const url of seeds) add(url)
  await drained
}

await reportUse(crawlNodeCrawler)
