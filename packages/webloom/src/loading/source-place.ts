/** A place in a user's file, as messages show it. */

import { relative, sep } from 'node:path'
import { visible } from '../terminal/sanitize.ts'

/** A path in one line, as the user would type it: relative when it lies below the current folder. */
export function shownPath(path: string): string {
  const below = relative(process.cwd(), path)
  return visible(below === '' || below.startsWith(`..${sep}`) || below === '..' ? path : below)
}

export interface SourcePlace {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** From 1; absent when only the line is known. */
  readonly column?: number | undefined
}

/** `spiders/quotes.ts:4:1` */
export function shownPlace({ path, line, column }: SourcePlace): string {
  return `${shownPath(path)}:${line}${column === undefined ? '' : `:${column}`}`
}

/** The text of a line. */
export function lineOf(source: string, { line }: Pick<SourcePlace, 'line'>): string {
  return source.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1] ?? ''
}

// A minified file has one line of a megabyte.
const LINE_CHARS_MAX = 160

/** The line itself with its number, and a caret below the column. */
export function sourceExcerpt(source: string, place: SourcePlace): string {
  const { line, column } = place
  const text = lineOf(source, place).replaceAll('\t', ' ').slice(0, LINE_CHARS_MAX)
  const head = `  ${line} | `
  if (column === undefined || column > text.length + 1) return `${head}${visible(text)}`
  // Escapes before the column are wider than what they stand for.
  const before = visible(text.slice(0, column - 1)).length
  return `${head}${visible(text)}\n${' '.repeat(head.length - 2)}| ${' '.repeat(before)}^`
}
