import type { FileHandle } from 'node:fs/promises'
import { itemJson } from '../../scraping/written-item.ts'
import { mendLastLine } from './file-end.ts'
import { chosenFields, type FieldNames } from './item-fields.ts'
import type { FormatReports, ItemFormat } from './item-format.ts'
import { escapedJson } from './terminal-text.ts'

export interface JsonFormatOptions {
  /** The fields to write. Absent: all. */
  readonly fields?: FieldNames | undefined
  /** True when a terminal shows the output, so that no text in it may control the terminal. */
  readonly forTerminal?: boolean
  readonly reports: FormatReports
}

/** Writes each item on one line. */
export class JsonLinesFormat implements ItemFormat {
  readonly #options: JsonFormatOptions

  constructor(options: JsonFormatOptions) {
    this.#options = options
  }

  resume(file: FileHandle, size: number): Promise<void> {
    return mendLastLine(file, size, this.#options.reports)
  }

  text(items: readonly unknown[]): string {
    const text = jsonOf(items, this.#options)
      .map((json) => `${json}\n`)
      .join('')
    return this.#options.forTerminal ? escapedJson(text) : text
  }

  end(): string {
    return ''
  }
}

/** Writes one array as the items come, for standard output. A file gets its array from a spool instead. */
export class JsonArrayFormat implements ItemFormat {
  readonly #options: JsonFormatOptions
  readonly #layout: ArrayLayout
  #isEmpty = true

  constructor(options: JsonFormatOptions & { readonly indent: number | null }) {
    this.#options = options
    this.#layout = arrayLayout(options.indent)
  }

  async resume(): Promise<void> {
    throw new Error('a JSON array cannot be appended to')
  }

  text(items: readonly unknown[]): string {
    const entries = jsonOf(items, this.#options).map(this.#layout.entry)
    if (entries.length === 0) return ''
    const before = this.#isEmpty ? this.#layout.open : this.#layout.between
    this.#isEmpty = false
    const text = before + entries.join(this.#layout.between)
    return this.#options.forTerminal ? escapedJson(text) : text
  }

  end(): string {
    return `${this.#isEmpty ? EMPTY_ARRAY : this.#layout.close}\n`
  }
}

export const EMPTY_ARRAY = '[]'

/** The text around the entries of an array. */
export interface ArrayLayout {
  readonly open: string
  readonly between: string
  readonly close: string
  /** Returns an entry, made of its JSON on one line. */
  readonly entry: (json: string) => string
}

/** FEED_EXPORT_INDENT: null writes all on one line, 0 an item on each line; more is the indent of `JSON.stringify`. */
export function arrayLayout(indent: number | null): ArrayLayout {
  if (indent === null) return { open: '[', between: ',', close: ']', entry: (json) => json }
  const margin = ' '.repeat(indent)
  const around = { open: `[\n${margin}`, between: `,\n${margin}`, close: '\n]' }
  if (indent === 0) return { ...around, entry: (json) => json }
  const indented = (json: string) =>
    JSON.stringify(JSON.parse(json), null, indent).replaceAll('\n', `\n${margin}`)
  return { ...around, entry: indented }
}

/** Returns the JSON of each item that has one, each on one line. */
function jsonOf(items: readonly unknown[], { fields, reports }: JsonFormatOptions): string[] {
  const texts: string[] = []
  for (const item of items) {
    try {
      texts.push(itemJson(fields ? chosenFields(item, fields) : item))
    } catch (error) {
      reports.lost(item, error)
    }
  }
  return texts
}
