import { Selector } from '@webloom/selectors'
import { readXml, type XmlAttribute, type XmlToken } from './xml-reader.ts'

/** An element that is open around a node. */
interface Around {
  readonly name: string
  readonly declarations: ReadonlyMap<string, string>
}

/**
 * Yields the elements of this name, in order, each a document of its own. Their own prefix is known to XPath queries.
 */
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
 * Yields the elements of this name as markup, in order, without a tree of the whole. Each can be read alone: namespaces
 * that are declared around an element are declared on it. An element within another one of its name is part of that one.
 */
export function* xmlNodeMarkup(xml: string, name: string): Generator<string> {
  /** Declarations of each element that is open around the node. */
  const around: Around[] = []
  let node: (XmlToken & { kind: 'start' }) | undefined
  let depth = 0
  for (const token of readXml(xml)) {
    if (token.kind === 'text') continue
    if (node) {
      if (token.name !== name) continue
      if (token.kind === 'start' && !token.selfClosing) depth++
      if (token.kind === 'start' || --depth > 0) continue
      const inner = xml.slice(node.end, token.end)
      yield openingTag(xml, node, around, inner) + inner
      node = undefined
    } else if (token.kind === 'end') {
      const at = around.findLastIndex((element) => element.name === token.name)
      if (at >= 0) around.length = at
    } else if (token.name !== name) {
      if (token.selfClosing || around.length >= DEPTH_MAX) continue
      around.push({ name: token.name, declarations: declarationsIn(token.attributes) })
    } else if (token.selfClosing) {
      yield `${openingTag(xml, token, around, '')}</${name}>`
    } else {
      node = token
      depth = 1
    }
  }
}

// Elements that are nested deeper declare nothing for nodes in them. Feeds are about three elements deep.
const DEPTH_MAX = 100

/**
 * Where more namespaces are declared around an element, only those stand at it whose prefix it mentions: written at each of many
 * small elements, they would make a small feed grow with its square.
 */
const DECLARATIONS_MAX = 100
// Before a colon, in names and in values, as in `xsi:type="xs:int"`.
const MENTIONED = /([^\s<>="'/:]+)(:?)/g

/** The tag as it stands in the document, with the declarations around it that it does not make itself. */
function openingTag(
  xml: string,
  { name, attributes, selfClosing, start, end }: XmlToken & { kind: 'start' },
  around: readonly Around[],
  inner: string,
): string {
  const own = declarationsIn(attributes)
  const ofTag = xml.slice(start + 1 + name.length, end - (selfClosing ? 2 : 1))
  const isMany = around.reduce((count, { declarations }) => count + declarations.size, 0) > DECLARATIONS_MAX
  const inherited = isMany
    ? mentionedDeclarations(name + ofTag + inner, around)
    : new Map(around.flatMap(({ declarations }) => [...declarations]))
  const missing = [...inherited]
    .filter(([declaration]) => !own.has(declaration))
    .map(([, markup]) => ` ${markup}`)
  return `<${name}${missing.join('')}${ofTag}>`
}

/** The default, and those of each prefix that the markup mentions, as they hold there. */
function mentionedDeclarations(markup: string, around: readonly Around[]): Map<string, string> {
  const wanted = new Set(['xmlns'])
  for (const [, prefix, colon] of markup.matchAll(MENTIONED)) if (colon) wanted.add(`xmlns:${prefix}`)
  const found = new Map<string, string>()
  for (const declaration of wanted) {
    const declared = around.findLast(({ declarations }) => declarations.has(declaration))
    if (declared) found.set(declaration, declared.declarations.get(declaration)!)
  }
  return found
}

/** Returns declarations by the names of their attributes, as they stand in the document. */
function declarationsIn(attributes: readonly XmlAttribute[]): ReadonlyMap<string, string> {
  const found = attributes.filter(({ name }) => /^xmlns(?::|$)/.test(name))
  return found.length === 0 ? NONE : new Map(found.map(({ name, markup }) => [name, markup]))
}

const NONE: ReadonlyMap<string, string> = new Map()
