import type { FileHandle } from 'node:fs/promises'
import { stringify } from 'csv-stringify/sync'
import { writtenItem } from '../../scraping/written-item.ts'
import { resumeCsv } from './csv-file.ts'
import { type FieldNames, recordOf } from './item-fields.ts'
import type { FormatReports, ItemFormat } from './item-format.ts'
import { escapedCell } from './terminal-text.ts'

export interface CsvFormatOptions {
  /** The columns. Absent: those of the first item. A file that is appended to keeps its own. */
  readonly fields?: FieldNames | undefined
  readonly forTerminal?: boolean
  readonly reports: FormatReports
}

interface Column {
  readonly name: string
  /** Absent for a column of an existing file that FEED_EXPORT_FIELDS does not name: it stays empty. */
  readonly field?: string
}

// Names of fields may come from pages. Beyond this number they are counted together.
const LEFT_OUT_NAMES_MAX = 100

const OTHERS = '(others)'

/** Writes a row for each item, under a header, with the line ends of RFC 4180. */
export class CsvFormat implements ItemFormat {
  readonly #options: CsvFormatOptions
  readonly #leftOut = new Map<string, number>()
  #columns: readonly Column[] | undefined
  /** The fields that have a column, or that were left out on purpose. */
  #known = new Set<string>()

  constructor(options: CsvFormatOptions) {
    this.#options = options
  }

  async resume(file: FileHandle, size: number): Promise<void> {
    const { fields, reports } = this.#options
    const header = await resumeCsv(file, size, reports)
    if (!fields) return this.#setColumns(header.map((name) => ({ name, field: name })))
    const fieldOf = new Map([...fields].map(([field, name]) => [name, field]))
    this.#setColumns(header.map((name) => ({ name, ...fieldNamed(fieldOf.get(name)) })))
  }

  text(items: readonly unknown[]): string {
    const rows: string[][] = []
    for (const item of items) {
      try {
        rows.push(...this.#rows(item))
      } catch (error) {
        this.#options.reports.lost(item, error)
      }
    }
    if (rows.length === 0) return ''
    return stringify(rows, {
      record_delimiter: 'windows',
      // Quotes a lone LF, too: readers differ in whether it ends a row.
      quote_record_delimiter: true,
      // A row of one empty cell would be a blank line, which readers skip.
      quoted_empty: this.#columns?.length === 1,
    })
  }

  end(): string {
    const { uri, logger } = this.#options.reports
    if (this.#leftOut.size > 0)
      logger.info(
        { feed: uri, items: Object.fromEntries(this.#leftOut) },
        'fields that were left out of the CSV',
      )
    return ''
  }

  /** Returns the item's row, before the first one also the header. */
  #rows(item: unknown): string[][] {
    const record = recordOf(item)
    if (!record) throw new TypeError('it has no fields, and a CSV row is made of fields')
    const isFirst = this.#columns === undefined
    const columns = this.#columns ?? this.#columnsFor(record)
    // Written before the header is settled, so that an item that cannot be written does not choose the columns.
    const values = this.#written(record)
    const row = columns.map(({ field }) => this.#cell(field === undefined ? undefined : values[field]))
    if (isFirst) this.#setColumns(columns)
    this.#countLeftOut(record)
    return isFirst ? [columns.map(({ name }) => this.#cell(name)), row] : [row]
  }

  /** Returns the item's values; fields without a column need not be written. */
  #written(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const { fields } = this.#options
    const asked = fields
      ? Object.fromEntries(Object.entries(record).filter(([name]) => fields.has(name)))
      : record
    return writtenItem(asked, { takesBigInt: true }) as Readonly<Record<string, unknown>>
  }

  #columnsFor(record: object): Column[] {
    const { fields } = this.#options
    const columns = fields
      ? [...fields].map(([field, name]) => ({ name, field }))
      : Object.keys(record).map((name) => ({ name, field: name }))
    if (columns.length === 0) throw new TypeError('it has no fields, and the first item gives the header')
    return columns
  }

  #setColumns(columns: readonly Column[]): void {
    this.#columns = columns
    this.#known = new Set(columns.flatMap(({ field }) => field ?? []))
  }

  /**
   * Counts fields without a column. With FEED_EXPORT_FIELDS it counts only fields which that names: the rest is left out on
   * purpose.
   */
  #countLeftOut(record: object): void {
    const { fields, reports } = this.#options
    const missed = Object.keys(record).filter((key) => !this.#known.has(key) && (fields?.has(key) ?? true))
    if (missed.length === 0) return
    if (this.#leftOut.size === 0)
      reports.logger.warn(
        { feed: reports.uri, fields: missed.slice(0, LEFT_OUT_NAMES_MAX) },
        'fields without a column are left out of the CSV; the header is that of the file or of the first item. ' +
          'Name all columns in FEED_EXPORT_FIELDS, or use jsonl; the counts follow at the end',
      )
    for (const key of missed) {
      const counted = this.#leftOut.has(key) || this.#leftOut.size < LEFT_OUT_NAMES_MAX ? key : OTHERS
      this.#leftOut.set(counted, (this.#leftOut.get(counted) ?? 0) + 1)
    }
  }

  #cell(value: unknown): string {
    const text = Array.isArray(value) ? value.map(cellText).join(',') : cellText(value)
    return this.#options.forTerminal ? escapedCell(text) : text
  }
}

function fieldNamed(field: string | undefined): { field?: string } {
  return field === undefined ? {} : { field }
}

/** Returns texts and numbers as they are, objects as JSON, dates as ISO 8601; an empty cell for null and undefined. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value !== 'object')
    return typeof value === 'function' || typeof value === 'symbol' ? '' : String(value)
  const json: string | undefined = JSON.stringify(value)
  // A value whose JSON is a text (a Date, a URL) is written as that text.
  return json?.startsWith('"') ? String(JSON.parse(json)) : json === 'null' ? '' : (json ?? '')
}
