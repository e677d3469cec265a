/** Crawlee's PlaywrightCrawler, with its storage in memory. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { taskGiven, urlsOf } from './task.ts'

interface CrawleePage {
  waitForSelector(selector: string): Promise<unknown>
  content(): Promise<string>
}

interface Crawlee {
  readonly PlaywrightCrawler: new (
    options: Record<string, unknown>,
    configuration: unknown,
  ) => { run(urls: readonly string[]): Promise<unknown> }
  readonly Configuration: new (options: Record<string, unknown>) => unknown
  readonly log: { setLevel(level: number): void; LEVELS: { ERROR: number } }
}

const require = createRequire(join(import.meta.dirname, '.installed', 'package.json'))
const crawlee = require.resolve('@crawlee/playwright')
const { PlaywrightCrawler, Configuration, log } = (await import(pathToFileURL(crawlee).href)) as Crawlee

const task = taskGiven()
let items = 0
log.setLevel(log.LEVELS.ERROR)
const crawler = new PlaywrightCrawler(
  {
    minConcurrency: task.open,
    maxConcurrency: task.open,
    launchContext: {
      useIncognitoPages: task.apart,
      launchOptions: {
        executablePath: task.executable,
        headless: true,
        chromiumSandbox: process.getuid?.() !== 0,
      },
    },
    browserPoolOptions: { useFingerprints: false },
    async requestHandler({ page }: { page: CrawleePage }) {
      await page.waitForSelector('.item')
      const html = await page.content()
      items += html.split('class="item"').length - 1
    },
  },
  new Configuration({ persistStorage: false }),
)
await crawler.run(urlsOf(task, 'drawn', task.drawn))
// It leaves timers behind.
process.stdout.write(`${JSON.stringify({ items })}\n`, () => process.exit())
