/** `webloom dupefilter`: looks into a spider's filter from outside, and changes what is in it. */

import { type DupeFilterDescription, UsageError } from '@webloom/core'
import { forgettingFilters } from '@webloom/dupefilter'
import { crawlBaseOf } from '../assembly/crawl-base.ts'
import { type InspectedFilter, openDupefilter } from '../assembly/open-dupefilter.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { requestsOfUrls } from '../seeds/requests-of-urls.ts'
import { byteSize, grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface DupeFilterFlags {
  readonly set?: readonly string[]
  readonly argument?: readonly string[]
  readonly json?: boolean
}

/** Prints `seen` or `new` for each URL, and records nothing. */
export async function dupefilterHas(
  spider: NamedSpider,
  urls: readonly string[],
  flags: DupeFilterFlags,
): Promise<void> {
  const requests = await requestsOfUrls(urls)
  await withFilter(spider, flags, { makes: false }, async ({ filter, exists }) => {
    if (!filter.has) throw cannot(await filter.describe(), 'tell what was seen without recording it')
    const rows: { url: string; seen: boolean }[] = []
    for (const request of requests)
      rows.push({ url: request.url, seen: exists && (await filter.has(request)) })
    print(rows, flags, ({ url, seen }) => `${seen ? 'seen' : 'new '}  ${url}`)
  })
}

/** Records each URL as seen, so that the crawl does not fetch it. */
export async function dupefilterAdd(
  spider: NamedSpider,
  urls: readonly string[],
  flags: DupeFilterFlags,
): Promise<void> {
  const requests = await requestsOfUrls(urls)
  await withFilter(spider, flags, { makes: true }, async ({ filter }) => {
    const rows: { url: string; added: boolean }[] = []
    for (const request of requests)
      rows.push({ url: request.url, added: !(await filter.requestSeen(request)) })
    print(rows, flags, ({ url, added }) => `${added ? 'added        ' : 'was there    '}  ${url}`)
  })
}

/** Makes each URL new again, so that the crawl fetches it when it meets it next. */
export async function dupefilterRemove(
  spider: NamedSpider,
  urls: readonly string[],
  flags: DupeFilterFlags,
): Promise<void> {
  const requests = await requestsOfUrls(urls)
  await withFilter(spider, flags, { makes: false }, async ({ filter, exists }) => {
    if (!filter.forget) throw cannot(await filter.describe(), 'forget a single request')
    const rows: { url: string; removed: boolean }[] = []
    for (const request of requests) {
      const removed = exists && ((await filter.has?.(request)) ?? true)
      if (exists) await filter.forget(request)
      rows.push({ url: request.url, removed })
    }
    print(rows, flags, ({ url, removed }) => `${removed ? 'removed      ' : 'was not there'}  ${url}`)
  })
}

/** Prints what the filter says of itself. */
export async function dupefilterStats(spider: NamedSpider, flags: DupeFilterFlags): Promise<void> {
  await withFilter(spider, flags, { makes: false }, async ({ filter, exists }) => {
    const description = await filter.describe()
    const memoryBytes = await filter.memoryBytes?.()
    if (flags.json) {
      console.log(visibleJson(JSON.stringify({ ...description, exists, memoryBytes })))
      return
    }
    console.log(visible(`${description.name}   fingerprints by ${description.fingerprinter}`))
    if (!exists) console.log('  nothing has been recorded yet')
    else
      for (const [name, text] of figures(description, memoryBytes)) console.log(`  ${name.padEnd(12)}${text}`)
  })
}

/** Bloom filters, and one whose requests have a lifetime, say more than others. */
type Described = DupeFilterDescription & {
  readonly ttlMs?: number
  readonly hosts?: number
  readonly fullHosts?: number
  readonly capacityPerHost?: number
  readonly fullest?: { readonly host: string; readonly count: number; readonly errorNow: number }
  readonly capacity?: number
  readonly fillRatio?: number
  readonly errorNow?: number
  readonly pagesLost?: number
  readonly layers?: number
  readonly leaves?: number
  readonly depth?: number
  readonly splitting?: number
  readonly capacityPerLeaf?: number
  readonly shards?: readonly { readonly server: string; readonly count: number }[]
  readonly warnings?: readonly string[]
}

function figures(description: Described, memoryBytes: number | undefined): [name: string, text: string][] {
  const { count, capacity, fillRatio, errorNow, pagesLost, layers = 1, warnings = [] } = description
  const shown: [string, string | undefined][] = [
    [
      'recorded',
      description.ttlMs === undefined ? grouped(count) : `${grouped(count)}, with those that have expired`,
    ],
    ['lifetime', description.ttlMs === undefined ? undefined : `${grouped(description.ttlMs / 1000)} s`],
    ...shardFigures(description),
    ...hostFigures(description),
    ...leafFigures(description),
    [
      'capacity',
      capacity === undefined
        ? undefined
        : `${grouped(capacity)}, ${grouped(Math.round((1000 * count) / capacity) / 10)} % used`,
    ],
    ['layers', layers > 1 ? grouped(layers) : undefined],
    ['bits set', fillRatio === undefined ? undefined : `${grouped(Math.round(fillRatio * 1e4) / 100)} %`],
    ['error now', errorNow === undefined ? undefined : errorText(errorNow)],
    ['pages lost', pagesLost === undefined ? undefined : lostText(pagesLost)],
    ['memory', memoryBytes === undefined ? undefined : byteSize(memoryBytes)],
    ['URLs by', description.urlRules],
    ...warnings.map((warning): [string, string] => ['warning', warning]),
  ]
  return shown.filter((row): row is [string, string] => row[1] !== undefined)
}

function shardFigures({ shards = [] }: Described): [string, string][] {
  const counts = shards.map(({ count }) => count)
  if (shards[0]?.server.startsWith('#'))
    return [
      [
        'in parts',
        `${grouped(shards.length)}, with ${grouped(Math.min(...counts))} to ${grouped(Math.max(...counts))} of them`,
      ],
    ]
  return shards.map(({ server, count }) => ['of which', `${grouped(count)} on ${server}`])
}

function hostFigures({ hosts, fullHosts, capacityPerHost, fullest }: Described): [string, string][] {
  if (hosts === undefined || capacityPerHost === undefined) return []
  const most = fullest && `${fullest.host}: ${grouped(fullest.count)}, error ${errorText(fullest.errorNow)}`
  return [
    ['hosts', `${grouped(hosts)}, of which ${grouped(fullHosts ?? 0)} are full`],
    ['each holds', grouped(capacityPerHost)],
    ...(most ? [['fullest', most] as [string, string]] : []),
  ]
}

function leafFigures({ leaves, depth, splitting, capacityPerLeaf }: Described): [string, string][] {
  if (leaves === undefined || capacityPerLeaf === undefined) return []
  const beingSplit = splitting ? `, of which ${grouped(splitting)} are being split` : ''
  return [
    ['leaves', `${grouped(leaves)}${beingSplit}; split ${grouped(depth ?? 0)} times at most`],
    ['each holds', grouped(capacityPerLeaf)],
  ]
}

function errorText(error: number): string {
  return error === 0 ? 'none' : error.toExponential(1)
}

function lostText(pagesLost: number): string {
  if (pagesLost === 0) return 'none'
  return pagesLost < 0.5 ? 'less than one' : `about ${grouped(Math.round(pagesLost))}`
}

async function withFilter(
  { Class, config }: NamedSpider,
  flags: DupeFilterFlags,
  how: { makes: boolean },
  act: (opened: InspectedFilter) => Promise<void>,
): Promise<void> {
  const opened = await openDupefilter(Class, crawlBaseOf(flags, config), how)
  try {
    await act(opened)
  } finally {
    await opened.close()
  }
}

function cannot({ name }: DupeFilterDescription, what: string): UsageError {
  const why = name === 'redis-bloom' ? ': its bits are shared by many requests' : ''
  return new UsageError(
    'WL_USAGE',
    `the dupefilter ${name} cannot ${what}${why}. On Redis these can: ${forgettingFilters({ onRedis: true })}`,
  )
}

function print<Row extends object>(
  rows: readonly Row[],
  { json }: DupeFilterFlags,
  line: (row: Row) => string,
): void {
  if (json) console.log(visibleJson(JSON.stringify(rows)))
  else for (const row of rows) console.log(visible(line(row)))
}
