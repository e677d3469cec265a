import type { Element } from 'domhandler'

/** An attribute that a query found. The tree has no nodes for them. */
export interface Attribute {
  readonly type: 'attribute'
  readonly element: Element
  readonly name: string
}

export function attributeValue({ element, name }: Attribute): string {
  return element.attribs[name] ?? ''
}
