/**
 * Reads the tags of an HTML page in one pass and builds nothing: what finding links needs, and no more.
 *
 * Most pages of a crawl are asked for their links only, and a tree costs many times what reading does. This reads tags as
 * the HTML standard's tokenizer does (https://html.spec.whatwg.org/#tokenization) and leaps over the rest: over text to
 * the next `<`, over a quoted value to its other quote, over comments and the text of script and style to their end. Of
 * tree construction it knows one thing, because reading depends on it: where SVG and MathML are (`ForeignContent`).
 *
 * Characters are looked at as numbers, through a window:
 *
 *     page     <html> … <p class="…"> … … … … … … … … … </html>
 *     window              [ 65 536 characters ]
 *
 * It holds all of most pages. On a larger one it moves with the reading, so that a page of 32 MiB takes no 64 MiB more; a
 * single name or unquoted value that is longer makes it as long. What looks back to where it was reads `html` itself.
 *
 * Who wants something extends it and overrides `startTag`, `endTag` or `text`; these get places in `html`, not strings,
 * since for most tags a look at one or two characters decides.
 *
 * Not chosen: htmlparser2's Tokenizer, which visits every character and takes several times as long. In two things this
 * and the tree of the default parser differ, and this reads as the standard says: comments that begin `<![CDATA[`, and end
 * tags that have attributes.
 */

import { asciiLowerCase } from './ascii-lower-case.ts'
import { attributeText } from './attribute-text.ts'
import { characterCodes, giveBackCodes, NO_CODES, WINDOW_LENGTH } from './character-codes.ts'
import { ForeignContent } from './foreign-content.ts'
import { commentedScriptEnd, RAW_TEXT } from './raw-text.ts'

const BANG = 33
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const SLASH = 47
const LESS = 60
const EQUALS = 61
const GREATER = 62
const QUESTION = 63
const SMALL_A = 97

const SPACE = 1
const ENDS_TAG_NAME = 2
const ENDS_ATTRIBUTE_NAME = 4
const ENDS_UNQUOTED_VALUE = 8
/** In a value the tree has something else in its place. */
const REWRITTEN = 16

// What a character may end, by its code: one look instead of six comparisons, for nearly every character of every tag.
const ROLES = new Uint8Array(0x10000)
for (const space of '\t\n\f\r ') {
  ROLES[space.charCodeAt(0)] = SPACE | ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_UNQUOTED_VALUE
}
for (const rewritten of '&\r\0') ROLES[rewritten.charCodeAt(0)]! |= REWRITTEN
ROLES[SLASH] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME
ROLES[EQUALS] = ENDS_ATTRIBUTE_NAME
ROLES[GREATER] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_UNQUOTED_VALUE

export class MarkupReader {
  protected readonly html: string
  /** Whether the tag read last ends in `/>`, which means something in SVG and MathML only. */
  protected selfClosing = false
  readonly #foreign = new ForeignContent()
  /** Where reading goes on. Past the end when a tag, comment or script is never closed: browsers drop it too. */
  #at = 0
  #stopped = false
  #isPlain = true
  /** Characters of the page as numbers, with room for a look beyond their end: those from `#start` to `#end`. */
  #codes = NO_CODES
  #start = 0
  #end = 0
  /** What begins behind this place gets a new window. */
  #movesAt = 0
  /** Of the tag read last: where each attribute's name and value begin and end, four numbers each. */
  readonly #attributes: number[] = []
  /** How many of these numbers are of that tag; the array keeps its room. */
  #attributesEnd = 0

  constructor(html: string) {
    this.html = html
  }

  // ---- for who extends this ----

  /** Returns whether `startTag` will ask for attributes of the element whose name stands here. */
  protected wantsAttributes(_nameStart: number, _nameEnd: number): boolean {
    return false
  }

  /** `foreign` is true for elements of SVG and MathML. */
  protected startTag(_nameStart: number, _nameEnd: number, _foreign: boolean): void {}

  protected endTag(_nameStart: number, _nameEnd: number): void {}

  /** Text as it is written; `raw` when `&amp;` in it means just that, as in scripts. */
  protected text(_start: number, _end: number, _raw: boolean): void {}

  protected comment(): void {}

  /** Reads the page to its end, or until `stop()`. */
  protected read(): void {
    const { html } = this
    this.#show(0)
    while (this.#at < html.length && !this.#stopped) {
      const from = this.#at
      const open = this.#find(LESS, '<', from)
      if (open !== from) this.text(from, open < 0 ? html.length : open, false)
      if (open < 0) break
      this.#readMarkup(open)
    }
    giveBackCodes(this.#codes)
    this.#codes = NO_CODES
  }

  protected stop(): void {
    this.#stopped = true
  }

  /** The value of an attribute of the tag read last, decoded; its name in lower case. Of two the first counts. */
  protected attribute(name: string): string | undefined {
    const places = this.#attributes
    for (let i = 0; i < this.#attributesEnd; i += 4) {
      if (places[i + 1]! - places[i]! === name.length && this.isWord(name, places[i]!)) return this.#value(i)
    }
    return undefined
  }

  /** All attributes of the tag read last, decoded, their names in lower case. */
  protected attributes(): Map<string, string> {
    const attributes = new Map<string, string>()
    const places = this.#attributes
    for (let i = 0; i < this.#attributesEnd; i += 4) {
      const name = this.word(places[i]!, places[i + 1]!)
      if (!attributes.has(name)) attributes.set(name, this.#value(i))
    }
    return attributes
  }

  /** Does the page have this lower-case word here, in any case? */
  protected isWord(word: string, start: number): boolean {
    const codes = this.#codes
    const from = start - this.#start
    const { length } = word
    if (from < 0 || start + length > this.#end) return this.word(start, start + length) === word
    for (let i = 0; i < length; i++) {
      const wanted = word.charCodeAt(i)
      const written = codes[from + i]!
      const isCapital = wanted >= SMALL_A && written === wanted - 32
      if (written !== wanted && !isCapital) return false
    }
    return true
  }

  /** Returns what stands here, in lower case. */
  protected word(start: number, end: number): string {
    return asciiLowerCase(this.html.slice(start, end))
  }

  /** False once something was read that is not plain HTML and that parsers may take in different ways. */
  protected get isPlain(): boolean {
    return this.#isPlain && this.#foreign.isPlain && !this.#foreign.open
  }

  // ---- tags ----

  #readMarkup(open: number): void {
    if (open > this.#movesAt) this.#show(open)
    const codes = this.#codes
    const at = open - this.#start
    const c = codes[at + 1]!
    if (isLetter(c)) this.#readStartTag(open + 1)
    else if (c === SLASH && isLetter(codes[at + 2]!)) this.#readEndTag(open + 2)
    else if (c === SLASH && open + 2 < this.html.length) this.#skipBogusComment(open + 2)
    else if (c === BANG) this.#skipDeclaration(open + 2)
    else if (c === QUESTION) this.#skipBogusComment(open + 2)
    else {
      this.text(open, open + 1, false) // a lone `<`
      this.#at = open + 1
    }
  }

  #readStartTag(start: number): void {
    const end = this.#nameEnd(start)
    if (!this.#readAttributes(end, this.wantsAttributes(start, end))) return
    const isForeign =
      (this.#foreign.open || this.#isForeignRoot(start, end - start)) &&
      this.#foreign.start(this.word(start, end), this.selfClosing)
    this.startTag(start, end, isForeign)
    if (!isForeign) this.#readRawText(start, end - start)
  }

  #readEndTag(start: number): void {
    const end = this.#nameEnd(start)
    if (this.#codes[end - this.#start] === GREATER) this.#at = end + 1
    else {
      this.#isPlain = false // attributes have no meaning here, and not everyone reads them
      if (!this.#readAttributes(end, false)) return
    }
    if (this.#foreign.open) this.#foreign.end(this.word(start, end))
    this.endTag(start, end)
  }

  #nameEnd(start: number): number {
    const codes = this.#codes
    const windowStart = this.#start
    const shown = this.#end - windowStart
    let at = start + 1 - windowStart
    while (at < shown && !(ROLES[codes[at]!]! & ENDS_TAG_NAME)) at++
    if (at < shown || this.#end === this.html.length) return at + windowStart
    this.#showMore(start)
    return this.#nameEnd(start)
  }

  /** Reads to the end of a tag; false when the page ends first. */
  #readAttributes(from: number, wanted: boolean): boolean {
    const { length } = this.html
    const places = this.#attributes
    this.#attributesEnd = 0
    this.#at = length
    // Places within the window are counted from its start.
    let codes = this.#codes
    let start = this.#start
    let shown = this.#end - start
    let at = from - start
    let slash = false
    while (at + start < length) {
      if (at + start > this.#movesAt) {
        this.#show(at + start)
        codes = this.#codes
        start += at
        shown = this.#end - start
        at = 0
      }
      const c = codes[at]!
      if (c === GREATER) {
        this.selfClosing = slash
        this.#at = at + 1 + start
        return true
      }
      slash = c === SLASH
      if (slash || ROLES[c]! & SPACE) {
        at++
        continue
      }
      const nameStart = at++ // whatever it is: even `=` begins a name here
      while (at < shown && !(ROLES[codes[at]!]! & ENDS_ATTRIBUTE_NAME)) at++
      const nameEnd = at
      while (ROLES[codes[at]!]! & SPACE) at++
      let valueStart = at
      let valueEnd = at
      if (codes[at]! === EQUALS) {
        do at++
        while (ROLES[codes[at]!]! & SPACE)
        const quote = codes[at]!
        valueStart = at
        if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
          valueStart++
          valueEnd = this.#find(quote, quote === DOUBLE_QUOTE ? '"' : "'", valueStart + start) - start
          if (valueEnd < 0) return false
          at = valueEnd + 1
        } else {
          while (at < shown && !(ROLES[codes[at]!]! & ENDS_UNQUOTED_VALUE)) at++
          valueEnd = at
        }
      }
      if (at === shown && at + start < length) {
        // It may go on beyond the window: it is read again.
        this.#showMore(nameStart + start)
        codes = this.#codes
        start += nameStart
        shown = this.#end - start
        at = 0
        continue
      }
      if (!wanted) continue
      places[this.#attributesEnd++] = nameStart + start
      places[this.#attributesEnd++] = nameEnd + start
      places[this.#attributesEnd++] = valueStart + start
      places[this.#attributesEnd++] = valueEnd + start
    }
    return false
  }

  #value(i: number): string {
    const start = this.#attributes[i + 2]!
    const end = this.#attributes[i + 3]!
    const written = this.html.slice(start, end)
    if (start < this.#start || end > this.#end) return attributeText(written)
    for (let at = start - this.#start; at < end - this.#start; at++)
      if (ROLES[this.#codes[at]!]! & REWRITTEN) return attributeText(written)
    return written
  }

  // ---- the window ----

  /** Moves the window: it begins at this place. */
  #show(start: number, length = WINDOW_LENGTH): void {
    const shown = this.html.slice(start, start + length)
    this.#codes = characterCodes(shown, this.#codes)
    this.#start = start
    this.#end = start + shown.length
    this.#movesAt = this.#end === this.html.length ? this.#end : this.#end - MOVES_BEFORE_END
  }

  /** For a name or a value that begins here and goes on beyond the window. */
  #showMore(start: number): void {
    this.#show(start, start === this.#start ? 2 * (this.#end - start) : WINDOW_LENGTH)
  }

  // ---- what is not a tag ----

  /** Where a character stands next, or -1. */
  #find(code: number, character: string, from: number): number {
    const codes = this.#codes
    const start = this.#start
    const near = Math.min(from + NEAR, this.#end) - start
    for (let at = from - start; at < near; at++) if (codes[at] === code) return at + start
    const { length } = this.html
    return near + start === length ? -1 : this.html.indexOf(character, Math.max(from, near + start))
  }

  /** `<?php … >`, `</ … >`, `<! … >` */
  #skipBogusComment(from: number): void {
    this.#skipPast('>', from)
    this.comment()
  }

  #skipDeclaration(at: number): void {
    const { html } = this
    if (html.startsWith('--', at)) this.#skipComment(at + 2)
    else if (!this.#foreign.current || !html.startsWith('[CDATA[', at)) this.#skipBogusComment(at)
    else {
      this.#skipPast(']]>', at + 7)
      this.text(at + 7, Math.max(at + 7, html.endsWith(']]>', this.#at) ? this.#at - 3 : this.#at), true)
    }
  }

  #skipComment(start: number): void {
    const { html } = this
    let at = html.indexOf('--', start)
    if (html.startsWith('>', start) || html.startsWith('->', start))
      at = start // closed at once
    else
      while (at >= 0 && !html.startsWith('>', at + 2) && !html.startsWith('!>', at + 2))
        at = html.indexOf('--', at + 1)
    this.#at = at < 0 ? html.length : html.indexOf('>', at) + 1
    this.comment()
  }

  /** After the start tag of an element that holds nothing but text: to its end tag. */
  #readRawText(start: number, length: number): void {
    const name = this.#rawTextName(start, length)
    if (name === undefined) return
    const from = this.#at
    this.#at = this.#rawTextEnd(name, from)
    if (this.#at === this.html.length) this.#isPlain = false
    if (this.#at > from) this.text(from, this.#at, name !== 'title' && name !== 'textarea')
  }

  #rawTextName(start: number, length: number): string | undefined {
    const names = RAW_TEXT[length]
    if (names) for (const name of names) if (this.isWord(name, start)) return name
    return undefined
  }

  #rawTextEnd(name: string, from: number): number {
    const { html } = this
    if (name === 'plaintext') return html.length
    let at = html.indexOf('</', from)
    while (at >= 0 && !(this.isWord(name, at + 2) && endsTagName(html.charCodeAt(at + 2 + name.length)))) {
      at = html.indexOf('</', at + 2)
    }
    if (name === 'script' && html.slice(from, at < 0 ? undefined : at).includes('<!--')) {
      at = commentedScriptEnd(html, from)
    }
    return at < 0 ? html.length : at
  }

  #skipPast(end: string, from: number): void {
    const at = this.html.indexOf(end, from)
    this.#at = at < 0 ? this.html.length : at + end.length
  }

  #isForeignRoot(start: number, length: number): boolean {
    return (length === 3 && this.isWord('svg', start)) || (length === 4 && this.isWord('math', start))
  }
}

// Longer than most tags and attributes, so that few are read twice.
const MOVES_BEFORE_END = 4096
// So many characters are looked at one by one; what is farther away `indexOf` finds quicker.
const NEAR = 64

function isLetter(c: number): boolean {
  const lower = c | 0x20
  return lower >= 97 && lower <= 122
}

function endsTagName(c: number): boolean {
  return (ROLES[c]! & ENDS_TAG_NAME) !== 0
}
