/** The counters of a crawl as a table: Scrapy's keys, whole, so that they can be searched for. */

import type { StatValue } from '@webloom/core'
import { type Paint, painter } from './color.ts'
import { byteSize, durationInWords, grouped } from './figures.ts'
import { visible } from './sanitize.ts'

export interface StatsTableOptions {
  readonly color?: boolean
  /** Default 80. */
  readonly columns?: number
}

interface Row {
  readonly key: string
  readonly value: StatValue
  readonly figure: string
  /** What the figure means in words. */
  readonly note: string
}

/** Ends with a line end; empty when there are no stats. */
export function statsTable(
  stats: Readonly<Record<string, StatValue>>,
  options: StatsTableOptions = {},
): string {
  const { color = false, columns = 80 } = options
  const rows = Object.keys(stats)
    .sort()
    .map((key) => rowOf(key, stats[key]!))
  const layout = layoutOf(rows, columns)
  const groups = Map.groupBy(rows, ({ key }) => prefixOf(key))
  const paint = painter(color)
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => group.map((row) => rowText(row, layout, paint)).join(''))
    .join('\n')
}

// Keys without a prefix are about the crawl as a whole; they come first.
function prefixOf(key: string): string {
  return key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
}

function rowOf(key: string, value: StatValue): Row {
  return { key: visible(key), value, figure: figureOf(value), note: noteOf(key, value) }
}

function figureOf(value: StatValue): string {
  return typeof value === 'number' ? grouped(value) : visible(String(value))
}

const MEMORY_KEYS = new Set(['memusage/max', 'memusage/startup'])

function noteOf(key: string, value: StatValue): string {
  if (typeof value !== 'number') return ''
  if (key === 'elapsed_time_seconds' && value >= 60) return durationInWords(value)
  if ((/(^|[_/])bytes$/.test(key) || MEMORY_KEYS.has(key)) && value >= 1024) return byteSize(value)
  return ''
}

interface Layout {
  readonly keyWidth: number
  readonly figureWidth: number
}

const INDENT = '  '
const GAP = '  '

function layoutOf(rows: readonly Row[], columns: number): Layout {
  const numbers = rows.filter(({ value }) => typeof value === 'number')
  const figureWidth = Math.max(1, ...numbers.map(({ figure }) => figure.length))
  const noteWidth = Math.max(0, ...rows.map(({ note }) => note.length && note.length + GAP.length + 2))
  const room = columns - INDENT.length - GAP.length - figureWidth - noteWidth - 1
  const keyWidth = Math.min(Math.max(0, ...rows.map(({ key }) => key.length)), Math.max(8, room))
  return { keyWidth, figureWidth }
}

function rowText({ key, value, figure, note }: Row, { keyWidth, figureWidth }: Layout, paint: Paint): string {
  const isNumber = typeof value === 'number'
  const shownKey = paint(isBad(key, value) ? 'red' : 'dim', key)
  // A key wider than its column keeps its line; the value stands in the next one, in its own column.
  const between =
    key.length > keyWidth ? `\n${INDENT}${' '.repeat(keyWidth)}` : ' '.repeat(keyWidth - key.length)
  const shownFigure = isNumber ? figure.padStart(figureWidth) : figure
  return `${INDENT}${shownKey}${between}${GAP}${shownFigure}${note && `${GAP}(${note})`}\n`
}

const BAD_KEY = /^(log_count\/(ERROR|CRITICAL)|spider_exceptions\/|downloader\/exception_count$)/

function isBad(key: string, value: StatValue): boolean {
  return BAD_KEY.test(key) && value !== 0
}
