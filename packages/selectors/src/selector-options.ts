import type { HtmlParser, MarkupType } from './tree/parse-document.ts'
import type { XPathVariable } from './xpath/xpath-query.ts'

/** How a text is read. */
export type SelectorType = MarkupType | 'json' | 'text'

/** How a `Selector` reads the text that it is made of. */
export interface SelectorOptions {
  /** How the text is read. Default: a JSON object or list as `json`, what begins with `<?xml` as `xml`, else `html`. */
  type?: SelectorType
  /** Default `htmlparser2`. */
  htmlParser?: HtmlParser
}

/** What `re()` and `reFirst()` do with what they find. */
export interface RegexOptions {
  /** Default true: entities in what was found are decoded, except `&lt;` and `&amp;`. */
  replaceEntities?: boolean
}

/** Values for the `$variables` of an expression, by name; and prefixes for this query alone. */
export interface XPathOptions {
  [variable: string]: XPathVariable | Readonly<Record<string, string>> | undefined
  /** Prefix to namespace, for this query alone. */
  namespaces?: Readonly<Record<string, string>>
}
