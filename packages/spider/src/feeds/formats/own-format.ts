/** A format of a user's own, by FEED_EXPORTERS. */

import { type ErrorCode, type JsonObject, requireMethods, valueShown, WebloomError } from '@webloom/core'
import { chosenFields, type FieldNames, recordOf } from './item-fields.ts'
import type { FormatReports, ItemFormat } from './item-format.ts'
import { escapedCell } from './terminal-text.ts'

/**
 * A class in FEED_EXPORTERS: makes text of items, and does not know where it goes. One is made for each output, and another one before
 * the crawl begins, which shows whether it can be made.
 */
export interface ItemExporter {
  /** Returns the text before the first item. */
  start?(): string
  /** Returns one item as text, with its line end if it has one. When it throws, the item is missing from this output. */
  item(item: JsonObject): string
  /** Returns the text that completes the output. */
  end?(): string
}

/** What an exporter gets: the options of its output. */
export interface ItemExporterOptions {
  /** FEED_EXPORT_FIELDS: the fields that items have here, in their order. Absent: all. */
  readonly fields?: readonly string[]
  /** FEED_EXPORT_INDENT. */
  readonly indent: number | null
}

export type ItemExporterClass = new (options: ItemExporterOptions) => ItemExporter

/** Makes an exporter. Throws WL_COMPONENT_LOAD, which names the class, when it cannot be made or has no `item`. */
export function exporterOf(Class: ItemExporterClass, options: ItemExporterOptions): ItemExporter {
  let exporter: ItemExporter
  try {
    exporter = new Class(options)
  } catch (cause) {
    const thrown = cause instanceof Error ? `${cause.name}: ${cause.message}` : valueShown(cause)
    const message = `the exporter ${Class.name} (FEED_EXPORTERS) could not be made: its constructor threw ${thrown}`
    throw new WebloomError('WL_COMPONENT_LOAD', message, { cause })
  }
  requireMethods(exporter, ['item'], 'the exporter', 'FEED_EXPORTERS')
  return exporter
}

export interface OwnFormatOptions {
  readonly exporter: ItemExporter
  /** The fields to write. Absent: all. */
  readonly fields?: FieldNames | undefined
  readonly forTerminal?: boolean
  readonly reports: FormatReports
}

/** Writes what the exporter makes of each item. */
export class OwnFormat implements ItemFormat {
  readonly #options: OwnFormatOptions
  #isEmpty = true

  constructor(options: OwnFormatOptions) {
    this.#options = options
  }

  async resume(): Promise<void> {
    throw new Error('only jsonl and csv can be appended to')
  }

  text(items: readonly unknown[]): string {
    const entries = items.flatMap((item) => this.#entry(item) ?? [])
    if (entries.length === 0) return ''
    const text = this.#opening() + entries.join('')
    this.#isEmpty = false
    return this.#options.forTerminal ? escapedCell(text) : text
  }

  end(): string {
    return this.#opening() + this.#around('end')
  }

  #opening(): string {
    return this.#isEmpty ? this.#around('start') : ''
  }

  /** An output without its beginning or end is broken, whatever items it has. */
  #around(method: 'start' | 'end'): string {
    const { exporter, reports } = this.#options
    const text: unknown = exporter[method]?.() ?? ''
    return textOf(text, exporter, method, 'WL_OUTPUT_FAILED', `Writing ${reports.uri} failed: `)
  }

  #entry(item: unknown): string | undefined {
    const { exporter, fields, reports } = this.#options
    try {
      // Through JSON, so that dates and toJSON mean the same as in the other formats.
      const json: string | undefined = JSON.stringify(fields ? chosenFields(item, fields) : item)
      const record = json === undefined ? undefined : recordOf(JSON.parse(json))
      if (!record) throw new TypeError('it has no fields, and this format is made of fields')
      return textOf(exporter.item(record as JsonObject), exporter, 'item', 'WL_COMPONENT_ANSWER')
    } catch (error) {
      reports.lost(item, error)
      return undefined
    }
  }
}

/** What is not text would be written as `undefined` or `[object Promise]`, or be left out without a word. */
function textOf(
  answer: unknown,
  exporter: ItemExporter,
  method: string,
  code: ErrorCode,
  before = '',
): string {
  if (typeof answer === 'string') return answer
  // Nobody waits for it; what it throws later would be told as a stranger's error.
  if (answer instanceof Promise) answer.catch(() => {})
  const hint =
    answer instanceof Promise ? '; it may not be async' : answer === undefined ? '; is a return missing?' : ''
  throw new WebloomError(
    code,
    `${before}the exporter ${exporter.constructor.name} answered ${method}() with ${valueShown(answer)}; expected a string${hint}`,
  )
}
