/** The rows' figures as Markdown. */

import { CPU_STARTED, type Figures } from './figures.ts'
import type { Row } from './rows.ts'

export interface Result {
  readonly row: Row
  /** Whose code ran. */
  readonly code: string
  /** null: the code cannot run the row, or did not get to its end. */
  readonly figures: Figures | null
}

/** In the table of all rows; the others stand below it, for the rows that have them. */
const COLUMNS = [
  'pages/s',
  'CPU ms',
  CPU_STARTED,
  'queue µs',
  'queue scripts',
  'XADD',
  'filter µs',
  'filter scripts',
  'peak MB',
]
/** What is told as a multiple of another row's. */
const COMPARED = [
  'seconds',
  'seconds of the whole process',
  'pages/s',
  'CPU ms',
  CPU_STARTED,
  'queue µs',
  'filter µs',
  'peak MB',
]

export function resultsTable(results: readonly Result[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const table = results.map(({ row, code, figures }) =>
    line([row.title, code, ...COLUMNS.map((name) => (figures ? shown(figures[name]) : 'n/a'))]),
  )
  const head = [line(['row', 'code', ...COLUMNS]), line(['---', '---', ...COLUMNS.map(() => '---:')])]
  const more = results.map((result) => `- ${crawlOf(result)}: ${otherFigures(result, results).join('; ')}\n`)
  return `${[...head, ...table].join('')}\nAll but pages/s and peak MB are for one page. CPU ms is a worker's whole process; ${CPU_STARTED}: from its first page on.\n\n${more.join('')}`
}

function crawlOf({ row, code }: Result): string {
  const { title, key, hosts, pagesPerHost, workers } = row
  return `${title} (${key}; ${hosts} hosts × ${pagesPerHost} pages, workers: ${workers}), ${code}`
}

function otherFigures(result: Result, results: readonly Result[]): string[] {
  if (!result.figures) return ['n/a']
  return [
    ...Object.entries(result.figures)
      .filter(([name]) => !COLUMNS.includes(name))
      .map(([name, figure]) => `${name} ${shown(figure)}`),
    ...timesAnotherRow(result, results),
    ...timesOtherCode(result, results),
  ]
}

function timesAnotherRow({ row, code, figures }: Result, results: readonly Result[]): string[] {
  const other = results.find((one) => one.row.key === row.beside && one.code === code)
  return times(figures, other?.figures, `× ${row.beside}`)
}

/** With another checkout's code run before, what the last one takes of that. */
function timesOtherCode({ row, code, figures }: Result, results: readonly Result[]): string[] {
  const first = results.find((one) => one.row.key === row.key)!
  return first.code === code ? [] : times(figures, first.figures, `× ${first.code}`)
}

function times(figures: Figures | null, others: Figures | null | undefined, unit: string): string[] {
  if (!figures || !others) return []
  return COMPARED.filter((name) => figures[name] !== undefined && others[name]).map(
    (name) => `${name} ${(figures[name]! / others[name]!).toFixed(2)} ${unit}`,
  )
}

function shown(figure: number | undefined): string {
  if (figure === undefined) return ''
  if (Number.isInteger(figure)) return String(figure)
  return figure.toFixed(figure < 1 ? 3 : figure < 10 ? 2 : figure < 100 ? 1 : 0)
}
