import { ELEMENT_DEPTH_MAX } from './parse-document.ts'
import { VOID_ELEMENTS } from './serialize.ts'

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
  ...'a article aside button footer form header html label main nav section td th tr'.split(' '),
])

/**
 * Where in SVG or MathML the reader is.
 *
 * Only what stands within the outermost `<svg>` or `<math>` is kept, so that a page without them pays nothing.
 */
export class ForeignContent {
  /** Names of the open elements from the outermost `<svg>` or `<math>` on, and whose rules hold in each. */
  readonly #names: string[] = []
  readonly #rules: Rules[] = []

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

  /** A start tag was read; outside of foreign content only those of `svg` and `math` are told. */
  start(name: string, selfClosing: boolean): void {
    if (this.current && BREAKS_OUT.has(name)) this.#leave()
    const root = name === 'svg' || name === 'math'
    if (!root && !this.open) return
    const empty = root || this.current ? selfClosing : VOID_ELEMENTS.has(name)
    if (empty) return
    if (this.#names.length >= ELEMENT_DEPTH_MAX) this.#cut(ELEMENT_DEPTH_MAX - 1) // as the tree does
    this.#rules.push(rulesWithin(name, this.#innermostRules))
    this.#names.push(name)
  }

  /** An end tag was read. */
  end(name: string): void {
    const at = this.#names.lastIndexOf(name)
    if (at >= 0) this.#cut(at)
    else if (ENDS_OUTSIDE.has(name)) this.#leave()
  }

  /** Back to where HTML's rules hold. */
  #leave(): void {
    while (this.current) this.#cut(this.#names.length - 1)
  }

  #cut(length: number): void {
    this.#names.length = length
    this.#rules.length = length
  }
}

type Rules = 'html' | 'svg' | 'math'

function rulesWithin(name: string, around: Rules): Rules {
  if (name === 'svg' || name === 'math') return name
  return around !== 'html' && INTEGRATION_POINTS[around].has(name) ? 'html' : around
}
