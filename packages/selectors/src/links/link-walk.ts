import { type AnyNode, type Element, isTag, isText } from 'domhandler'
import { ForeignContent } from '../markup/foreign-content.ts'
import type { MarkupType } from '../tree/parse-document.ts'
import { type FoundLink, LinkCollector, type LinkPlaces } from './link-collector.ts'

/** Returns the links of a tree, or of a part of it, in document order: the same as in the markup it was made from. */
export function linksInTree(root: AnyNode, type: MarkupType, places: LinkPlaces): FoundLink[] {
  const collector = new LinkCollector(places)
  const foreign = new ForeignContent()
  walk(root, {
    enter(element) {
      const { name, attribs, children } = element
      const isEmpty = children.length === 0
      const isForeign = type === 'html' && foreign.start(name.toLowerCase(), isEmpty)
      const attributes = places.isTag(name) && !isForeign ? new Map(Object.entries(attribs)) : undefined
      collector.start(name, attributes, isEmpty)
    },
    leave({ name }) {
      if (type === 'html') foreign.end(name.toLowerCase())
      collector.end(name)
    },
    text: (text) => collector.text(text),
  })
  return collector.links()
}

interface Visitor {
  enter(element: Element): void
  /** Of elements that hold something. */
  leave(element: Element): void
  text(text: string): void
}

/** Without recursion: a tree may be deeper than the stack. */
function walk(root: AnyNode, visitor: Visitor): void {
  let node: AnyNode = root
  for (;;) {
    if (isTag(node)) visitor.enter(node)
    else if (isText(node)) visitor.text(node.data)
    if ('children' in node && node.children.length > 0) {
      node = node.children[0]!
      continue
    }
    while (node !== root && !node.next) {
      node = node.parent!
      if (isTag(node)) visitor.leave(node)
    }
    if (node === root) return
    node = node.next!
  }
}
