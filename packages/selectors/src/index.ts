// A page, and what queries find in it

export { type SelectedPart, Selector, SelectorList } from './selector.ts'
export type { RegexOptions, SelectorOptions, SelectorType, XPathOptions } from './selector-options.ts'
export type { Attribute } from './tree/attribute.ts'
export {
  type HtmlParser,
  type MarkupType,
  parseDocument,
  type TreeBound,
} from './tree/parse-document.ts'
export type { XPathVariable } from './xpath/xpath-query.ts'

// Links of a page, and which of them are wanted

export { IGNORED_EXTENSIONS } from './links/ignored-extensions.ts'
export { type Link, LinkExtractor, type LinkExtractorOptions } from './links/link-extractor.ts'
export type { LinkFilterOptions, OneOrMore } from './links/link-filter.ts'
export type { LinkPage } from './links/link-page.ts'
export { anyOf, type PatternTest, type UrlPattern } from './links/url-pattern.ts'

// What can be told of a page without its tree

export { isSimpleQuery, simpleAnswer } from './css/simple-query.ts'
export { type LinkElements, streamHrefs } from './markup/link-stream.ts'
export { MarkupReader } from './markup/markup-reader.ts'

// Queries on texts and values

export { extractRegex } from './extract-regex.ts'
export { jmespathSearch } from './jmespath/json-query.ts'

// What it shares with the package of URLs

export { type JsonValue, WebloomError } from '@webloom/url'
