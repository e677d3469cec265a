/** The site of a world: the test kit's web, of which some pages show other links at each fetch. */

import type { ServerResponse } from 'node:http'
import { type FakeWeb, randomStream, startFakeWeb } from '@webloom/testkit'
import type { WorldPlan } from './world-plan.ts'

/** Links beside those that a page always has. */
const PASSING_LINKS = 5

export interface Site extends AsyncDisposable {
  readonly web: FakeWeb
  /** What visitors crawl. */
  readonly visited: FakeWeb | undefined
  /** Every link that the page has shown so far. */
  linksOf(url: string): readonly string[]
}

/**
 * Of the pages that change, some show passing links and nothing else: should all of them be lost, nothing of the page is
 * asked about a second time. Whatever these show, every page can be reached by links that stay, so it must be fetched.
 */
export async function startSite({ web: options, changing, visitedPages }: WorldPlan): Promise<Site> {
  const web = await startFakeWeb(options)
  const visited =
    visitedPages > 0 ? await startFakeWeb({ ...options, hosts: 1, pagesPerHost: visitedPages }) : undefined
  const passed = new Map<string, Set<string>>()
  const linksOf = (url: string) => [...(web.page(url)?.links ?? []), ...(passed.get(url) ?? [])]
  const close = async () => void (await Promise.all([web.close(), visited?.close()]))
  const site = { web, visited, linksOf, [Symbol.asyncDispose]: close }
  if (changing === 0) return site
  const random = randomStream(options.seed ?? 1, 4242)
  const all = [...web.reachable()]
  const changed = all.filter(() => random() < changing)
  const bare = bareOf(web, changed)
  for (const url of changed) {
    const { host, html, latencyMs } = web.page(url)!
    const base = bare.has(url) ? '<html><body></body></html>' : html
    const { pathname, search } = new URL(url)
    let fetches = 0
    web.route(host, pathname + search, (_request, response) => {
      const passing = passingLinks(all, url, ++fetches)
      passed.set(url, new Set([...(passed.get(url) ?? []), ...passing]))
      const anchors = passing.map((to) => `<a href="${to}">passing</a>`).join('\n')
      setTimeout(() => send(response, base.replace('</body>', `${anchors}</body>`)), latencyMs)
    })
  }
  return site
}

/** Pages that need not have links of their own: all others can be reached without. */
function bareOf(web: FakeWeb, changed: readonly string[]): Set<string> {
  const bare = new Set<string>()
  const count = reachedFrom(web, bare).size
  for (const url of changed.filter((_, n) => n % 2 === 0)) {
    bare.add(url)
    if (reachedFrom(web, bare).size < count) bare.delete(url)
  }
  return bare
}

function reachedFrom(web: FakeWeb, bare: ReadonlySet<string>): Set<string> {
  const reached = new Set(web.seeds)
  for (const url of reached) {
    if (bare.has(url)) continue
    for (const link of web.page(url)?.links ?? []) reached.add(link)
  }
  return reached
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
