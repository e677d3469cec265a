import { type AnyNode, type Element, isTag } from 'domhandler'
import type { MarkupType } from './parse-document.ts'
import { inheritedDeclarations, isDeclaration } from './xml-names.ts'

export const VOID_ELEMENTS = new Set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
  ),
)
const RAW_TEXT = new Set('script style xmp iframe noembed noframes plaintext'.split(' '))
// Written without a value, whatever it is, as libxml2 does (htmlBooleanAttrs).
const BOOLEAN = new Set(
  'checked compact declare defer disabled ismap multiple nohref noresize noshade nowrap readonly selected'.split(
    ' ',
  ),
)

const URLS = new Set(['href', 'action', 'src'])

/** Returns a node with all it holds as HTML or XML, as lxml's `tostring` writes it where the two trees allow. */
export function outerMarkup(node: AnyNode, type: MarkupType): string {
  // What stands alone must say what its prefixes mean.
  return isTag(node) && type === 'xml'
    ? elementMarkup(node, type, inheritedDeclarations(node))
    : nodeMarkup(node, type)
}

function nodeMarkup(node: AnyNode, type: MarkupType): string {
  switch (node.type) {
    case 'text':
      return rawText(node.parent, type) ? node.data : escapeText(node.data)
    case 'comment':
      return `<!--${node.data}-->`
    case 'directive':
      // In XML it ends with ?>, which htmlparser2 leaves out.
      return type === 'xml' && node.data.startsWith('?') ? `<${node.data}?>` : `<${node.data}>`
    case 'root':
    case 'cdata':
      return childMarkup(node.children, type)
    default:
      return elementMarkup(node, type)
  }
}

/** Returns a number, truth or string that XPath computed, as parsel writes it: Python's float, 1 and 0. */
export function scalarText(value: string | number | boolean): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'number' ? floatText(value) : value
}

function floatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  const size = Math.abs(value)
  if (size >= 1e16 || (size > 0 && size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  }
  const sign = Object.is(value, -0) ? '-' : ''
  return `${sign}${value}${Number.isInteger(value) ? '.0' : ''}`
}

/** Returns all text below a node, in document order. */
export function textContent(node: AnyNode): string {
  if (node.type === 'text') return node.data
  if (!('children' in node)) return ''
  let text = ''
  for (const child of node.children) text += textContent(child)
  return text
}

function elementMarkup(
  element: Element,
  type: MarkupType,
  inherited: Readonly<Record<string, string>> = {},
): string {
  const attributes = type === 'xml' ? xmlAttributes(element, inherited) : htmlAttributes(element)
  const tag = `<${element.name}${attributes}`
  if (type === 'html' && VOID_ELEMENTS.has(element.name)) return `${tag}>`
  if (type === 'xml' && element.children.length === 0) return `${tag}/>`
  return `${tag}>${childMarkup(element.children, type)}</${element.name}>`
}

function htmlAttributes({ name: tag, attribs }: Element): string {
  let markup = ''
  for (const name in attribs) {
    const value = attribs[name]!
    const isUrl = URLS.has(name) || (name === 'name' && tag === 'a')
    markup += BOOLEAN.has(name) ? ` ${name}` : ` ${name}=${quoted(isUrl ? urlText(value) : value, 'html')}`
  }
  return markup
}

/** Without white space before it, and all that is not printable ASCII as its UTF-8 in percent signs, as libxml2 2.14 writes it. */
function urlText(value: string): string {
  return value
    .replace(/^[ \t\n\r]+/, '')
    .replace(/[^\x21-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()))
}

function xmlAttributes({ attribs }: Element, inherited: Readonly<Record<string, string>>): string {
  const written = Object.entries(attribs)
  const declared = written.filter(([name]) => isDeclaration(name))
  const others = written.filter(([name]) => !isDeclaration(name))
  return [...declared, ...Object.entries(inherited), ...others]
    .map(([name, value]) => ` ${name}=${quoted(value, 'xml')}`)
    .join('')
}

// Recursion is safe: ELEMENT_DEPTH_MAX bounds the tree.
function childMarkup(children: readonly AnyNode[], type: MarkupType): string {
  let markup = ''
  for (const child of children) markup += nodeMarkup(child, type)
  return markup
}

function rawText(parent: AnyNode | null, type: MarkupType): boolean {
  return type === 'html' && parent !== null && 'name' in parent && RAW_TEXT.has(parent.name)
}

function escapeText(text: string): string {
  return /[&<>]/.test(text)
    ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : text
}

function quoted(value: string, type: MarkupType): string {
  const escaped = escapeText(value)
  if (!value.includes('"')) return `"${escaped}"`
  return type === 'html' && !value.includes("'") ? `'${escaped}'` : `"${escaped.replaceAll('"', '&quot;')}"`
}
