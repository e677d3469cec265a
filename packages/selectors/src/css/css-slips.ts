/**
 * Slips in a selector. css-what takes any character for the beginning of a name, and css-select stops compiling where nothing
 * can match any more: `div)`, `span*` and `a:visited::txt` would find nothing, and nobody would be told.
 */

/** Throws an error that says what is wrong with a selector, if css-select would take it for one that finds nothing. */
export function refuseSlips(selector: string): void {
  const outline = outlineOf(selector)
  for (const [slip, reason] of SLIPS) {
    const found = slip.exec(outline.text)
    if (found) throw new Error(reason(found[0]))
  }
  for (const argument of outline.selectors)
    for (const part of splitAtCommas(argument)) if (part.trim() !== '') refuseSlips(part)
}

const SLIPS: readonly [RegExp, (found: string) => string][] = [
  [/^\s*$/, () => 'a selector is missing'],
  [/[>+~]\s*$/, () => 'a selector is missing at the end'],
  [/::/, () => 'only ::text and ::attr(name) exist, at the end of a selector'],
  [/(?<!:):(?:text|attr)\b/i, (found) => `${found} has one colon; write :${found}`],
  [/\.(?![-_a-z\u0080-\uffff])/i, () => 'a class name is missing after the dot, or begins with a digit'],
  [/#(?![-\w\u0080-\uffff])/, () => 'an id is missing after the #'],
  [/(?:^|[\s>+~])\d\w*/, (found) => `${found.trim()} begins with a digit`],
  [/[([](?!$)|[)\]]/, (found) => `${found} has no counterpart`],
  [
    /[-\w\u0080-\uffff*]\*|\*[-\w\u0080-\uffff]/,
    (found) => `${found}: * stands before all else of an element`,
  ],
  [/[!@$%^&;{}/?=]/, (found) => `${found} has no meaning here`],
]

interface Outline {
  /** The selector without strings, escapes and arguments, in which those characters mean nothing. */
  readonly text: string
  /** The arguments that are selectors themselves. */
  readonly selectors: readonly string[]
}

const OF_SELECTORS = /:(?:not|is|matches|where|has)\(([^()]*)\)/gi

function outlineOf(selector: string): Outline {
  const plain = selector.replace(/\\./gs, 'x').replace(/"[^"]*"|'[^']*'/g, '')
  let text = plain.replace(/\[\s*[-\w\u0080-\uffff|*][^[\]]*\]/g, '.attribute')
  const selectors: string[] = []
  while (/\([^()]*\)/.test(text)) {
    for (const [, argument] of text.matchAll(OF_SELECTORS)) selectors.push(argument!)
    text = text.replace(/\([^()]*\)/g, '')
  }
  return { text, selectors }
}

/** Returns the parts between the commas that stand outside of brackets, parentheses and strings. */
export function splitAtCommas(query: string): string[] {
  const parts: string[] = []
  let start = 0
  let depth = 0
  for (let i = 0; i < query.length; i++) {
    const c = query[i]!
    if (c === '\\') i++
    else if (c === '"' || c === "'") i = endOfString(query, i)
    else if (c === '(' || c === '[') depth++
    else if (c === ')' || c === ']') depth--
    else if (c === ',' && depth === 0) {
      parts.push(query.slice(start, i))
      start = i + 1
    }
  }
  return [...parts, query.slice(start)]
}

function endOfString(query: string, start: number): number {
  for (let i = start + 1; i < query.length; i++) {
    if (query[i] === '\\') i++
    else if (query[i] === query[start]) return i
  }
  throw new Error(`a string that begins with ${query.slice(start, start + 20)} does not end`)
}
