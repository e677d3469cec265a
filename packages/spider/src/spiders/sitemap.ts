import { attributeValue, localName, readXml, type XmlToken } from './xml-reader.ts'

/** One entry of a sitemap: its elements by name, without prefix. */
export interface SitemapEntry {
  /** The address. */
  readonly loc: string
  /** When the page was changed, in W3C's date format. */
  readonly lastmod?: string
  /** How often the page changes, as the site has it: `daily`. */
  readonly changefreq?: string
  /** How important the page is to the site, as a text from `0.0` to `1.0`. */
  readonly priority?: string
  /** The same page in other languages (`<xhtml:link href>`). */
  readonly alternate?: readonly string[]
  readonly [name: string]: string | readonly string[] | undefined
}

/** A sitemap, or an index of sitemaps. */
export interface Sitemap {
  /** The name of the outermost element: `urlset`, `sitemapindex`, or another one when it is not a sitemap. */
  readonly type: string | undefined
  /** The entries in order. They are read while they are iterated, once. */
  readonly entries: Iterable<SitemapEntry>
}

/**
 * Reads a sitemap without a tree, as tolerant as Scrapy: an entry without its end tag ends where the next one begins, an
 * entry that is cut off is returned as far as it goes, and an entry without `loc` is left out.
 */
export function readSitemap(xml: string): Sitemap {
  const tokens = readXml(xml)
  // A for…of would close the tokens when it ends.
  for (let next = tokens.next(); !next.done; next = tokens.next()) {
    const { value } = next
    if (value.kind === 'start') return { type: localName(value.name), entries: entriesOf(tokens, value.name) }
  }
  return { type: undefined, entries: [] }
}

function* entriesOf(tokens: Iterable<XmlToken>, root: string): Generator<SitemapEntry> {
  const reader = new EntryReader()
  for (const token of tokens) {
    if (token.kind === 'end' && token.name === root) break
    const entry = reader.read(token)
    if (entry) yield entry
  }
  const last = reader.end()
  if (last) yield last
}

/** Makes entries of tokens. */
class EntryReader {
  /** The open entry, and its own name: `url` or `sitemap`. */
  #entry: Map<string, string> | undefined
  #entryName = ''
  #alternate: string[] = []
  /** The open element within the entry. */
  #field: string | undefined
  #text = ''
  /** How many elements are open within that one. Only text before the first of them counts. */
  #depth = 0
  #isTextOver = false

  /** Returns the entry that ends with this token. */
  read(token: XmlToken): SitemapEntry | undefined {
    if (token.kind === 'start') return this.#start(token)
    if (token.kind === 'end') return this.#close(localName(token.name))
    if (this.#field !== undefined && !this.#isTextOver) this.#text += token.text
    return undefined
  }

  /** Returns the open entry, as far as it goes. */
  end(): SitemapEntry | undefined {
    this.#endField()
    const entry = this.#entry
    this.#entry = undefined
    if (!entry?.has('loc')) return undefined
    const fields = Object.fromEntries(entry) as { loc: string }
    return this.#alternate.length > 0 ? { ...fields, alternate: this.#alternate } : fields
  }

  #start({ name, attributes, selfClosing }: XmlToken & { kind: 'start' }): SitemapEntry | undefined {
    const local = localName(name)
    if (local === 'url' || local === 'sitemap') {
      const unclosed = this.end()
      if (!selfClosing) this.#begin(local)
      return unclosed
    }
    if (!this.#entry) return undefined
    if (this.#field !== undefined) {
      this.#isTextOver = true
      if (!selfClosing) this.#depth++
    } else if (local === 'link') this.#takeAlternate(attributeValue(attributes, 'href'))
    else {
      this.#field = local
      if (selfClosing) this.#endField()
    }
    return undefined
  }

  #begin(name: string): void {
    this.#entry = new Map()
    this.#entryName = name
    this.#alternate = []
  }

  #takeAlternate(href: string | undefined): void {
    if (href) this.#alternate.push(href)
  }

  #close(name: string): SitemapEntry | undefined {
    if (name === this.#entryName) return this.end()
    if (this.#depth > 0) this.#depth--
    else if (name === this.#field) this.#endField()
    return undefined
  }

  #endField(): void {
    if (this.#field !== undefined) this.#entry?.set(this.#field, this.#text.trim())
    this.#field = undefined
    this.#text = ''
    this.#depth = 0
    this.#isTextOver = false
  }
}
