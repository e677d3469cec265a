import { createRequire } from 'node:module'
import { type Document, DomHandler } from 'domhandler'
import { Parser } from 'htmlparser2'
import type { Parser as Parse5Parser, ParserOptions, Token } from 'parse5'
import type { Htmlparser2TreeAdapterMap } from 'parse5-htmlparser2-tree-adapter'

/**
 * Which parser builds the tree of an HTML page. `htmlparser2`, the default, is several times as fast and keeps the
 * tags as they are written. `parse5` builds the tree a browser has: `<tbody>` is added, misplaced tags are moved,
 * `<html>` and `<body>` always exist.
 */
export type HtmlParser = 'htmlparser2' | 'parse5'

/** How a text is read. */
export type SelectorType = 'html' | 'xml'

// Chrome's limit too (kMaximumHTMLParserDOMTreeDepth): what is nested deeper becomes a sibling there. Both parsers take
// time quadratic in the depth: 100 000 nested <div>s (half a megabyte) would hold the process for 8 s or for minutes.
export const ELEMENT_DEPTH_MAX = 512

export function parseDocument(text: string, type: SelectorType, htmlParser: HtmlParser): Document {
  if (type === 'html' && htmlParser === 'parse5') return parseWithParse5(text)
  const handler = new ShallowHandler(undefined, { xmlMode: type === 'xml' })
  new ShallowParser(handler, type === 'xml').end(text)
  return handler.root
}

/** Knows how deep it is, and makes CDATA and the text around it one text node, as lxml does. */
class ShallowHandler extends DomHandler {
  get depth(): number {
    return this.tagStack.length - 1 // the document itself is on the stack
  }

  override oncdatastart(): void {}

  override oncdataend(): void {}
}

/** Closes the deepest element before it would open another one below ELEMENT_DEPTH_MAX. */
class ShallowParser extends Parser {
  readonly #handler: ShallowHandler
  // Where the newest start tag's name stands: end tags are told by place. At the greatest depth it is the deepest
  // element's name, because an element without content (<br>) is never opened there.
  #nameStart = 0
  #nameEnd = 0

  constructor(handler: ShallowHandler, xmlMode: boolean) {
    super(handler, { xmlMode })
    this.#handler = handler
  }

  override onopentagname(start: number, endIndex: number): void {
    if (this.#handler.depth >= ELEMENT_DEPTH_MAX) super.onclosetag(this.#nameStart, this.#nameEnd)
    super.onopentagname(start, endIndex)
    this.#nameStart = start
    this.#nameEnd = endIndex
  }
}

type Parse5Options = ParserOptions<Htmlparser2TreeAdapterMap>
let shallowParse5: ((text: string) => Document) | undefined

// Loaded when first asked for: 40 ms that a crawl with the default parser does not pay.
function parseWithParse5(text: string): Document {
  shallowParse5 ??= loadParse5()
  return shallowParse5(text)
}

function loadParse5(): (text: string) => Document {
  const require = createRequire(import.meta.url)
  const { Parser: Base } = require('parse5') as typeof import('parse5')
  const { adapter } =
    require('parse5-htmlparser2-tree-adapter') as typeof import('parse5-htmlparser2-tree-adapter')

  class ShallowParse5 extends (Base as typeof Parse5Parser<Htmlparser2TreeAdapterMap>) {
    override onStartTag(token: Token.TagToken): void {
      if (this.openElements.stackTop >= ELEMENT_DEPTH_MAX) this.openElements.pop()
      super.onStartTag(token)
    }
  }

  const options: Parse5Options = {
    scriptingEnabled: false, // else the links in <noscript> would be text
    treeAdapter: {
      ...adapter,
      // What a <template> holds is its content, as in the other tree; a document of its own hides it from `template a`.
      setTemplateContent() {},
      getTemplateContent: (template) => template as unknown as Htmlparser2TreeAdapterMap['documentFragment'],
    },
  }
  // The tree is made of domhandler 5's nodes; they differ from those of domhandler 6 in the declared enum only.
  return (text) => ShallowParse5.parse(text, options) as unknown as Document
}
