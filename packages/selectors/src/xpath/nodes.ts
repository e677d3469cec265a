/**
 * The tree as XPath sees it. Its nodes are domhandler's own, attributes apart: those are made when asked for, so the same
 * attribute may be two objects, and `DocumentOrder` tells that they are one.
 */

import { type AnyNode, type Element, isTag } from 'domhandler'
import { type Attribute, attributeValue } from '../tree/attribute.ts'
import type { MarkupType } from '../tree/parse-document.ts'
import { textContent } from '../tree/serialize.ts'
import { attributeName, type ExpandedName, elementName, isDeclaration } from '../tree/xml-names.ts'
import type { NodeTest } from './expression.ts'
import { XPathProblem } from './tokens.ts'

export type XPathNode = AnyNode | Attribute

export type NodeKind = 'root' | 'element' | 'attribute' | 'text' | 'comment' | 'processing-instruction'

/** Returns the kind of a node; undefined for what XPath does not know: a doctype, an XML declaration. */
export function kindOf(node: XPathNode): NodeKind | undefined {
  switch (node.type) {
    case 'tag':
    case 'script':
    case 'style':
      return 'element'
    case 'directive':
      return /^\?(?!xml$)/i.test(node.name) ? 'processing-instruction' : undefined
    case 'cdata':
      return undefined
    default:
      return node.type
  }
}

export function isElement(node: XPathNode): node is Element {
  return node.type !== 'attribute' && isTag(node)
}

export function childrenOf(node: XPathNode): readonly AnyNode[] {
  return 'children' in node ? node.children : []
}

export function parentOf(node: XPathNode): AnyNode | null {
  return node.type === 'attribute' ? node.element : node.parent
}

export function rootOf(node: XPathNode): AnyNode {
  let root: AnyNode = node.type === 'attribute' ? node.element : node
  while (root.parent) root = root.parent
  return root
}

export function isWithin(node: XPathNode, ancestor: XPathNode): boolean {
  for (let up = parentOf(node); up; up = up.parent) if (up === ancestor) return true
  return false
}

export function stringValue(node: XPathNode): string {
  if (node.type === 'attribute') return attributeValue(node)
  if (node.type === 'directive') return node.data.replace(/^\S+\s*/, '')
  return node.type === 'comment' ? node.data : textContent(node)
}

/** Text and comments have no name. */
export function nameOf(node: XPathNode, type: MarkupType): ExpandedName {
  if (node.type === 'directive') return { uri: '', local: node.name.slice(1) }
  if (node.type === 'attribute') {
    return type === 'html' ? { uri: '', local: node.name } : attributeName(node.name, node.element)
  }
  if (!isTag(node)) return { uri: '', local: '' }
  return type === 'html' ? { uri: '', local: node.name } : elementName(node)
}

export function attributesOf(node: XPathNode, type: MarkupType): Attribute[] {
  if (!isElement(node)) return []
  const attributes: Attribute[] = []
  for (const name in node.attribs) {
    if (type === 'html' || !isDeclaration(name)) attributes.push({ type: 'attribute', element: node, name })
  }
  return attributes
}

export type Matches = (node: XPathNode) => boolean

/** Returns the function that says which nodes a step's test lets through. A name is one of an element, or of an attribute on that axis. */
export function matcherOf(
  test: NodeTest,
  principal: 'element' | 'attribute',
  type: MarkupType,
  namespaces: ReadonlyMap<string, string>,
): Matches {
  if (test.kind === 'node') return (node) => kindOf(node) !== undefined
  if (test.kind === 'text' || test.kind === 'comment') return (node) => node.type === test.kind
  if (test.kind === 'processing-instruction') {
    const { target } = test
    return (node) =>
      kindOf(node) === test.kind && (target === undefined || nameOf(node, type).local === target)
  }
  const { prefix, local, at } = test
  const ofKind: Matches = principal === 'attribute' ? (node) => node.type === 'attribute' : isElement
  if (prefix === '' && local === '*') return ofKind
  const uri = prefix === '' ? '' : uriOf(prefix, namespaces, at)
  if (type === 'html' && uri === '')
    return (node) => ofKind(node) && (node as { name?: string }).name === local
  return (node) => {
    if (!ofKind(node)) return false
    const name = nameOf(node, type)
    return name.uri === uri && (local === '*' || name.local === local)
  }
}

export function uriOf(prefix: string, namespaces: ReadonlyMap<string, string>, at?: number): string {
  const uri = namespaces.get(prefix)
  if (uri !== undefined) return uri
  throw new XPathProblem(
    `the prefix ${prefix} is not known; tell with registerNamespace(${JSON.stringify(prefix)}, uri)`,
    at,
  )
}
