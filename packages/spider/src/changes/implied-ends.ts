/**
 * Elements that end without an end tag, as the HTML standard has it: `<p>` before the next block, `<td>` before the next cell. Who leaves such
 * an element out must see where it ends, or all that follows is left out with it.
 */

interface ImpliedEnd {
  /** Start tags before which the element ends. */
  readonly before: ReadonlySet<string>
  /** Elements inside it which may have such tags of their own, and whose end tags end it where they are around it. */
  readonly around: ReadonlySet<string>
}

const BLOCKS = new Set([
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
])
const CELLS = new Set(['td', 'th', 'tr', 'tbody', 'tfoot', 'thead'])
const TABLES = new Set(['table'])
const LISTS = new Set(['ul', 'ol', 'menu'])
const TERMS = new Set(['dt', 'dd'])

export const IMPLIED_ENDS: ReadonlyMap<string, ImpliedEnd> = new Map([
  ['p', { before: BLOCKS, around: BLOCKS }],
  ['td', { before: CELLS, around: TABLES }],
  ['th', { before: CELLS, around: TABLES }],
  ['tr', { before: new Set(['tr', 'tbody', 'tfoot', 'thead']), around: TABLES }],
  ['li', { before: new Set(['li']), around: LISTS }],
  ['dt', { before: TERMS, around: new Set(['dl']) }],
  ['dd', { before: TERMS, around: new Set(['dl']) }],
])
