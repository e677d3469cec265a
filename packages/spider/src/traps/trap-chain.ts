/**
 * Chains of pages that lead nowhere: a calendar links to the next month for ever.
 *
 * A step of such a chain is a page that was reached from a page of its own path by another query, and brings nothing that
 * the page before did not bring as well. What it brings counts as new when
 *
 *     a link leads to another path, and that path was not linked before
 *     two links lead to one other path by queries that were not linked before: a list (one does not count, as
 *                `/login?next=<this page>` stands on every page)
 *     four links lead to its own path by new queries: a site whose pages differ by their query, and no chain
 *     its items are others; of a single one, its digits and the page's URL do not count
 *
 * So a list of a thousand pages with items, or with links to what it lists, is no chain, however long.
 *
 * The evidence travels with the request that leads to the next page of its path: how many steps there were in a row, and a
 * sketch of the page's links and items. It needs nothing that workers would have to share, and counts exactly, however many
 * there are. Not chosen: a budget for URLs of one shape. It would have to be shared, and good sites have a million
 * `/topic?id=` as well.
 */

import type { JsonObject, JsonValue, Request } from '@webloom/core'
import { hash32, LinkSketch } from './link-sketch.ts'

/** What a page brought, as the request to the next page of its path carries it in `meta.trap_chain`. */
interface PageBefore {
  readonly steps: number
  readonly links: LinkSketch
  readonly items: number
}

export interface PageYield {
  readonly url: string
  readonly meta: JsonObject
  readonly requests: readonly Request[]
  readonly items: readonly unknown[]
}

/** The page's place in a chain; undefined when it links to no other query of its own path, and so can be in none. */
export interface ChainLink {
  /** Steps in a row up to this page and with it. */
  readonly steps: number
  /** Its requests to other queries of its path. */
  readonly onward: readonly Request[]
  /** For `meta.trap_chain` of each of these. */
  readonly carried: JsonObject
}

export function chainLinkOf(page: PageYield): ChainLink | undefined {
  const path = pathOf(page.url)
  const onward = page.requests.filter((request) => isOnward(request, page.url, path))
  if (onward.length === 0) return undefined
  const items = itemsMark(page)
  const before = pageBefore(page.meta.trap_chain)
  const steps = before && !bringsNew(page, path, items, before) ? before.steps + 1 : 0
  const links = new LinkSketch()
  links.add(page.url)
  for (const { url } of page.requests) {
    links.add(url)
    links.add(pathOf(url))
  }
  return { steps, onward, carried: { steps, links: String(links), items } }
}

function isOnward({ url, method }: Request, from: string, path: string): boolean {
  // Its character behind the path tells most others apart, without a look at the rest.
  return isQueryMark(url.charCodeAt(path.length)) && method === 'GET' && url.startsWith(path) && url !== from
}

function isQueryMark(code: number): boolean {
  return code === QUESTION_MARK || code === SEMICOLON
}

const QUESTION_MARK = 0x3f
const SEMICOLON = 0x3b

function bringsNew({ requests }: PageYield, path: string, items: number, before: PageBefore): boolean {
  if (items !== NO_ITEMS && items !== before.items) return true
  const fresh = new Map<string, number>()
  for (const { url } of requests) {
    const linked = pathOf(url)
    if (linked !== path && !before.links.has(linked)) return true
    if (before.links.has(url)) continue
    const count = (fresh.get(linked) ?? 0) + 1
    if (count > (linked === path ? OWN_FRESH_MAX : OTHER_FRESH_MAX)) return true
    fresh.set(linked, count)
  }
  return false
}

// To the next month, to this month of the next year, and of the last one.
const OWN_FRESH_MAX = 3
const OTHER_FRESH_MAX = 1
const NO_ITEMS = 0

/** A number for what a page's items say. */
function itemsMark({ items, url }: PageYield): number {
  if (items.length === 0) return NO_ITEMS
  try {
    const text = JSON.stringify(items).replaceAll(JSON.stringify(url).slice(1, -1), '')
    return hash32(items.length === 1 ? text.replace(/\d+/g, '') : text)
  } catch {
    // JSON has no form for them: taken for others on each page.
    return hash32(url)
  }
}

function pageBefore(carried: JsonValue | undefined): PageBefore | undefined {
  const { steps, links, items } = (carried ?? {}) as Partial<JsonObject>
  const sketch = LinkSketch.parse(links)
  if (!sketch || typeof steps !== 'number' || typeof items !== 'number') return undefined
  return { steps, links: sketch, items }
}

/** Scheme, host and path, without parameters (`;jsessionid=…`): what stands before the first of `;?#`. */
function pathOf(url: string): string {
  const end = url.search(/[;?#]/)
  return end < 0 ? url : url.slice(0, end)
}
