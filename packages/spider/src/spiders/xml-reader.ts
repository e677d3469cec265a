import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** A tag or a text of an XML document. Names are as written, with their prefix. */
export type XmlToken =
  | {
      readonly kind: 'start'
      readonly name: string
      readonly attributes: readonly XmlAttribute[]
      readonly selfClosing: boolean
      /** Where the tag begins and ends in the document. */
      readonly start: number
      readonly end: number
    }
  | { readonly kind: 'end'; readonly name: string; readonly end: number }
  | { readonly kind: 'text'; readonly text: string }

/** An attribute that has a value in quotes. */
export interface XmlAttribute {
  readonly name: string
  readonly value: string
  /** Name, value and quotes as they stand in the document. */
  readonly markup: string
}

// Tokens of so many characters are kept at once, so that a sitemap of 50 MB never is.
const CHUNK_CHARS = 65_536

/**
 * Reads XML tag by tag, in time linear in its length. It keeps no tree, so elements need not be closed, and the caller
 * decides what they mean. Comments, instructions and declarations are skipped. Only the five entities of XML and numbers
 * are decoded, so that no document can make the reader open another one, or grow. A text may come in pieces.
 */
export function* readXml(xml: string): Generator<XmlToken> {
  const reader = new TokenReader(xml)
  // htmlparser2's Parser searches all open elements for each end tag, and closes elements by itself.
  const tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: true }, reader)
  for (let at = 0; at < xml.length; at += CHUNK_CHARS) {
    tokenizer.write(xml.slice(at, at + CHUNK_CHARS))
    yield* reader.taken()
  }
  tokenizer.end()
  yield* reader.taken()
}

/** Returns the value of an attribute; undefined when the tag has no attribute of that name. */
export function attributeValue(attributes: readonly XmlAttribute[], name: string): string | undefined {
  return attributes.find((attribute) => attribute.name === name)?.value
}

/** Returns a name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Makes tokens of the tokenizer's calls. Its positions are positions in the whole document. */
class TokenReader implements TokenizerCallbacks {
  readonly #xml: string
  #tokens: XmlToken[] = []
  #name = ''
  #start = 0
  #attributes: XmlAttribute[] = []
  #attribute = { name: '', start: 0, value: '' }
  /** Everything before this position is skipped: the declarations within a DOCTYPE. */
  #passedOverTo = 0

  constructor(xml: string) {
    this.#xml = xml
  }

  /** Returns the tokens since the last call. */
  taken(): XmlToken[] {
    const tokens = this.#tokens
    this.#tokens = []
    return tokens
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#xml.slice(start, end)
    this.#start = start - 1
    this.#attributes = []
  }

  onattribname(start: number, end: number): void {
    this.#attribute = { name: this.#xml.slice(start, end), start, value: '' }
  }

  onattribdata(start: number, end: number): void {
    this.#attribute.value += this.#xml.slice(start, end)
  }

  onattribentity(codePoint: number): void {
    this.#attribute.value += String.fromCodePoint(codePoint)
  }

  onattribend(quote: QuoteType, end: number): void {
    if (quote !== QuoteType.Double && quote !== QuoteType.Single) return
    const { name, value, start } = this.#attribute
    this.#attributes.push({ name, value, markup: this.#xml.slice(start, end) })
  }

  onopentagend(end: number): void {
    this.#startTag(false, end + 1)
  }

  onselfclosingtag(end: number): void {
    this.#startTag(true, end + 1)
  }

  onclosetag(start: number, end: number): void {
    this.#take({ kind: 'end', name: this.#xml.slice(start, end), end: afterMark(this.#xml, '>', end) }, start)
  }

  ontext(start: number, end: number): void {
    this.#take({ kind: 'text', text: this.#xml.slice(start, end) }, start)
  }

  ontextentity(codePoint: number, end: number): void {
    this.#take({ kind: 'text', text: String.fromCodePoint(codePoint) }, end)
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.#take({ kind: 'text', text: this.#xml.slice(start, end - endOffset) }, start)
  }

  /** The tokenizer ends a DOCTYPE at its first `>`, which may belong to a declaration within it. */
  ondeclaration(start: number, end: number): void {
    const bracket = this.#xml.slice(start, end).indexOf('[')
    if (bracket < 0 || start < this.#passedOverTo) return
    this.#passedOverTo = afterMark(this.#xml, '>', afterMark(this.#xml, ']', start + bracket))
  }

  oncomment(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #startTag(selfClosing: boolean, end: number): void {
    const [name, attributes, start] = [this.#name, this.#attributes, this.#start]
    this.#take({ kind: 'start', name, attributes, selfClosing, start, end }, start)
  }

  #take(token: XmlToken, start: number): void {
    if (start >= this.#passedOverTo) this.#tokens.push(token)
  }
}

function afterMark(xml: string, mark: string, from: number): number {
  const at = xml.indexOf(mark, from)
  return at < 0 ? xml.length : at + mark.length
}
