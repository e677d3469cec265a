/** What `follow` and `followAll` are given, and where it leads. */

import {
  InvalidUrl,
  type RequestInit,
  type RequestParts,
  requestInit,
  undefinedParts,
  valueShown,
  WebloomError,
} from '@webloom/core'
import { Selector, SelectorList } from '@webloom/selectors'
import { stripHtmlSpace } from '@webloom/url'

/** A link as link extractors give it. */
export interface LinkLike {
  /** An absolute URL, or one relative to the page. */
  readonly url: string
}

/** A target of `follow`: a URL (also a relative one), an `<a>`, `<area>` or `<link>`, a found attribute or text, a link. */
export type FollowTarget = string | URL | Selector | LinkLike

const NO_PARTS: RequestInit = Object.freeze({})

/** Returns what an author wrote after the link or links. Undefined there means a misspelt method. */
export function followInit(written: readonly [parts?: RequestParts], of: string): RequestInit {
  if (written.length === 0) return NO_PARTS
  const [parts] = written
  if (parts === undefined) throw undefinedParts(of)
  return requestInit(parts, of)
}

export function checkedTargets(targets: Iterable<FollowTarget>): Iterable<FollowTarget> {
  if (typeof targets === 'object' && targets !== null && Symbol.iterator in targets) return targets
  throw new WebloomError(
    'WL_SELECTOR_INVALID',
    `followAll() was given ${valueShown(targets)}; expected a CSS query or a list of links, as followAll('.next a', this.parse), or follow() for one link`,
  )
}

export function* hrefsOfTargets(targets: Iterable<FollowTarget>): Generator<string> {
  for (const target of targets) {
    const href = hrefOf(target)
    if (href !== undefined) yield typeof target === 'string' ? href : stripHtmlSpace(href)
  }
}

export function urlOf(target: FollowTarget): string {
  const href = hrefOf(target)
  if (href !== undefined) return href
  if (target instanceof Selector) {
    throw new WebloomError(
      'WL_SELECTOR_INVALID',
      `${target} cannot be followed: expected <a>, <area> or <link> with a href, or ::attr(…) of an element`,
    )
  }
  if (target instanceof SelectorList) {
    throw new WebloomError(
      'WL_SELECTOR_INVALID',
      'follow() takes one link; use followAll() for a list, or list[0]',
    )
  }
  throw new InvalidUrl(String(target), 'expected a URL, a Selector or a link; was nothing found on the page?')
}

function hrefOf(target: FollowTarget): string | undefined {
  if (typeof target === 'string') return target
  if (target instanceof Selector) return hrefOfSelector(target)
  if (target instanceof URL) return target.href
  return (target as Partial<LinkLike> | null)?.url
}

function hrefOfSelector(selector: Selector): string | undefined {
  if (selector.tag === undefined) return selector.get()
  return /^(?:a|area|link)$/i.test(selector.tag) ? selector.attrib.href : undefined
}
