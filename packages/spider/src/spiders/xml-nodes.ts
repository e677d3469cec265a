import { Selector } from '../selectors/selector.ts'
import { attributesOf, readXml } from './xml-reader.ts'

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
  let node: { readonly start: number; readonly tagEnd: number; readonly attributes: string } | undefined
  let depth = 0
  for (const token of readXml(xml)) {
    if (token.kind === 'text') continue
    if (node) {
      if (token.name !== name) continue
      if (token.kind === 'start' && !token.selfClosing) depth++
      if (token.kind === 'start' || --depth > 0) continue
      yield openingTag(name, node.attributes, around) + xml.slice(node.tagEnd, token.end)
      node = undefined
    } else if (token.kind === 'end') {
      const at = around.findLastIndex((element) => element.name === token.name)
      if (at >= 0) around.length = at
    } else if (token.name !== name) {
      if (token.selfClosing || around.length >= DEPTH_MAX) continue
      around.push({ name: token.name, declarations: declarationsIn(token.attributes) })
    } else if (token.selfClosing) {
      yield `${openingTag(name, token.attributes, around)}</${name}>`
    } else {
      node = { start: token.start, tagEnd: token.end, attributes: token.attributes }
      depth = 1
    }
  }
}

// What is nested deeper declares nothing for the nodes in it. Feeds are some three elements deep.
const DEPTH_MAX = 100

function openingTag(
  name: string,
  attributes: string,
  around: readonly { readonly declarations: ReadonlyMap<string, string> }[],
): string {
  const own = declarationsIn(attributes)
  const inherited = new Map(around.flatMap(({ declarations }) => [...declarations]))
  const missing = [...inherited].filter(([declaration]) => !own.has(declaration))
  return `<${name}${missing.map(([declaration, value]) => ` ${declaration}=${value}`).join('')}${attributes}>`
}

/** By the names of their attributes; values with their quotes. */
function declarationsIn(attributes: string): ReadonlyMap<string, string> {
  if (!attributes.includes('xmlns')) return NONE
  const found = [...attributesOf(attributes)]
  return new Map(found.filter(([name]) => /^xmlns(?::|$)/.test(name)))
}

const NONE: ReadonlyMap<string, string> = new Map()
