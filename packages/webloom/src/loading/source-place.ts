/** A place in a user's file, as messages show it. */

import { relative, sep } from 'node:path'
import { visible } from '../terminal/sanitize.ts'

/** A path as the user would type it: relative when it lies below the current folder. */
export function shownPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below.startsWith(`..${sep}`) || below === '..' ? path : below
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

// A minified file has one line of a megabyte.
const LINE_CHARS_MAX = 160

/** The line itself with its number, and a caret below the column. */
export function sourceExcerpt(source: string, { line, column }: SourcePlace): string {
  const text = source.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1] ?? ''
  const head = `  ${line} | `
  const shown = visible(text.replaceAll('\t', ' ').slice(0, LINE_CHARS_MAX))
  if (column === undefined || column > LINE_CHARS_MAX) return `${head}${shown}`
  return `${head}${shown}\n${' '.repeat(head.length - 2)}| ${' '.repeat(column - 1)}^`
}
