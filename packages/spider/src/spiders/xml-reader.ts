import { decodeXML } from 'entities'

/** A tag or a text of an XML document, in its order. Names are as they are written, with their prefix. */
export type XmlToken =
  | {
      readonly kind: 'start'
      readonly name: string
      /** What stands between the name and the end of the tag. */
      readonly attributes: string
      readonly selfClosing: boolean
      /** Where the tag begins and ends in the document. */
      readonly start: number
      readonly end: number
    }
  | { readonly kind: 'end'; readonly name: string; readonly end: number }
  | { readonly kind: 'text'; readonly text: string }

/**
 * Reads XML tag by tag, in time linear in its length. It keeps nothing, so elements need not be closed, and whoever reads
 * decides what to make of it. Comments, instructions and declarations are passed over; of entities only the five of XML
 * and numbers are decoded, so that no document can make it read another one, or grow.
 */
export function* readXml(xml: string): Generator<XmlToken> {
  for (let at = 0; at < xml.length; ) {
    const open = xml.indexOf('<', at)
    if (open < 0) {
      yield textToken(xml.slice(at))
      return
    }
    if (open > at) yield textToken(xml.slice(at, open))
    if (xml.startsWith('<!--', open)) at = after(xml, '-->', open + 4)
    else if (xml.startsWith('<![CDATA[', open)) {
      at = after(xml, ']]>', open + 9)
      yield { kind: 'text', text: xml.slice(open + 9, xml.startsWith(']]>', at - 3) ? at - 3 : at) }
    } else if (xml.startsWith('<?', open)) at = after(xml, '?>', open + 2)
    else if (xml.startsWith('<!', open)) at = declarationEnd(xml, open + 2)
    else {
      at = tagEnd(xml, open + 1)
      const token = tagToken(xml, open, at)
      if (token) yield token
    }
  }
}

/** The value of an attribute, decoded; undefined when the tag has none of that name. */
export function attributeValue(attributes: string, name: string): string | undefined {
  for (const [written, quoted] of attributesOf(attributes)) {
    if (written === name) return decodeXML(quoted.slice(1, -1))
  }
  return undefined
}

const ATTRIBUTE_NAME = /[^\s=/>"']+/g
const EQUALS = /\s*=\s*(?=["'])/y

/**
 * The attributes of a tag: name, and value with the quotes around it. Each character is looked at once or twice: one
 * pattern for name and value would be tried anew from each letter of a name without a value.
 */
export function* attributesOf(text: string): Generator<readonly [name: string, quoted: string]> {
  for (let at = 0; ; ) {
    ATTRIBUTE_NAME.lastIndex = at
    const name = ATTRIBUTE_NAME.exec(text)?.[0]
    if (name === undefined) return
    at = EQUALS.lastIndex = ATTRIBUTE_NAME.lastIndex
    if (!EQUALS.test(text)) continue
    const quote = EQUALS.lastIndex
    const end = text.indexOf(text[quote]!, quote + 1)
    if (end < 0) continue
    at = end + 1
    yield [name, text.slice(quote, at)]
  }
}

/** A name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function textToken(text: string): XmlToken {
  return { kind: 'text', text: text.includes('&') ? decodeXML(text) : text }
}

function tagToken(xml: string, start: number, end: number): XmlToken | undefined {
  const isEnd = xml[start + 1] === '/'
  const name = NAME.exec(xml.slice(start + (isEnd ? 2 : 1), Math.min(end, start + NAME_CHARS_MAX)))?.[0]
  if (name === undefined) return undefined
  if (isEnd) return { kind: 'end', name, end }
  const selfClosing = xml.startsWith('/>', end - 2)
  const attributes = xml.slice(start + 1 + name.length, end - (selfClosing ? 2 : 1))
  return { kind: 'start', name, attributes, selfClosing, start, end }
}

const NAME = /^[^\s/>=<"']+/
// A longer name is cut, and then fits none that is sought.
const NAME_CHARS_MAX = 200

/** Past the `>` that stands in no quoted value; the end of the document when there is none. */
function tagEnd(xml: string, from: number): number {
  const mark = /[>"']/g
  for (mark.lastIndex = from; ; ) {
    const found = mark.exec(xml)
    if (!found) return xml.length
    if (found[0] === '>') return mark.lastIndex
    mark.lastIndex = after(xml, found[0], mark.lastIndex)
  }
}

/** A DOCTYPE may hold declarations of its own in brackets. */
function declarationEnd(xml: string, from: number): number {
  const end = after(xml, '>', from)
  const bracket = xml.indexOf('[', from)
  return bracket >= 0 && bracket < end ? after(xml, '>', after(xml, ']', bracket)) : end
}

function after(xml: string, mark: string, from: number): number {
  const at = xml.indexOf(mark, from)
  return at < 0 ? xml.length : at + mark.length
}
