/**
 * Chains of pages that lead nowhere: a calendar links to the next month for ever.
 *
 * A step of such a chain is a page that was reached from a page of its own path by another query, and that brings nothing
 * which the page before did not bring as well. A page brings something new when
 *
 *     a link leads to another path, and that path was not linked before
 *     two links lead to one other path by queries that were not linked before: a list (one link does not count, as
 *                `/login?next=<this page>` stands on every page)
 *     four links lead to its own path by new queries: a site whose pages differ by their query, and no chain
 *     its items are others; when it has a single one, its digits and the page's URL do not count
 *
 * So a list of a thousand pages with items, or with links to what it lists, is not a chain, however long.
 *
 * The evidence travels with the request that leads to the next page of its path: how many steps there were in a row, and a
 * sketch of the page's links and items. So workers share nothing and still count exactly, however many there are. Not
 * chosen: a budget for URLs of one form. Workers would have to share it, and good sites have a million `/topic?id=` as
 * well.
 */

import type { JsonObject, JsonValue, Request } from '@webloom/core'
import { hash32, LinkSketch } from './link-sketch.ts'

/** What a page brought. The request to the next page of its path carries it in `meta.trap_chain`. */
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

/** A page's place in a chain. Undefined when the page has no link to another query of its own path, and so is in no chain. */
export interface ChainLink {
  /** How many steps in a row there were up to this page, including it. */
  readonly steps: number
  /** The page's requests to other queries of its path. */
  readonly onward: readonly Request[]
  /** The value of `meta.trap_chain` for each of these. */
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

/** Returns whether the value of `meta.trap_chain` tells of pages in a row that brought nothing new. */
export function hasSteps(carried: JsonValue | undefined): boolean {
  return (pageBefore(carried)?.steps ?? 0) > 0
}

function isOnward({ url, method }: Request, from: string, path: string): boolean {
  // The character after the path decides most cases without a look at the rest.
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

// A calendar links to the next month, and to this month of the next year and of the last.
const OWN_FRESH_MAX = 3
const OTHER_FRESH_MAX = 1
const NO_ITEMS = 0

/** Returns a number for the contents of a page's items. */
function itemsMark({ items, url }: PageYield): number {
  if (items.length === 0) return NO_ITEMS
  try {
    const text = JSON.stringify(items).replaceAll(JSON.stringify(url).slice(1, -1), '')
    return hash32(items.length === 1 ? text.replace(/\d+/g, '') : text)
  } catch {
    // The items have no JSON form, so they count as different on each page.
    return hash32(url)
  }
}

function pageBefore(carried: JsonValue | undefined): PageBefore | undefined {
  const { steps, links, items } = (carried ?? {}) as Partial<JsonObject>
  const sketch = LinkSketch.parse(links)
  if (!sketch || typeof steps !== 'number' || typeof items !== 'number') return undefined
  return { steps, links: sketch, items }
}

/** Returns scheme, host and path, without parameters (`;jsessionid=…`): the URL up to the first of `;?#`. */
function pathOf(url: string): string {
  const end = url.search(/[;?#]/)
  return end < 0 ? url : url.slice(0, end)
}
