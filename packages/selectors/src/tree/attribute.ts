import type { Element } from 'domhandler'

/** An attribute that a query found. The tree has no nodes for them. */
export interface Attribute {
  /** Tells it from the nodes of a tree. */
  readonly type: 'attribute'
  /** Whose attribute it is. */
  readonly element: Element
  /** As the element has it. */
  readonly name: string
}

export function attributeValue({ element, name }: Attribute): string {
  return element.attribs[name] ?? ''
}
