import {
  type AnyNode,
  type ChildNode,
  type Document,
  Element,
  isTag,
  isText,
  type ParentNode,
} from 'domhandler'

/**
 * Gives a page the `<html>`, `<head>` and `<body>` that every browser's tree has, whether or not they are written, so that
 * `/html/body/div` means the same on each page. What stands outside of them is moved in, as browsers do.
 */
export function completePage(document: Document): void {
  const { children } = document
  const contentAt = children.findIndex(isContent)
  const preamble = contentAt < 0 ? children : children.slice(0, contentAt)
  const content = contentAt < 0 ? [] : children.slice(contentAt)

  const html = content.find((node) => isNamed(node, 'html')) ?? new Element('html', {})
  const outline = new PageOutline()
  for (const node of content) outline.add(node)
  setChildren(html, outline.parts())
  setChildren(document, [...preamble.filter((node) => !isText(node)), html])
}

// What stands in <head> even when its tags are left out (HTML standard, "before head" and "in head").
const HEAD_ELEMENTS = new Set(
  'base basefont bgsound link meta noframes noscript script style template title'.split(' '),
)

/** Sorts the nodes of a page, in their order, into head and body. */
class PageOutline {
  #head: Element | undefined
  #body: Element | undefined
  readonly #headNodes: ChildNode[] = []
  readonly #between: ChildNode[] = []
  readonly #bodyNodes: ChildNode[] = []

  add(node: ChildNode): void {
    if (isNamed(node, 'html')) for (const child of node.children) this.add(child)
    else if (isNamed(node, 'head')) this.#addHead(node)
    else if (isNamed(node, 'body')) this.#addBody(node)
    else if (this.#inBody) this.#bodyNodes.push(node)
    else if (isOneOf(node, HEAD_ELEMENTS)) this.#headNodes.push(node)
    else if (isNamed(node, 'frameset')) this.#between.push(node)
    else if (isContent(node)) this.#bodyNodes.push(node)
    else if (this.#head) this.#between.push(node)
    else if (!isText(node)) this.#headNodes.push(node)
  }

  /** What `<html>` holds. A page of frames has no body. */
  parts(): ChildNode[] {
    const head = this.#head ?? new Element('head', {})
    setChildren(head, this.#headNodes)
    if (!this.#inBody && this.#between.some((node) => isNamed(node, 'frameset')))
      return [head, ...this.#between]
    const body = this.#body ?? new Element('body', {})
    setChildren(body, this.#bodyNodes)
    return [head, ...this.#between, body]
  }

  get #inBody(): boolean {
    return this.#body !== undefined || this.#bodyNodes.length > 0
  }

  /** A `<head>` that is not closed holds the page's content, too. */
  #addHead(head: Element): void {
    this.#head ??= head
    for (const child of head.children) {
      if (this.#inBody || isContent(child)) this.add(child)
      else this.#headNodes.push(child)
    }
  }

  #addBody(body: Element): void {
    this.#body ??= body
    for (const child of body.children) this.#bodyNodes.push(child)
  }
}

/** An element, or text that is more than white space. */
function isContent(node: AnyNode): boolean {
  return isTag(node) || (isText(node) && /[^ \t\n\f\r]/.test(node.data))
}

function isOneOf(node: AnyNode, names: ReadonlySet<string>): boolean {
  return isTag(node) && names.has(node.name)
}

function isNamed(node: AnyNode, name: string): node is Element {
  return isTag(node) && node.name === name
}

function setChildren(parent: ParentNode, children: ChildNode[]): void {
  parent.children = children
  for (const [i, child] of children.entries()) {
    child.parent = parent
    child.prev = children[i - 1] ?? null
    child.next = children[i + 1] ?? null
  }
}
