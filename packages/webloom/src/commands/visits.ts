/** `webloom visits` and `webloom refresh`: when the pages of a crawl were visited and are due again (RECRAWL). */

import {
  type FoundVisit,
  isNeverVisited,
  lacksCallback,
  type Request,
  UsageError,
  type Visit,
  type VisitedPage,
  type VisitStore,
} from '@webloom/core'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { withVisits } from '../assembly/recrawl/visits-from-outside.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { requestsOfUrls } from '../seeds/requests-of-urls.ts'
import { grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface VisitsFlags extends OutsideFlags {
  /** A part of the URL, or /a regular expression/. */
  readonly match?: string
}

export interface VisitListFlags extends VisitsFlags {
  readonly limit?: string
}

export interface RefreshFlags extends VisitsFlags {
  /** `7d`: visited longer ago than that. */
  readonly older?: string
}

const LIST_MAX = 100
const PAGES_PER_STEP = 500
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Prints what is known of each URL. */
export async function visitsShow(
  spider: NamedSpider,
  urls: readonly string[],
  flags: OutsideFlags,
): Promise<void> {
  const requests = await requestsOfUrls(urls)
  await withVisits(spider, flags, async ({ visits, fingerprint }) => {
    const found = await visits.find(requests.map(fingerprint))
    const pages = requests.map(({ url }, n) => ({ url, visit: found[n] }))
    if (flags.json) return console.log(visibleJson(JSON.stringify(pages.map(told))))
    for (const { url, visit } of pages)
      for (const line of visit ? [url, ...wholeOf(visit)] : [url, '  was never visited'])
        console.log(visible(line))
  })
}

/** Prints the pages that wait for their hours, the next ones first. */
export async function visitsList(spider: NamedSpider, flags: VisitListFlags): Promise<void> {
  await listed(spider, flags, () => true)
}

/** Prints the pages that are due for a run. Which others `start()` makes due is known when it has run, and not before. */
export async function visitsDue(spider: NamedSpider, flags: VisitListFlags): Promise<void> {
  const now = Date.now()
  await listed(spider, flags, ({ visit }, earlyMs) => visit.dueAt <= now + earlyMs)
}

async function listed(
  spider: NamedSpider,
  flags: VisitListFlags,
  isListed: (page: VisitedPage, earlyMs: number) => boolean,
): Promise<void> {
  const max = limitOf(flags.limit)
  await withVisits(spider, flags, async ({ visits, earlyMs }) => {
    let nextMs = Number.POSITIVE_INFINITY
    const parts = chosen(visits, flags.match, (page) => {
      nextMs = Math.min(nextMs, page.visit.dueAt)
      return isListed(page, earlyMs)
    })
    const { pages, count } = await firstDue(parts, max)
    const nextHour = Number.isFinite(nextMs) ? `the next one is due ${momentOf(nextMs)}` : undefined
    if (flags.json)
      return console.log(
        visibleJson(JSON.stringify(pages.map(({ request: { url }, visit }) => told({ url, visit })))),
      )
    for (const { request, visit } of pages)
      console.log(
        visible(
          `due ${momentOf(visit.dueAt)}   visited ${isNeverVisited(visit) ? 'never' : momentOf(visit.visitedAt)}   ${inShort(visit, request)}   ${request.url}`,
        ),
      )
    if (count > pages.length) console.log(`… of ${grouped(count)}; --limit ${count} prints all`)
    else if (count === 0) console.log(nextHour === undefined ? 'no page' : `no page; ${nextHour}`)
  })
}

/** Resolves to the pages that are due first, `max` at the most, and to how many there are. Keeps few more than these. */
async function firstDue(
  parts: AsyncIterable<readonly VisitedPage[]>,
  max: number,
): Promise<{ readonly pages: readonly VisitedPage[]; readonly count: number }> {
  let count = 0
  let first: VisitedPage[] = []
  const cut = () => {
    first = first.sort((a, b) => a.visit.dueAt - b.visit.dueAt).slice(0, max)
  }
  for await (const part of parts) {
    count += part.length
    for (const page of part) first.push(page)
    if (first.length > 2 * max + PAGES_PER_STEP) cut()
  }
  cut()
  return { pages: first, count }
}

/** Forgets when pages were visited: they are not visited again, unless they are met anew. */
export async function visitsForget(
  spider: NamedSpider,
  urls: readonly string[],
  flags: VisitsFlags,
): Promise<void> {
  if ((urls.length === 0) === (flags.match === undefined))
    throw new UsageError('WL_USAGE', 'give URLs, or --match <text> for those that contain it')
  const requests = await requestsOfUrls(urls)
  await withVisits(spider, flags, async ({ visits, fingerprint }) => {
    let forgotten = 0
    const forget = async (fingerprints: readonly string[]) => {
      for (const some of partsOf(fingerprints)) forgotten += (await visits.forget(some)).length
    }
    if (flags.match === undefined) await forget(requests.map(fingerprint))
    else
      for await (const part of chosen(visits, flags.match)) await forget(part.map((page) => page.fingerprint))
    const text = `forgotten: ${grouped(forgotten)} pages${matchShown(flags.match)}`
    print(flags, { forgotten }, forgotten === 0 && flags.match !== undefined ? noMatch(flags.match) : text)
  })
}

/** Makes pages due now. */
export async function refresh(spider: NamedSpider, flags: RefreshFlags): Promise<void> {
  const now = Date.now()
  const before = flags.older === undefined ? now : now - spanOf(flags.older)
  // A clock that was ahead has noted visits that are to come: nobody knows how old these are.
  const isOld = ({ visit: { visitedAt } }: VisitedPage) => visitedAt <= before || visitedAt > now
  await withVisits(spider, flags, async ({ visits }) => {
    let [due, matching] = [0, 0]
    const isMeant = (page: VisitedPage) => {
      matching++
      return isOld(page)
    }
    for await (const part of chosen(visits, flags.match, isMeant))
      for (const some of partsOf(part)) due += (await visits.reschedule(some, now)).length
    const text = `due now: ${grouped(due)} pages${matchShown(flags.match)}; the crawl visits them when it runs`
    print(flags, { due }, matching === 0 && flags.match !== undefined ? noMatch(flags.match) : text)
  })
}

/** Yields the pages that wait for their hours, as they are read: a crawl may have ten million. */
async function* chosen(
  visits: VisitStore,
  match: string | undefined,
  isChosen: (page: VisitedPage) => boolean = () => true,
): AsyncGenerator<readonly VisitedPage[]> {
  const fits = matcherOf(match)
  for await (const some of visits.waiting())
    yield some.filter((page) => fits(page.request.url) && isChosen(page))
}

function told({
  url,
  visit,
}: {
  readonly url: string
  readonly visit: Visit | FoundVisit | undefined
}): object {
  if (!visit) return { url, visited: null }
  const isInALine = 'isInALine' in visit && visit.isInALine
  const { visitedAt, dueAt, visits, changes, failures, goneAnswers, etag, lastModifiedAt } = visit
  return {
    url,
    visited: isNeverVisited(visit) ? null : new Date(visitedAt).toISOString(),
    due: isInALine ? null : new Date(dueAt).toISOString(),
    ...{ visits, changes, failures, goneAnswers },
    ...(lacksCallback(visit) && { callbackMissing: true }),
    ...(etag !== undefined && { etag }),
    ...(lastModifiedAt !== undefined && { lastModified: new Date(lastModifiedAt).toISOString() }),
  }
}

function wholeOf(visit: FoundVisit): string[] {
  const { visits, changes, failures, goneAnswers, etag, lastModifiedAt } = visit
  return [
    `  visited       ${isNeverVisited(visit) ? 'never' : `${momentOf(visit.visitedAt)}, ${visits === 0 ? 'in vain' : times(visits)}`}`,
    `  changed       ${times(changes)}`,
    `  due           ${visit.isInALine ? 'it is in a line, under way or in quarantine' : momentOf(visit.dueAt)}`,
    ...(failures > 0 ? [`  failed        the last ${counted(failures, 'time')}`] : []),
    ...(lacksCallback(visit) ? ['  callback      the spider had no such method when the page was due'] : []),
    ...(goneAnswers > 0 ? [`  gone          by its last ${counted(goneAnswers, 'answer')}`] : []),
    ...(etag === undefined ? [] : [`  ETag          ${etag}`]),
    ...(lastModifiedAt === undefined ? [] : [`  Last-Modified ${momentOf(lastModifiedAt)}`]),
  ]
}

/** What came of the visits: how often the page had changed, unless it failed or is gone. */
function inShort(visit: Visit, { callback, errback }: Request): string {
  const { visits, changes, failures, goneAnswers } = visit
  if (lacksCallback(visit)) return `waits for its callback, ${callback ?? errback}`
  if (failures > 0) return `failed ${times(failures)}`
  return goneAnswers > 0 ? `gone ${times(goneAnswers)}` : `changed ${changes} of ${visits}`
}

/** As “time” and “3 times”. */
function counted(count: number, noun: string): string {
  return count === 1 ? noun : `${grouped(count)} ${noun}s`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${grouped(count)} times`
}

function momentOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function expressionIn(match: string): string | undefined {
  return /^\/(.+)\/$/s.exec(match)?.[1]
}

/** Who types a path between slashes may have meant a text. */
function matchShown(match: string | undefined): string {
  const expression = match === undefined ? undefined : expressionIn(match)
  return expression === undefined ? '' : ` that match ${expression} as a regular expression`
}

function matcherOf(match: string | undefined): (url: string) => boolean {
  if (match === undefined) return () => true
  // A variable of a shell that is not set would otherwise mean all pages.
  if (match === '')
    throw new UsageError(
      'WL_USAGE',
      '--match is empty; expected a part of the URLs, or /a regular expression/',
    )
  const expression = expressionIn(match)
  if (expression === undefined) return (url) => url.includes(match)
  try {
    const pattern = new RegExp(expression)
    return (url) => pattern.test(url)
  } catch (error) {
    throw new UsageError('WL_USAGE', `--match ${match}: ${(error as Error).message}`)
  }
}

/** What looks like a regular expression was perhaps meant as one. */
function noMatch(match: string): string {
  const hint = /^\/.+\/$/s.test(match) ? '' : '; for a regular expression write it as /…/'
  return `no page that waits for its hour has a URL that matches --match ${match}${hint}`
}

function spanOf(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([mhdw])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * UNITS[unit]!
  throw new UsageError(
    'WL_USAGE',
    `--older is ${JSON.stringify(text)}; expected a time span such as 90m, 12h, 7d or 2w`,
  )
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return LIST_MAX
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError('WL_USAGE', `--limit is ${JSON.stringify(text)}; expected a number of pages from 1 on`)
}

function* partsOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += PAGES_PER_STEP) yield all.slice(from, from + PAGES_PER_STEP)
}

function print({ json }: OutsideFlags, counted: object, text: string): void {
  console.log(json ? JSON.stringify(counted) : text)
}
