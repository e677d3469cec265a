/** A crawl that ended well and brought nothing: what to look at. */

import type { StatValue } from '@webloom/core'
import { isRedisSpider, type Spider } from '@webloom/spider'
import { skippedText } from './skipped-pages.ts'

/** Why there is neither an item nor a link, as far as the stats tell; undefined when there is one. */
export function whyEmpty(stats: Readonly<Record<string, StatValue>>, spider: Spider): string | undefined {
  const count = (key: string) => Number(stats[key] ?? 0)
  if (count('spider_output/yielded_count') > 0 || count('item_scraped_count') > 0) return undefined
  const begun = count('start/yielded_count') + count('seeds/taken')
  const pages = count('response_received_count')
  // What `webloom import` queued began elsewhere.
  if (begun + pages + count('start/invalid_url_count') === 0) return noStart(spider)
  if (pages === 0) return noPage(begun, skippedText(stats))
  return noOutput(pages, count('spider_exceptions/count') + count('spider_output/invalid_count'), spider)
}

function noStart(spider: Spider): string {
  if (isRedisSpider(spider))
    return `no seed came for spider ${spider.name}; put some there:  webloom seed ${spider.name} <url …>`
  const { name } = spider.constructor
  return spider.startUrls.length > 0
    ? `start() of ${name} yielded no request; if it is your own, it must yield what startUrls hold`
    : `${name} has no start URLs: write the field  startUrls = ['https://…'],  or a method  *start()  that yields requests`
}

function noPage(requests: number, skipped: string): string {
  const reasons = skipped === '' ? 'the lines above say why' : `skipped: ${skipped}`
  const what =
    requests === 1 ? 'the start request brought no page' : `none of ${requests} start requests brought a page`
  return `${what}; ${reasons}`
}

function noOutput(pages: number, errors: number, spider: Spider): string {
  const threw = errors > 0 ? ` The ERROR lines above (${errors}) come first.` : ''
  const url = spider.startUrls[0] ?? '<url>'
  return `the callbacks of ${pages === 1 ? 'one page' : `${pages} pages`} yielded no item and no request.${threw} Do they yield, and do their selectors find anything?  webloom shell ${url}  shows the page as they get it`
}
