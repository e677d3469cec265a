import type { Target, WebGraph } from './graph.ts'
import type { FakeWebPlan } from './options.ts'

/** Host k's own loopback address; an address is the slot by which politeness is measured. Linux answers on all of them. */
export function addressOf(host: number): string {
  const perBlock = 254 // .0 and .255 stay unused, as on a real network
  return `127.0.${Math.floor(host / perBlock)}.${(host % perBlock) + 1}`
}

/**
 * The path (and query) under which a target is served.
 *
 * ```
 * /                          page 0
 * /s3/page-11.html           other pages, in eight sections
 * /list?page=14&section=6    every fifth page, with varied links
 * /s2/caf%C3%A9-10.html      every seventh of the others, with varied links
 * /go/11                     redirects to page 11
 * /img/11.png                an image
 * ```
 */
export function pathOf({ kind, page }: Pick<Target, 'kind' | 'page'>, plan: FakeWebPlan): string {
  if (kind === 'hop') return `/go/${page}`
  if (kind === 'image') return `/img/${page}.png`
  if (page === 0) return '/'
  const section = page % SECTIONS
  if (plan.variedLinks && page % 5 === 4) return `/list?page=${page}&section=${section}`
  if (plan.variedLinks && page % 7 === 3) return `/s${section}/caf%C3%A9-${page}.html`
  return `/s${section}/page-${page}.html`
}

/** The target served under a path; undefined for one that this web does not have. */
export function targetAt(host: number, path: string, plan: FakeWebPlan): Target | undefined {
  if (path === '/') return { kind: 'page', host, page: 0 }
  const kind = path.startsWith('/go/') ? 'hop' : path.startsWith('/img/') ? 'image' : 'page'
  const page = Number(PAGE_NUMBER.exec(path)?.[1] ?? Number.NaN)
  if (!(page < plan.pagesPerHost)) return undefined
  return pathOf({ kind, page }, plan) === path ? { kind, host, page } : undefined
}

const SECTIONS = 8

/** The page's number is the first one after a `/go/`, an `/img/`, a `-` or `page=`. */
const PAGE_NUMBER = /(?:^\/go\/|^\/img\/|-|\bpage=)(\d+)/

/** A graph that has found its addresses: `origins[k]` is where host k answers, such as `http://127.0.0.1:40123`. */
export interface Site {
  readonly graph: WebGraph
  readonly origins: readonly string[]
}

/** The absolute URL of a target. */
export function urlOf(target: Target, { graph, origins }: Site): string {
  return origins[target.host] + pathOf(target, graph.plan)
}
