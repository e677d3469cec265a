/** Sites that are made up as they are asked for, and a crawl that follows all of their links. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { silentLogger } from '@webloom/core'
import { expect } from 'vitest'
import { type CrawlResult, crawl, type Response, type SettingsInput, Spider } from 'webloom'

/** The links of the page at a path with its query; undefined: there is none. */
export type Site = (path: string, query: URLSearchParams) => readonly string[] | undefined

export interface Crawled extends CrawlResult {
  /** Paths with queries in the order in which they were fetched. */
  readonly fetched: readonly string[]
}

export const NAVIGATION = ['/', '/about', '/contact']

/** Follows all links; of each page `itemsOf` tells the items. */
export async function crawled(
  site: Site,
  start: string,
  {
    settings = {},
    itemsOf = (response) => [{ url: response.url }],
  }: { settings?: SettingsInput; itemsOf?: (response: Response) => object[] } = {},
): Promise<Crawled> {
  const fetched: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://site')
    const links = url.pathname === '/robots.txt' ? undefined : site(url.pathname, url.searchParams)
    if (url.pathname !== '/robots.txt') fetched.push(request.url!)
    response.writeHead(links ? 200 : 404, { 'content-type': 'text/html' })
    response.end((links ?? []).map((href) => `<a href="${href.replaceAll('&', '&amp;')}">x</a>`).join('\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  class Everything extends Spider {
    override name = 'everything'
    override startUrls = [`${origin}${start}`]
    override *parse(response: Response): Generator<unknown> {
      yield* itemsOf(response)
      yield* response.followAll()
    }
  }
  try {
    const result = await crawl(Everything, {
      settings: { CLOSESPIDER_PAGECOUNT: 20_000, ...settings },
      logger: silentLogger,
    })
    return { ...result, fetched }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** A tree of so many pages whose paths differ by a number: it is no trap. */
export async function eachIsFetched(pages: number, settings: SettingsInput = {}): Promise<void> {
  const site: Site = (path) => {
    const n = Number(/\d+/.exec(path)?.[0] ?? 0)
    const below = Array.from({ length: 8 }, (_, nth) => 8 * n - 6 + nth)
    return [
      ...NAVIGATION,
      ...below.filter((child) => child > 1 && child <= pages).map((child) => `/p/${child}.html`),
    ]
  }
  const { fetched } = await crawled(site, '/p/1.html', { itemsOf: () => [], settings })
  expect(fetched.filter((path) => path.startsWith('/p/')).length).toBe(pages)
}
