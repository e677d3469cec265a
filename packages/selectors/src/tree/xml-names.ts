/**
 * Names in XML: which namespace a prefix stands for where an element is.
 *
 * The tree keeps names as they are written (`media:thumb`) and declarations as the attributes they are, so that cheerio
 * and CSS see the page itself. What a prefix means is looked up when a query asks: few queries do.
 */

import { type AnyNode, type Element, isTag } from 'domhandler'

/** A namespace and the name within it; no namespace is ''. */
export interface ExpandedName {
  readonly uri: string
  readonly local: string
}

/** What the prefix `xml` stands for everywhere. */
export const XML_URI = 'http://www.w3.org/XML/1998/namespace'

/** Returns the name of an element. A prefix that is declared nowhere is a part of it. */
export function elementName(element: Element): ExpandedName {
  return expandedName(element.name, prefixOf(element.name), element)
}

/** Returns the name of an attribute. Without a prefix it is in no namespace, whatever the default is. */
export function attributeName(written: string, element: Element): ExpandedName {
  const prefix = prefixOf(written)
  return prefix === '' ? { uri: '', local: written } : expandedName(written, prefix, element)
}

export function isDeclaration(attribute: string): boolean {
  return attribute === 'xmlns' || attribute.startsWith('xmlns:')
}

/**
 * Declarations around an element that has more of them are written only where a name in it needs them: written at each of many
 * small elements, they would make a small page's markup grow with its square. No page that means well has so many.
 */
const DECLARATIONS_MAX = 100

/** Declarations that hold at an element and are not written at it, by the attributes that would write them. */
export function inheritedDeclarations(element: Element): Record<string, string> {
  const inherited: Record<string, string> =
    declarationsAround(element) > DECLARATIONS_MAX ? neededDeclarations(element) : allDeclarations(element)
  const held = Object.entries(inherited).filter(([, uri]) => uri !== '')
  // First the one that the element's own name needs, as lxml writes them.
  const own = declarationOf(prefixOf(element.name))
  return Object.fromEntries(held.sort(([a], [b]) => Number(b === own) - Number(a === own)))
}

function allDeclarations(element: Element): Record<string, string> {
  const inherited: Record<string, string> = {}
  for (let node: AnyNode | null = element.parent; node && isTag(node); node = node.parent) {
    for (const name in node.attribs) {
      if (!isDeclaration(name) || Object.hasOwn(element.attribs, name)) continue
      inherited[name] ??= node.attribs[name]!
    }
  }
  return inherited
}

/** The default, and those of each prefix that a name in the element has. */
function neededDeclarations(element: Element): Record<string, string> {
  const wanted = new Set(['xmlns'])
  noteNeeded(element, wanted)
  const needed: Record<string, string> = {}
  for (const declaration of wanted) {
    if (Object.hasOwn(element.attribs, declaration)) continue
    const uri = declaredUri(declaration, element)
    if (uri !== undefined) needed[declaration] = uri
  }
  return needed
}

// Recursion is safe: ELEMENT_DEPTH_MAX bounds the tree.
function noteNeeded(element: Element, wanted: Set<string>): void {
  for (const name of [element.name, ...Object.keys(element.attribs)]) {
    const prefix = prefixOf(name)
    if (prefix !== '' && prefix !== 'xmlns') wanted.add(declarationOf(prefix))
  }
  for (const child of element.children) if (isTag(child)) noteNeeded(child, wanted)
}

// Counted once for each element: many may ask for those of one root.
const declarationCounts = new WeakMap<Element, number>()

function declarationsAround(element: Element): number {
  let count = 0
  for (let node: AnyNode | null = element.parent; node && isTag(node); node = node.parent) {
    let own = declarationCounts.get(node)
    if (own === undefined) {
      own = Object.keys(node.attribs).filter(isDeclaration).length
      declarationCounts.set(node, own)
    }
    count += own
  }
  return count
}

/** Takes declarations and declared prefixes away from an element and all below it. */
export function removeNamespaces(root: Element): void {
  // From the deepest up: a prefix is looked up in elements around, which must still have their declarations.
  for (const child of root.children) if (isTag(child)) removeNamespaces(child)
  const { local } = elementName(root)
  const attributes = Object.entries(root.attribs).filter(([name]) => !isDeclaration(name))
  root.attribs = Object.fromEntries(
    attributes.map(([name, value]) => [attributeName(name, root).local, value]),
  )
  root.name = local
}

function expandedName(written: string, prefix: string, element: Element): ExpandedName {
  const uri = prefix === 'xml' ? XML_URI : declaredUri(declarationOf(prefix), element)
  if (uri === undefined) return { uri: '', local: written }
  return { uri, local: prefix === '' ? written : written.slice(prefix.length + 1) }
}

function declaredUri(declaration: string, element: Element): string | undefined {
  for (let node: AnyNode | null = element; node && isTag(node); node = node.parent) {
    if (Object.hasOwn(node.attribs, declaration)) return node.attribs[declaration]
  }
  return undefined
}

function declarationOf(prefix: string): string {
  return prefix === '' ? 'xmlns' : `xmlns:${prefix}`
}

function prefixOf(written: string): string {
  return written.slice(0, Math.max(0, written.indexOf(':')))
}
