import { createRequire } from 'node:module'
import { type ChildNode, type Document, DomHandler } from 'domhandler'
import { Parser } from 'htmlparser2'
import type { Parser as Parse5Parser, Tokenizer as Parse5Tokenizer, ParserOptions, Token } from 'parse5'
import type { Htmlparser2TreeAdapterMap } from 'parse5-htmlparser2-tree-adapter'
import { completePage } from './page-skeleton.ts'

/**
 * Which parser builds the tree of an HTML page. `htmlparser2`, the default, is several times as fast and keeps the
 * tags as they are written, within `<html>`, `<head>` and `<body>`. `parse5` builds the tree a browser has: `<tbody>` is
 * added, misplaced tags are moved.
 */
export type HtmlParser = 'htmlparser2' | 'parse5'

/** How markup is read. */
export type MarkupType = 'html' | 'xml'

// Chrome's limit too (kMaximumHTMLParserDOMTreeDepth): what is nested deeper becomes a sibling there. Both parsers take
// time quadratic in the depth: 100 000 nested <div>s (half a megabyte) would hold the process for 8 s or for minutes.
export const ELEMENT_DEPTH_MAX = 512

/** How large a tree may become. */
export interface TreeBound {
  /** Elements, texts and attributes; what the text holds beyond them is not read. */
  readonly nodesMax: number
  /** There was more. */
  onExceeded(): void
}

/** Returns the tree of a text; that of an HTML page as `htmlParser` builds it. */
export function parseDocument(
  text: string,
  type: MarkupType,
  htmlParser: HtmlParser,
  bound?: TreeBound,
): Document {
  const size = new TreeSize(bound)
  if (type === 'html' && htmlParser === 'parse5') return parseWithParse5(text, size)
  const handler = new ShallowHandler(size, type === 'xml')
  new ShallowParser(handler, size, type === 'xml').end(withOneLineEnd(text))
  if (type === 'html') completePage(handler.root)
  return handler.root
}

/** Makes each line end a single line feed, as HTML and XML want it read and parse5 does by itself. */
export function withOneLineEnd(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}

/** Counts what goes into a tree, and stops its parser at the bound. */
class TreeSize {
  readonly #bound: TreeBound | undefined
  #nodes = 0
  #stop = () => {}

  constructor(bound: TreeBound | undefined) {
    this.#bound = bound
  }

  /** @param stop makes the parser read no further */
  stopWith(stop: () => void): void {
    this.#stop = stop
  }

  grow(nodes: number): void {
    if (!this.#bound) return
    const before = this.#nodes
    this.#nodes += nodes
    if (this.#nodes <= this.#bound.nodesMax) return
    this.#stop()
    if (before <= this.#bound.nodesMax) this.#bound.onExceeded()
  }
}

/** Knows how deep it is, and makes CDATA and the text around it one text node, as lxml does. */
class ShallowHandler extends DomHandler {
  readonly #size: TreeSize

  constructor(size: TreeSize, xmlMode: boolean) {
    super(undefined, { xmlMode })
    this.#size = size
  }

  get depth(): number {
    return this.tagStack.length - 1 // the document itself is on the stack
  }

  protected override addNode(node: ChildNode): void {
    super.addNode(node)
    this.#size.grow(1)
  }

  override oncdatastart(): void {}

  override oncdataend(): void {}
}

/** Closes the deepest element before it would open another one below ELEMENT_DEPTH_MAX. */
class ShallowParser extends Parser {
  readonly #handler: ShallowHandler
  readonly #size: TreeSize
  // Where the newest start tag's name stands: end tags are told by place. At the greatest depth it is the deepest
  // element's name, because an element without content (<br>) is never opened there.
  #nameStart = 0
  #nameEnd = 0

  constructor(handler: ShallowHandler, size: TreeSize, xmlMode: boolean) {
    super(handler, { xmlMode })
    this.#handler = handler
    this.#size = size
    size.stopWith(() => this.pause())
  }

  override onopentagname(start: number, endIndex: number): void {
    if (this.#handler.depth >= ELEMENT_DEPTH_MAX) super.onclosetag(this.#nameStart, this.#nameEnd)
    super.onopentagname(start, endIndex)
    this.#nameStart = start
    this.#nameEnd = endIndex
  }

  override onattribend(...attribute: Parameters<Parser['onattribend']>): void {
    super.onattribend(...attribute)
    this.#size.grow(1)
  }
}

type Parse5Options = ParserOptions<Htmlparser2TreeAdapterMap>
type Parse = (text: string, size: TreeSize) => Document
let shallowParse5: Parse | undefined

// parse5 looks through a tag's attributes for each one that it reads: 50 000 of them would hold the process for ten
// seconds. What stands beyond these is left out.
const TAG_ATTRIBUTES_MAX = 1000

// Loaded when first asked for: 40 ms that a crawl with the default parser does not pay.
function parseWithParse5(text: string, size: TreeSize): Document {
  shallowParse5 ??= loadParse5()
  return shallowParse5(text, size)
}

function loadParse5(): Parse {
  const require = createRequire(import.meta.url)
  const { Parser: Base, Tokenizer } = require('parse5') as typeof import('parse5')
  const { adapter } =
    require('parse5-htmlparser2-tree-adapter') as typeof import('parse5-htmlparser2-tree-adapter')

  class FewAttributesTokenizer extends (Tokenizer as typeof Parse5Tokenizer) {
    protected override _leaveAttrName(): void {
      const { currentToken } = this
      if (currentToken && 'attrs' in currentToken && currentToken.attrs.length >= TAG_ATTRIBUTES_MAX) return
      super._leaveAttrName()
    }
  }

  class ShallowParse5 extends (Base as typeof Parse5Parser<Htmlparser2TreeAdapterMap>) {
    constructor(options: Parse5Options) {
      super(options)
      this.tokenizer = new FewAttributesTokenizer(this.options, this)
    }

    override onStartTag(token: Token.TagToken): void {
      if (this.openElements.stackTop >= ELEMENT_DEPTH_MAX) this.openElements.pop()
      super.onStartTag(token)
    }
  }

  const optionsFor = (size: TreeSize): Parse5Options => ({
    scriptingEnabled: false, // else the links in <noscript> would be text
    treeAdapter: {
      ...adapter,
      createElement(name, namespace, attributes) {
        size.grow(1 + attributes.length)
        return adapter.createElement(name, namespace, attributes)
      },
      createCommentNode(text) {
        size.grow(1)
        return adapter.createCommentNode(text)
      },
      insertText(parent, text) {
        // It comes word by word.
        if (parent.children.at(-1)?.type !== 'text') size.grow(1)
        adapter.insertText(parent, text)
      },
      // What a <template> holds is its content, as in the other tree; a document of its own hides it from `template a`.
      setTemplateContent() {},
      getTemplateContent: (template) => template as unknown as Htmlparser2TreeAdapterMap['documentFragment'],
    },
  })
  return (text, size) => {
    const parser = new ShallowParse5(optionsFor(size))
    size.stopWith(() => parser.tokenizer.pause())
    parser.tokenizer.write(text, true)
    // The tree is made of domhandler 5's nodes; they differ from those of domhandler 6 in the declared enum only.
    return parser.document as unknown as Document
  }
}
