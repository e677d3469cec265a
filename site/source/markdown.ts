/** What a Markdown text says of itself: enough for a table of contents and for links. */

const FENCE = /^(```|~~~)/

/** Of the first heading. */
export function titleOf(body: string): string | undefined {
  return headingsOf(body)[0]?.text
}

/** The first paragraph that is neither heading, list, table, code nor comment, as one line without links. */
export function summaryOf(body: string): string {
  const prose = linesOutsideCode(body.replaceAll(/<!--[\s\S]*?-->/g, '')).join('\n')
  const paragraph = prose
    .split(/\n\s*\n/)
    .find((block) => /^\s*[\w“"*`[]/.test(block) && !/^\s*(?:#|\||\* )/.test(block))
  return (paragraph ?? '')
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

/** As a line of a list; what would go on ends with a full stop. */
export function firstSentence(text: string): string {
  const line = text.split(/\n\s*\n/)[0]!.replaceAll(/\s+/g, ' ')
  return /^.*?[.:;](?=\s|$)/.exec(line)?.[0].replace(/[:;]$/, '.') ?? line
}

export interface Heading {
  readonly level: number
  /** Without marks of code. */
  readonly text: string
  /** As GitHub and the site make it: `#a-part`, for the second of a name `#a-part-1`. */
  readonly anchor: string
}

export function headingsOf(body: string): Heading[] {
  const counts = new Map<string, number>()
  return linesOutsideCode(body).flatMap((line) => {
    const [, marks, written] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) ?? []
    if (marks === undefined) return []
    const text = written!.replaceAll(/`([^`]*)`/g, '$1').replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    const slug = slugOf(text)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return [{ level: marks.length, text, anchor: count === 0 ? slug : `${slug}-${count}` }]
  })
}

/** GitHub’s rule, so that one link works there and in the site. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Puts together what `code` makes of code, in blocks and within sentences, and `prose` of all else. */
export function outsideCode(
  text: string,
  code: (text: string) => string,
  prose: (text: string) => string,
): string {
  return splitCode(text)
    .map(({ text, isCode }) => (isCode ? code(text) : prose(text)))
    .join('')
}

function splitCode(text: string): { text: string; isCode: boolean }[] {
  const parts: { text: string; isCode: boolean }[] = []
  let at = 0
  for (const found of text.matchAll(CODE)) {
    parts.push({ text: text.slice(at, found.index), isCode: false }, { text: found[0], isCode: true })
    at = found.index + found[0].length
  }
  return [...parts, { text: text.slice(at), isCode: false }]
}

/** A block between fences, or a span between as many backticks; a span does not reach over an empty line. */
const CODE = /^(```|~~~)[\s\S]*?^\1[ \t]*$|(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])+?(?<!`)\2(?!`)/gm

function linesOutsideCode(body: string): string[] {
  let fence: string | undefined
  return body.split('\n').filter((line) => {
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined && (fence === undefined || fence === mark)) {
      fence = fence === undefined ? mark : undefined
      return false
    }
    return fence === undefined
  })
}
