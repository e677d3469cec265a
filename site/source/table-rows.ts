import type { MarkdownRenderer } from 'vitepress'

type Tokens = ReturnType<MarkdownRenderer['parse']>

/**
 * Gives each row of a table whose first cell is a name, or several, an anchor of that name, so that it can be linked and
 * found; and each cell its column’s title, which is shown beside it where the screen is too narrow for a table.
 */
export function tableRows(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('table-rows', ({ tokens }) => {
    const taken = new Set(tokens.flatMap((token) => token.attrGet('id') ?? []))
    let table = tokens[0]
    let titles: string[] = []
    let column = 0
    let [rows, named] = [0, 0]
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'table_open') {
        table = token
        titles = []
        rows = named = 0
      }
      if (token.type === 'th_open') titles.push(tokens[at + 1]!.content.replaceAll('`', ''))
      if (token.type === 'tr_open') column = 0
      if (token.type === 'td_open') {
        if (titles[column]) token.attrSet('data-title', titles[column]!)
        if (column === 0) rows++
        if (column === 0 && nameRow(tokens, at, taken)) named++
        column++
      }
      if (token.type === 'table_close') table?.attrSet('class', classesOf(titles, named / rows).join(' '))
    }
  })
  // VitePress’s own rule writes none of a table’s attributes. It can be reached by keys, as it may have to be scrolled.
  markdown.renderer.rules.table_open = (tokens, at, options, _, renderer) => {
    tokens[at]!.attrSet('tabindex', '0')
    return renderer.renderToken(tokens, at, options)
  }
}

function classesOf(titles: readonly string[], namedShare: number): string[] {
  const isList = namedShare > NAMED_SHARE
  return [
    ...(titles.join('') === '' ? ['headless'] : []),
    ...(isList ? ['named'] : []),
    ...(isList && titles.length >= WIDE_COLUMNS ? ['wide'] : []),
  ]
}

/** A table of names may have a row for several of them together. */
const NAMED_SHARE = 0.7

/** As many make a table wider than its page: the theme shows it as a list. */
const WIDE_COLUMNS = 5

/** The row’s anchor is its first name; the search knows it by all of them. */
function nameRow(tokens: Tokens, cell: number, taken: Set<string>): boolean {
  const [first, ...more] = namesIn(tokens[cell + 1]!).filter((name) => !taken.has(name))
  if (first === undefined) return false
  for (const name of [first, ...more]) taken.add(name)
  tokens[cell - 1]!.attrSet('id', first)
  tokens[cell - 1]!.attrSet('data-names', [first, ...more].join(' '))
  return true
}

/** Nothing when the cell holds anything but names in code. */
function namesIn({ children }: Tokens[number]): string[] {
  const isNames = (children ?? []).every(
    ({ type, content }) => type === 'code_inline' || (type === 'text' && /^[\s,]*$/.test(content)),
  )
  return isNames
    ? (children ?? []).flatMap(({ type, content }) =>
        type === 'code_inline' && /^\S+$/.test(content) ? content : [],
      )
    : []
}
