import type { JsonValue } from '@webloom/core'
import type { RegexOptions, Selector, XPathOptions } from './selector.ts'

/** What a query found, in document order: an array of `Selector`, with their methods on top. */
export class SelectorList<Got = string> extends Array<Selector<Got>> {
  // What `map` returns need not be selectors, so derived arrays are plain ones; `filter` and `slice` stay lists.
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  /** All that `query` finds below each of these, in one list. */
  css(query: string): SelectorList {
    return listOf(this.flatMap((selector) => selector.css(query)))
  }

  /** All that an XPath expression gives at each of these, in one list; see `Selector.xpath`. */
  xpath(query: string, options?: XPathOptions): SelectorList {
    return listOf(this.flatMap((selector) => selector.xpath(query, options)))
  }

  /** All that a JMESPath query finds in each of these, in one list; see `Selector.jmespath`. */
  jmespath<Found = JsonValue>(query: string): SelectorList<Found> {
    return listOf(this.flatMap((selector) => selector.jmespath<Found>(query)))
  }

  /** The first result as a string: markup of an element, text, or an attribute's value. Null when there is none. */
  get(): Got | null
  /** The first result, or `fallback` when there is none. */
  get<Fallback>(fallback: Fallback): Got | Fallback
  get(fallback: unknown = null): unknown {
    return this.length > 0 ? this[0]!.get() : fallback
  }

  /** Every result as a string. */
  getall(): Got[] {
    return this.map((selector) => selector.get())
  }

  /** What the pattern finds in each of these, in one list; see `Selector.re`. */
  re(pattern: string | RegExp, options?: RegexOptions): string[] {
    return this.flatMap((selector) => selector.re(pattern, options))
  }

  /** The first thing the pattern finds in any of these. */
  reFirst(pattern: string | RegExp): string | null
  reFirst(pattern: string | RegExp, fallback: string, options?: RegexOptions): string
  reFirst(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null
  reFirst(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null {
    for (const selector of this) {
      const found = selector.re(pattern, options)[0]
      if (found !== undefined) return found
    }
    return fallback ?? null
  }

  /** `reFirst` under parsel's name. */
  re_first(pattern: string | RegExp): string | null
  re_first(pattern: string | RegExp, fallback: string, options?: RegexOptions): string
  re_first(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null {
    return this.reFirst(pattern, fallback, options)
  }

  /** The attributes of the first element; empty when there is none. */
  get attrib(): Record<string, string | undefined> {
    return this[0]?.attrib ?? {}
  }

  /** Takes all of these out of the document. */
  drop(): void {
    for (const selector of this) selector.drop()
  }

  override filter<S extends Selector<Got>>(
    keep: (selector: Selector<Got>, index: number, list: Selector<Got>[]) => selector is S,
  ): S[]
  override filter(
    keep: (selector: Selector<Got>, index: number, list: Selector<Got>[]) => unknown,
  ): SelectorList<Got>
  override filter(
    keep: (selector: Selector<Got>, index: number, list: Selector<Got>[]) => unknown,
  ): SelectorList<Got> {
    return listOf(super.filter(keep))
  }

  override slice(start?: number, end?: number): SelectorList<Got> {
    return listOf(super.slice(start, end))
  }
}

/** `new SelectorList(...selectors)` would overflow the stack at some 100 000 results. */
function listOf<Got>(selectors: Iterable<Selector<Got>>): SelectorList<Got> {
  const list = new SelectorList<Got>()
  for (const selector of selectors) list.push(selector)
  return list
}
