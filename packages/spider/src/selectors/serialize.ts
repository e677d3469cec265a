import type { AnyNode, Element } from 'domhandler'
import type { SelectorType } from './parse-document.ts'

export const VOID_ELEMENTS = new Set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
  ),
)
const RAW_TEXT = new Set('script style xmp iframe noembed noframes plaintext'.split(' '))
// Written without a value, as libxml2 does (htmlBooleanAttrs).
const BOOLEAN = new Set(
  'checked compact declare defer disabled ismap multiple nohref noresize noshade nowrap readonly selected'.split(
    ' ',
  ),
)

/** A node with all it holds as HTML or XML, as lxml's `tostring` writes it where the two trees allow. */
export function outerMarkup(node: AnyNode, type: SelectorType): string {
  switch (node.type) {
    case 'text':
      return rawText(node.parent, type) ? node.data : escapeText(node.data)
    case 'comment':
      return `<!--${node.data}-->`
    case 'directive':
      return `<${node.data}>`
    case 'root':
    case 'cdata':
      return childMarkup(node.children, type)
    default:
      return elementMarkup(node, type)
  }
}

/** All text below a node, in document order. */
export function textContent(node: AnyNode): string {
  if (node.type === 'text') return node.data
  if (!('children' in node)) return ''
  let text = ''
  for (const child of node.children) text += textContent(child)
  return text
}

function elementMarkup(element: Element, type: SelectorType): string {
  let tag = `<${element.name}`
  for (const name in element.attribs) {
    const value = element.attribs[name]!
    const bare = type === 'html' && BOOLEAN.has(name) && (value === '' || value === name)
    tag += bare ? ` ${name}` : ` ${name}=${quoted(value, type)}`
  }
  if (type === 'html' && VOID_ELEMENTS.has(element.name)) return `${tag}>`
  if (type === 'xml' && element.children.length === 0) return `${tag}/>`
  return `${tag}>${childMarkup(element.children, type)}</${element.name}>`
}

// Recursion is safe: ELEMENT_DEPTH_MAX bounds the tree.
function childMarkup(children: readonly AnyNode[], type: SelectorType): string {
  let markup = ''
  for (const child of children) markup += outerMarkup(child, type)
  return markup
}

function rawText(parent: AnyNode | null, type: SelectorType): boolean {
  return type === 'html' && parent !== null && 'name' in parent && RAW_TEXT.has(parent.name)
}

function escapeText(text: string): string {
  return /[&<>]/.test(text)
    ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : text
}

function quoted(value: string, type: SelectorType): string {
  const escaped = escapeText(value)
  if (!value.includes('"')) return `"${escaped}"`
  return type === 'html' && !value.includes("'") ? `'${escaped}'` : `"${escaped.replaceAll('"', '&quot;')}"`
}
