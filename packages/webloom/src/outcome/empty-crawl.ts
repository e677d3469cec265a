/** A crawl that ended well and brought nothing, or lost something on the way: what to look at. */

import type { Crawler, StatValue } from '@webloom/core'
import type { WholeTotals } from '@webloom/queue'
import { isRedisSpider, type Spider } from '@webloom/spider'
import { typedShell } from '../loading/typed-spider.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { counted } from '../terminal/figures.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { skippedText } from './skipped-pages.ts'

/** Returns what callbacks yielded and nobody got, though the crawl went on; undefined when nothing of the kind happened. */
export function lostText(stats: Readonly<Record<string, StatValue>>): string | undefined {
  const count = (key: string) => Number(stats[key] ?? 0)
  const [unwritten, unwritable, refused, invalid] = [
    count('feedexport/unserializable_count'),
    count('item_unwritable_count'),
    count('spider_output/refused_count'),
    count('spider_output/invalid_count'),
  ]
  const parts = [
    ...(unwritten > 0 ? [`${counted(unwritten, 'item')} that an output could not write`] : []),
    ...(unwritable > 0 ? [`${counted(unwritable, 'item')} that no output could write`] : []),
    ...(refused > 0 ? [`${counted(refused, 'request')} that could not be queued`] : []),
    ...(invalid > 0
      ? [`${counted(invalid, 'value')} that ${invalid === 1 ? 'is' : 'are'} neither item nor request`]
      : []),
  ]
  return parts.length === 0
    ? undefined
    : `of what the spider yielded is lost: ${parts.join(', ')}; the ERROR lines above say which and why`
}

/** What is said of a crawl that went on, and had come to its end before. */
export const NOTHING_LEFT =
  'nothing was left to fetch: all that this crawl had queued was done before it was stopped'

/** Returns whether pages were seen that an earlier run had visited (RECRAWL). */
export function hasComeBack(counted: Readonly<Record<string, StatValue>>): boolean {
  return Number(counted['recrawl/due_count'] ?? 0) + Number(counted['recrawl/start_known_count'] ?? 0) > 0
}

/** Returns whether anything was tried. */
export function hasFetched(stats: Readonly<Record<string, StatValue>>): boolean {
  return Number(stats['scheduler/dequeued'] ?? 0) > 0
}

/** Returns what is said of a crawl that knows pages, of which none was due. */
export function nothingDueText({ spider, settings }: Pick<Crawler, 'spider' | 'settings'>): string {
  const folder = settings.get('JOBDIR')
  const place = folder === null ? '' : ` -s JOBDIR=${shellQuoted(folder)}`
  return `RECRAWL: no page was due, so none was fetched. When is the next one due?  ${commandName()} visits list ${typedCrawl(spider, settings)}${place} --limit 1`
}

interface EmptyCrawl {
  readonly spider: Spider
  /** The outputs that were to be written. */
  readonly outputs: readonly string[]
  /** Names the workers that have crawled, where it was not this process alone; else empty. */
  readonly by: string
}

/** Returns why a crawl brought nothing, or no item for its outputs, as far as the stats tell; undefined when it brought some. */
export function emptyText(totals: WholeTotals, { spider, outputs, by }: EmptyCrawl): string | undefined {
  const why = whyEmpty(totals, spider)
  if (why !== undefined) return `nothing was crawled${by}: ${why}`
  const whyNone = whyNoItem(totals, outputs, spider)
  return whyNone === undefined ? undefined : `no item was found${by}: ${whyNone}`
}

/** Why there is neither an item nor a link, or no item could be written; undefined otherwise. */
function whyEmpty({ all, sinceResumed }: WholeTotals, spider: Spider): string | undefined {
  const brought = (key: string) => Number(all[key] ?? 0)
  if (brought('feedexport/unserializable_count') > 0 && brought('feedexport/written_count') === 0)
    return 'no item could be written to an output; the ERROR lines above name the fields'
  if (brought('spider_output/yielded_count') > 0 || brought('item_scraped_count') > 0) return undefined
  // What an earlier run met with is no reason of this one.
  const count = (key: string) => Number(sinceResumed[key] ?? 0)
  const begun = count('start/yielded_count') + count('seeds/taken')
  const pages = count('response_received_count')
  // What `webloom import` queued began elsewhere.
  if (begun + pages + count('start/invalid_url_count') === 0)
    return noStart(spider, count('spider_output/invalid_count') + count('spider_output/refused_count'))
  if (pages === 0) return noPage(begun, skippedText(sinceResumed))
  return noOutput(pages, count('spider_exceptions/count') + count('spider_output/invalid_count'), spider)
}

/** Where links were followed, mostly a selector finds nothing: the file is empty, and all counts look well. */
function whyNoItem({ all }: WholeTotals, outputs: readonly string[], spider: Spider): string | undefined {
  const count = (key: string) => Number(all[key] ?? 0)
  const items =
    count('item_scraped_count') +
    count('item_dropped_count') +
    count('item_error_count') +
    count('feedexport/unserializable_count')
  const pages = count('response_received_count')
  if (items > 0 || pages === 0 || outputs.length === 0) return undefined
  return `${counted(pages, 'page')} yielded links alone, so ${outputs.join(', ')} got nothing. Does a callback yield items, and do its selectors find anything?  ${shellOf(spider)}  shows the page as it gets it`
}

function noStart(spider: Spider, refused: number): string {
  if (refused > 0)
    return `nothing that start() of ${spider.constructor.name} yielded could be used; the ERROR ${refused === 1 ? 'line above says' : `lines above (${refused}) say`} why`
  if (isRedisSpider(spider))
    return `no seed came for spider ${spider.name}; put some there:  ${commandName()} seed ${typedCrawl(spider, spider.settings)} <url …>`
  const { name, prototype } = spider.constructor
  if (Object.hasOwn(prototype, 'start'))
    return `start() of ${name} yielded no request. Does it  yield  each one that it makes?`
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
  return `the callbacks of ${pages === 1 ? 'one page' : `${pages} pages`} yielded no item and no request.${threw} Do they yield (of another callback:  yield* this.other(response)), and do their selectors find anything?  ${shellOf(spider)}  shows the page as they get it`
}

function shellOf(spider: Spider): string {
  const [url] = spider.startUrls
  return url === undefined ? `${commandName()} shell <url>` : typedShell(spider, url)
}
