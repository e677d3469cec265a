import type { UrlRules } from '@webloom/url'
import type { Selector } from '../selector.ts'

/** A page as link extractors read it: its URL and its markup are enough. The `Response` of a crawl is one. */
export interface LinkPage {
  /** Of the page, absolute. */
  readonly url: string
  /** The page's markup. */
  readonly text: string
  /** What relative links are relative to. Default: what `<base href>` says, else `url`. */
  readonly baseUrl?: string
  /** Of the page; the query of a link is sent in it, too. Default UTF-8. */
  readonly encoding?: string
  /** By whose rules its links are made safe. Default: the newest of w3lib. */
  readonly urlRules?: UrlRules
  /** The page as a tree. Default: one that is made of `text` where a tree is needed. */
  readonly selector?: Selector
  /** True where the tree says which links there are, because it has been changed or is not HTML. Default: `text` says it. */
  readonly linksInTree?: boolean
  /** What `read` finds in the markup, when a page may have so many links and no more. Default: all of them. */
  firstLinks?<Found>(read: (markup: string, max: number) => Found[]): Found[]
}
