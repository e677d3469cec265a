/**
 * The links of a page in one pass over its text.
 *
 * Most pages of a crawl are asked for their links only, and a tree costs many times what reading does. This reads tags
 * as the HTML standard's tokenizer does (https://html.spec.whatwg.org/#tokenization) and leaps over the rest: over text
 * to the next `<`, over a quoted value to its other quote, over comments and the text of script and style to their end.
 *
 * Not chosen: htmlparser2's Tokenizer, which visits every character and takes several times as long. It is also where
 * the tree of the default parser and this differ: within comments that begin `<![CDATA[`, and in end tags that have
 * attributes, this reads as the standard says.
 */

import { decodeHTMLAttribute } from 'entities'
import { ForeignContent } from './foreign-content.ts'

/** Which elements' `href` is taken. */
export type LinkElements = 'a' | 'a, area'

/** Every `href` of these elements, decoded, in document order. */
export function streamHrefs(html: string, elements: LinkElements): string[] {
  return new HrefReader(html, elements === 'a, area').read()
}

const TAB = 9
const LINE_FEED = 10
const FORM_FEED = 12
const RETURN = 13
const SPACE = 32
const BANG = 33
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const SLASH = 47
const EQUALS = 61
const GREATER = 62
const QUESTION = 63

class HrefReader {
  readonly #html: string
  readonly #areas: boolean
  readonly #foreign = new ForeignContent()
  readonly #hrefs: string[] = []
  /** Where reading goes on. Past the end when a tag, comment or script is never closed: browsers drop it too. */
  #at = 0
  // About the start tag read last.
  #href: string | undefined
  #selfClosing = false

  constructor(html: string, areas: boolean) {
    this.#html = html
    this.#areas = areas
  }

  read(): string[] {
    for (let open = this.#html.indexOf('<'); open >= 0; open = this.#html.indexOf('<', this.#at)) {
      this.#readMarkup(open + 1)
    }
    return this.#hrefs
  }

  #readMarkup(at: number): void {
    const c = this.#html.charCodeAt(at)
    if (isLetter(c)) this.#readStartTag(at)
    else if (c === SLASH) this.#readEndTag(at + 1)
    else if (c === BANG) this.#skipDeclaration(at + 1)
    else if (c === QUESTION) this.#skipPast('>', at)
    else this.#at = at // a lone `<`
  }

  #readStartTag(start: number): void {
    const end = nameEnd(this.#html, start)
    const length = end - start
    const isLink =
      (length === 1 && this.#isWord('a', start)) ||
      (this.#areas && length === 4 && this.#isWord('area', start))
    if (!this.#readAttributes(end, isLink)) return
    if (this.#href !== undefined) {
      this.#hrefs.push(this.#href.includes('&') ? decodeHTMLAttribute(this.#href) : this.#href)
    }
    const rawText = this.#foreign.current ? undefined : this.#rawTextName(start, length)
    if (rawText) this.#skipText(rawText)
    if (this.#foreign.open || this.#isForeignRoot(start, length)) {
      this.#foreign.start(this.#html.slice(start, end).toLowerCase(), this.#selfClosing)
    }
  }

  #readEndTag(start: number): void {
    const c = this.#html.charCodeAt(start)
    if (!isLetter(c)) {
      this.#skipPast('>', start)
      return
    }
    const end = nameEnd(this.#html, start)
    if (this.#html.charCodeAt(end) === GREATER) this.#at = end + 1
    else this.#readAttributes(end, false)
    if (this.#foreign.open) this.#foreign.end(this.#html.slice(start, end).toLowerCase())
  }

  /** Reads to the end of a tag; false when the page ends first. Of two `href` the first counts. */
  #readAttributes(from: number, wanted: boolean): boolean {
    const html = this.#html
    this.#href = undefined
    this.#at = html.length
    let at = from
    for (;;) {
      let c = html.charCodeAt(at)
      while (isSpace(c) || c === SLASH) c = html.charCodeAt(++at)
      if (c === GREATER) {
        this.#selfClosing = html.charCodeAt(at - 1) === SLASH
        this.#at = at + 1
        return true
      }
      if (at >= html.length) return false

      const nameStart = at++ // whatever it is: even `=` begins a name here
      at = attributeNameEnd(html, at)
      const isHref =
        wanted && at - nameStart === 4 && this.#href === undefined && this.#isWord('href', nameStart)
      if (isHref) this.#href = ''
      at = spaceEnd(html, at)
      if (html.charCodeAt(at) !== EQUALS) continue

      at = spaceEnd(html, at + 1)
      c = html.charCodeAt(at)
      if (c === GREATER) continue // `<a href=>`
      const quoted = c === DOUBLE_QUOTE || c === SINGLE_QUOTE
      const start = quoted ? at + 1 : at
      const end = quoted ? html.indexOf(c === DOUBLE_QUOTE ? '"' : "'", start) : unquotedEnd(html, start)
      if (end < 0) return false
      if (isHref) this.#href = html.slice(start, end)
      at = quoted ? end + 1 : end
    }
  }

  #skipDeclaration(at: number): void {
    const html = this.#html
    if (html.startsWith('--', at)) this.#skipComment(at + 2)
    else if (this.#foreign.current && html.startsWith('[CDATA[', at)) this.#skipPast(']]>', at)
    else this.#skipPast('>', at)
  }

  #skipComment(start: number): void {
    const html = this.#html
    let at = html.indexOf('--', start)
    if (html.startsWith('>', start) || html.startsWith('->', start))
      at = start // closed at once
    else
      while (at >= 0 && !html.startsWith('>', at + 2) && !html.startsWith('!>', at + 2))
        at = html.indexOf('--', at + 1)
    this.#at = at < 0 ? html.length : html.indexOf('>', at) + 1
  }

  /** To the end tag of an element that holds nothing but text. */
  #skipText(name: string): void {
    const html = this.#html
    let at = name === 'plaintext' ? -1 : html.indexOf('</', this.#at)
    while (at >= 0 && !(this.#isWord(name, at + 2) && endsName(html.charCodeAt(at + 2 + name.length)))) {
      at = html.indexOf('</', at + 2)
    }
    if (name === 'script' && html.slice(this.#at, at < 0 ? undefined : at).includes('<!--')) {
      at = commentedScriptEnd(html, this.#at)
    }
    this.#at = at < 0 ? html.length : at
  }

  #skipPast(end: string, from: number): void {
    const at = this.#html.indexOf(end, from)
    this.#at = at < 0 ? this.#html.length : at + end.length
  }

  #rawTextName(start: number, length: number): string | undefined {
    const names = RAW_TEXT[length]
    if (names) for (const name of names) if (this.#isWord(name, start)) return name
    return undefined
  }

  #isForeignRoot(start: number, length: number): boolean {
    return (length === 3 && this.#isWord('svg', start)) || (length === 4 && this.#isWord('math', start))
  }

  /** Does the page have this lower-case word here, in any case? */
  #isWord(word: string, start: number): boolean {
    for (let i = 0; i < word.length; i++) {
      if ((this.#html.charCodeAt(start + i) | 0x20) !== word.charCodeAt(i)) return false
    }
    return true
  }
}

// Elements that hold nothing but text, by the length of their names.
const RAW_TEXT: readonly (readonly string[])[] = Array.from({ length: 10 }, (_, length) =>
  'xmp style title script iframe noembed textarea noframes plaintext'
    .split(' ')
    .filter((name) => name.length === length),
)

/**
 * Where a script with `<!--` in it ends, or -1. A script that hides itself from the browsers of 1995 may write
 * `<script>…</script>` in that comment, and this end tag is not its own (the standard's "double escaped state").
 */
function commentedScriptEnd(html: string, start: number): number {
  const mark = /<!--|-->|<\/?script(?=[\s/>])/gi
  mark.lastIndex = start
  let state: 'script' | 'comment' | 'script in comment' = 'script'
  for (let found = mark.exec(html); found; found = mark.exec(html)) {
    const [word] = found
    if (word === '<!--') {
      if (state === 'script') state = 'comment'
      mark.lastIndex = found.index + 2 // `<!-->` is a comment that ends at once
    } else if (word === '-->') state = 'script'
    else if (word[1] !== '/') state = state === 'comment' ? 'script in comment' : state
    else if (state === 'script in comment') state = 'comment'
    else return found.index
  }
  return -1
}

function isLetter(c: number): boolean {
  const lower = c | 0x20
  return lower >= 97 && lower <= 122
}

function isSpace(c: number): boolean {
  return c === SPACE || c === LINE_FEED || c === TAB || c === RETURN || c === FORM_FEED
}

function endsName(c: number): boolean {
  return c === GREATER || c === SLASH || isSpace(c)
}

function nameEnd(html: string, at: number): number {
  while (at < html.length && !endsName(html.charCodeAt(at))) at++
  return at
}

function attributeNameEnd(html: string, at: number): number {
  for (; at < html.length; at++) {
    const c = html.charCodeAt(at)
    if (c === EQUALS || endsName(c)) break
  }
  return at
}

function unquotedEnd(html: string, at: number): number {
  for (; at < html.length; at++) {
    const c = html.charCodeAt(at)
    if (c === GREATER || isSpace(c)) break
  }
  return at
}

function spaceEnd(html: string, at: number): number {
  while (isSpace(html.charCodeAt(at))) at++
  return at
}
