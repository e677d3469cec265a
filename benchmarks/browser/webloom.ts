/** Webloom with `@webloom/browser`; HTTP pages and rendered ones in one crawl. */

import { crawl, Request, type Response, Spider } from 'webloom'
import { taskGiven, urlsOf } from './task.ts'

const task = taskGiven()
let items = 0

class Pages extends Spider {
  override name = 'pages'

  override *start() {
    const block = task.blocks ? ['image', 'font', 'media'] : []
    for (const url of urlsOf(task, 'drawn', task.drawn))
      yield new Request(url, { meta: { browser: { waitFor: '.item', block } } })
    for (const url of urlsOf(task, 'plain', task.plain)) yield new Request(url)
  }

  override parse(response: Response): void {
    items += response.css('.item').length
  }
}

await crawl(Pages, {
  settings: {
    CONCURRENT_REQUESTS: 16,
    CONCURRENT_REQUESTS_PER_DOMAIN: 1000,
    BROWSER_PAGES: task.open,
    BROWSER_EXECUTABLE: task.executable,
    BROWSER_SANDBOX: process.getuid?.() !== 0,
    ROBOTSTXT_OBEY: false,
    LOG_LEVEL: 'CRITICAL',
    STATS_DUMP: false,
  },
})
console.log(JSON.stringify({ items }))
