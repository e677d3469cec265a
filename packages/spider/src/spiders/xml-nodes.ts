import { Selector } from '@webloom/selectors'
import { readXml, type XmlAttribute, type XmlToken } from './xml-reader.ts'

/** The elements of this name, in order, each a document of its own. Their own prefix is known to XPath queries. */
export function* xmlNodes(xml: string, name: string): Generator<Selector> {
  const [, prefix] = /^([^:]+):/.exec(name) ?? []
  for (const markup of xmlNodeMarkup(xml, name)) {
    const node = Selector.from(markup, { type: 'xml' }).css('*')[0]!
    const uri = prefix === undefined ? undefined : node.attrib[`xmlns:${prefix}`]
    if (prefix !== undefined && uri !== undefined) node.registerNamespace(prefix, uri)
    yield node
  }
}

/**
 * The elements of this name as markup, in order, each of which can be read alone: namespaces that are declared around an
 * element are declared at it. One within another of its name is a part of that one. Without a tree of the whole.
 */
export function* xmlNodeMarkup(xml: string, name: string): Generator<string> {
  /** Declarations of each element that is open around the node. */
  const around: { readonly name: string; readonly declarations: ReadonlyMap<string, string> }[] = []
  let node: { readonly opening: string; readonly tagEnd: number } | undefined
  let depth = 0
  for (const token of readXml(xml)) {
    if (token.kind === 'text') continue
    if (node) {
      if (token.name !== name) continue
      if (token.kind === 'start' && !token.selfClosing) depth++
      if (token.kind === 'start' || --depth > 0) continue
      yield node.opening + xml.slice(node.tagEnd, token.end)
      node = undefined
    } else if (token.kind === 'end') {
      const at = around.findLastIndex((element) => element.name === token.name)
      if (at >= 0) around.length = at
    } else if (token.name !== name) {
      if (token.selfClosing || around.length >= DEPTH_MAX) continue
      around.push({ name: token.name, declarations: declarationsIn(token.attributes) })
    } else if (token.selfClosing) {
      yield `${openingTag(xml, token, around)}</${name}>`
    } else {
      node = { opening: openingTag(xml, token, around), tagEnd: token.end }
      depth = 1
    }
  }
}

// What is nested deeper declares nothing for the nodes in it. Feeds are some three elements deep.
const DEPTH_MAX = 100

/** The tag as it stands in the document, with the declarations around it that it does not make itself. */
function openingTag(
  xml: string,
  { name, attributes, selfClosing, start, end }: XmlToken & { kind: 'start' },
  around: readonly { readonly declarations: ReadonlyMap<string, string> }[],
): string {
  const own = declarationsIn(attributes)
  const inherited = new Map(around.flatMap(({ declarations }) => [...declarations]))
  const missing = [...inherited]
    .filter(([declaration]) => !own.has(declaration))
    .map(([, markup]) => ` ${markup}`)
  return `<${name}${missing.join('')}${xml.slice(start + 1 + name.length, end - (selfClosing ? 2 : 1))}>`
}

/** By the names of their attributes, as they stand in the document. */
function declarationsIn(attributes: readonly XmlAttribute[]): ReadonlyMap<string, string> {
  const found = attributes.filter(({ name }) => /^xmlns(?::|$)/.test(name))
  return found.length === 0 ? NONE : new Map(found.map(({ name, markup }) => [name, markup]))
}

const NONE: ReadonlyMap<string, string> = new Map()
