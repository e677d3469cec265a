import { ELEMENT_DEPTH_MAX } from '../tree/parse-document.ts'
import { VOID_ELEMENTS } from '../tree/serialize.ts'

// HTML's own lists: https://html.spec.whatwg.org/#html-integration-point and #parsing-main-inforeign.
const INTEGRATION_POINTS = {
  svg: new Set(['foreignobject', 'desc', 'title']),
  math: new Set(['mi', 'mo', 'mn', 'ms', 'mtext']),
}
const BREAKS_OUT = new Set(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr
   ol p pre ruby s small span strong strike sub sup table tt u ul var`.split(/\s+/),
)
// End tags of elements that only HTML has: one without its start tag in here belongs to an element around the SVG.
const ENDS_OUTSIDE = new Set([
  ...BREAKS_OUT,
  ...'a article aside button footer form header label main nav section td th tr'.split(' '),
])

// In HTML these hold nothing but text.
const NAMED_AS_IN_HTML = new Set('title style script'.split(' '))

/**
 * Where in SVG or MathML the reader is.
 *
 * Only what stands within the outermost `<svg>` or `<math>` is kept, so that a page without them pays nothing.
 */
export class ForeignContent {
  /** Names of the open elements from the outermost `<svg>` or `<math>` on, and whose rules hold in each. */
  readonly #names: string[] = []
  /** How often each name is among them, as a hostile page has millions of end tags that end nothing. */
  readonly #open = new Map<string, number>()
  readonly #rules: Rules[] = []

  /** False once a tag was read that parsers may take in different ways. */
  isPlain = true

  /** True inside of an `<svg>` or `<math>`, at whatever depth. */
  get open(): boolean {
    return this.#names.length > 0
  }

  /** True where SVG's or MathML's rules hold; within `<foreignObject>` HTML's do again. */
  get current(): boolean {
    return this.#innermostRules !== 'html'
  }

  get #innermostRules(): Rules {
    return this.#rules.at(-1) ?? 'html'
  }

  /** A start tag was read. True when its element is SVG's or MathML's; `svg` and `math` are. */
  start(name: string, selfClosing: boolean): boolean {
    if (this.current && BREAKS_OUT.has(name)) this.#leave()
    const root = name === 'svg' || name === 'math'
    if (!root && !this.open) return false
    const foreign = root || this.current
    if (!foreign || NAMED_AS_IN_HTML.has(name)) this.isPlain = false
    const empty = foreign ? selfClosing : VOID_ELEMENTS.has(name)
    if (empty) return foreign
    if (this.#names.length >= ELEMENT_DEPTH_MAX) this.#cut(ELEMENT_DEPTH_MAX - 1) // as the tree does
    this.#rules.push(rulesWithin(name, this.#innermostRules))
    this.#names.push(name)
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
    return foreign
  }

  /** An end tag was read. */
  end(name: string): void {
    if (this.#open.has(name)) this.#cut(this.#names.lastIndexOf(name))
    else if (ENDS_OUTSIDE.has(name)) this.#leave()
    else this.isPlain = false
  }

  /** Back to where HTML's rules hold. */
  #leave(): void {
    this.isPlain = false
    while (this.current) this.#cut(this.#names.length - 1)
  }

  #cut(length: number): void {
    for (const name of this.#names.splice(length)) {
      const others = this.#open.get(name)! - 1
      if (others > 0) this.#open.set(name, others)
      else this.#open.delete(name)
    }
    this.#rules.length = length
  }
}

type Rules = 'html' | 'svg' | 'math'

function rulesWithin(name: string, around: Rules): Rules {
  if (name === 'svg' || name === 'math') return name
  return around !== 'html' && INTEGRATION_POINTS[around].has(name) ? 'html' : around
}
