import { ELEMENT_DEPTH_MAX } from '../tree/parse-document.ts'

/** Which attributes of which elements hold links. */
export interface LinkPlaces {
  readonly isTag: (name: string) => boolean
  readonly isAttribute: (name: string) => boolean
}

/** An attribute that holds a link, as it stands on the page. */
export interface FoundLink {
  readonly value: string
  /** All text within its element. */
  text: string
  /** The element's `rel`. */
  readonly rel: string | undefined
}

/** An element that holds links and has not ended. */
interface OpenLink {
  /** How many elements were open around it. */
  readonly depth: number
  readonly links: readonly FoundLink[]
  /** Where its text begins in what has been kept of the page's. */
  readonly textStart: number
}

/**
 * Told of the tags and texts of a page in their order, it collects the links with their texts. Of the elements that are
 * open it keeps only the names, so that it knows whose text a text is.
 *
 * An element ends with its end tag, with that of an element around it, or where HTML implies its end; an `<a>` also
 * where the next one begins. That is what a browser makes of nearly every page. Where it would move elements about
 * (links in tables outside of cells) they stay where they stand.
 */
export class LinkCollector {
  readonly #isAttribute: LinkPlaces['isAttribute']
  readonly #found: FoundLink[] = []
  readonly #openNames: string[] = []
  readonly #openLinks: OpenLink[] = []
  /** The text since the outermost open link began, piece by piece. */
  readonly #text: string[] = []

  constructor({ isAttribute }: LinkPlaces) {
    this.#isAttribute = isAttribute
  }

  get count(): number {
    return this.#found.length
  }

  /** True where text belongs to a link. */
  get wantsText(): boolean {
    return this.#openLinks.length > 0
  }

  /** An element begins; without attributes it is none that may hold links. */
  start(name: string, attributes: ReadonlyMap<string, string> | undefined, isEmpty: boolean): void {
    this.#endImplied(name)
    const links = attributes ? this.#linksIn(attributes) : NO_LINKS
    if (!isEmpty) this.#open(name, links)
  }

  end(name: string): void {
    const depth = this.#openNames.lastIndexOf(name)
    if (depth >= 0) this.#endFrom(depth)
  }

  text(text: string): void {
    if (this.wantsText) this.#text.push(text)
  }

  /** All that was found, once there is no more to tell. */
  links(): FoundLink[] {
    this.#endFrom(0)
    return this.#found
  }

  #linksIn(attributes: ReadonlyMap<string, string>): FoundLink[] {
    const rel = attributes.get('rel')
    const links = [...attributes]
      .filter(([name]) => this.#isAttribute(name))
      .map(([, value]) => ({ value, text: '', rel }))
    this.#found.push(...links)
    return links
  }

  #open(name: string, links: readonly FoundLink[]): void {
    // As in the trees: what is nested deeper becomes a sibling.
    if (this.#openNames.length >= ELEMENT_DEPTH_MAX) this.#endFrom(ELEMENT_DEPTH_MAX - 1)
    const depth = this.#openNames.push(name) - 1
    if (links.length > 0) this.#openLinks.push({ depth, links, textStart: this.#text.length })
  }

  #endImplied(name: string): void {
    if (name === 'a') this.end('a')
    const implied = IMPLIED_ENDS.get(name)
    while (implied?.has(this.#openNames.at(-1) ?? '')) this.#endFrom(this.#openNames.length - 1)
  }

  /** Ends all elements from this depth on. */
  #endFrom(depth: number): void {
    this.#openNames.length = depth
    while ((this.#openLinks.at(-1)?.depth ?? -1) >= depth) {
      const { links, textStart } = this.#openLinks.pop()!
      const text = this.#text.slice(textStart).join('')
      for (const link of links) link.text = text
    }
    if (this.#openLinks.length === 0) this.#text.length = 0
  }
}

const NO_LINKS: readonly FoundLink[] = []

/** Which elements a start tag ends, if they are the innermost. */
const IMPLIED_ENDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    p: 'p',
    li: 'li p',
    dt: 'dt dd p',
    dd: 'dt dd p',
    td: 'td th p',
    th: 'td th p',
    tr: 'tr td th p',
    tbody: 'tbody thead tr td th p',
    option: 'option',
    optgroup: 'option optgroup',
  }).map(([name, ends]) => [name, new Set(ends.split(' '))]),
)
