/**
 * An element that is left out, and where it ends. Many elements have no end tag, as the HTML standard allows it or as their authors forgot it.
 * Who does not see where such an element ends leaves out all that follows, and a change there is never seen. So in doubt it has ended.
 *
 *     its end tag                              ends it, unless one of its name is open inside
 *     an end tag of nothing that is inside     ends it: it is of what is around
 *     a start tag that cannot be inside        ends it: `<p>` before the next block, a cell before the next one
 */

const CELLS = ['td', 'th', 'tr', 'tbody', 'tfoot', 'thead']
const ITEMS = ['li', 'dt', 'dd']
const BLOCKS = [
  ...[
    'address',
    'article',
    'aside',
    'blockquote',
    'center',
    'details',
    'dialog',
    'dir',
    'div',
    'dl',
    'fieldset',
  ],
  ...['figcaption', 'figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'hgroup', 'hr'],
  ...['main', 'menu', 'nav', 'ol', 'p', 'pre', 'search', 'section', 'summary', 'table', 'ul'],
]

/** Start tags before which an element ends, by its name; before a cell all others do. */
const ENDS_BEFORE: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['p', new Set([...BLOCKS, ...ITEMS, ...CELLS])],
  ['li', new Set(['li', ...CELLS])],
  ['dt', new Set(['dt', 'dd', ...CELLS])],
  ['dd', new Set(['dt', 'dd', ...CELLS])],
  ['tr', new Set(['tr', 'tbody', 'tfoot', 'thead'])],
  ['table', new Set()],
])
const BEFORE_CELLS: ReadonlySet<string> = new Set(CELLS)
/** What may be inside, and has such tags of its own. */
const HOLDERS: ReadonlyMap<string, string> = new Map([
  ...CELLS.map((cell) => [cell, 'table'] as const),
  ['li', 'list'],
  ['dt', 'dl'],
  ['dd', 'dl'],
])
const KINDS: ReadonlyMap<string, string> = new Map([
  ['table', 'table'],
  ['ul', 'list'],
  ['ol', 'list'],
  ['menu', 'list'],
  ['dl', 'dl'],
])
/** Their end tags stand alone in many pages, and make an element of their own then. */
const STRAY = new Set(['p', 'br'])

export class LeftOutElement {
  readonly #tag: string
  readonly #before: ReadonlySet<string>
  /** What is open inside. */
  readonly #inside: string[] = []
  readonly #holders = new Map<string, number>()

  constructor(tag: string) {
    this.#tag = tag
    this.#before = ENDS_BEFORE.get(tag) ?? BEFORE_CELLS
  }

  /** Returns whether it ends before this start tag; if it does not, what the tag opens is inside. */
  startTag(tag: string, opens: boolean): boolean {
    const holder = HOLDERS.get(tag)
    if (this.#before.has(tag) && (holder === undefined || !this.#holders.get(holder))) return true
    if (opens) this.#open(tag)
    return false
  }

  /** Returns whether it ends with this end tag: with its own, or with one of what is around it. */
  endTag(tag: string): 'no' | 'own' | 'around' {
    const at = this.#inside.lastIndexOf(tag)
    if (at >= 0) {
      for (const closed of this.#inside.splice(at)) this.#count(closed, -1)
      return 'no'
    }
    if (tag === this.#tag) return 'own'
    return STRAY.has(tag) ? 'no' : 'around'
  }

  #open(tag: string): void {
    this.#inside.push(tag)
    this.#count(tag, 1)
  }

  #count(tag: string, by: number): void {
    const kind = KINDS.get(tag)
    if (kind !== undefined) this.#holders.set(kind, (this.#holders.get(kind) ?? 0) + by)
  }
}
