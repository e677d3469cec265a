/** The site of a world: the test kit's web, of which some pages show other links at each fetch. */

import type { ServerResponse } from 'node:http'
import { type FakeWeb, randomStream, startFakeWeb } from '@webloom/testkit'
import type { WorldPlan } from './world-plan.ts'

/** Links beside those that a page always has. */
const PASSING_LINKS = 5

export interface Site extends AsyncDisposable {
  readonly web: FakeWeb
  /** Every link that the page has shown so far. */
  linksOf(url: string): readonly string[]
}

/**
 * Every page is also linked by one that never changes. So a page must be fetched whatever the changing ones have shown:
 * whoever has met it last links to it again.
 */
export async function startSite({ web: options, changing }: WorldPlan): Promise<Site> {
  const web = await startFakeWeb(options)
  const passed = new Map<string, Set<string>>()
  const linksOf = (url: string) => [...(web.page(url)?.links ?? []), ...(passed.get(url) ?? [])]
  const site = { web, linksOf, [Symbol.asyncDispose]: () => web.close() }
  if (changing === 0) return site
  const random = randomStream(options.seed ?? 1, 4242)
  const all = [...web.reachable()]
  for (const url of all.filter(() => random() < changing)) {
    const { host, html, latencyMs } = web.page(url)!
    const { pathname, search } = new URL(url)
    let fetches = 0
    web.route(host, pathname + search, (_request, response) => {
      const passing = passingLinks(all, url, ++fetches)
      passed.set(url, new Set([...(passed.get(url) ?? []), ...passing]))
      const anchors = passing.map((to) => `<a href="${to}">passing</a>`).join('\n')
      setTimeout(() => send(response, html.replace('</body>', `${anchors}</body>`)), latencyMs)
    })
  }
  return site
}

function passingLinks(all: readonly string[], url: string, fetch: number): string[] {
  const start = all.indexOf(url) * 31 + fetch * 17
  return Array.from({ length: PASSING_LINKS }, (_, n) => all[(start + n * 13) % all.length]!)
}

function send(response: ServerResponse, html: string): void {
  if (response.destroyed) return
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
  response.end(html)
}
