/**
 * XML as Scrapy's XmlItemExporter writes it:
 *
 *     <?xml version="1.0" encoding="utf-8"?>
 *     <items>
 *     <item><name>Lamp</name><tags><value>old</value><value>brass</value></tags></item>
 *     </items>
 *
 * A list's entries are named `value`, an object's by their keys. XML cannot hold two things, which Scrapy writes all the
 * same, so that no parser can read them: a name with a space or a leading digit, whose wrong characters become `_` here,
 * and control characters, which are left out.
 */

import { itemJson } from '../../scraping/written-item.ts'
import { chosenFields, type FieldNames, recordOf } from './item-fields.ts'
import type { FormatReports, ItemFormat } from './item-format.ts'

export interface XmlFormatOptions {
  /** The fields to write. Absent: all. */
  readonly fields?: FieldNames | undefined
  /** FEED_EXPORT_INDENT: null writes all on one line, 0 an item on each line. */
  readonly indent: number | null
  readonly forTerminal?: boolean
  readonly reports: FormatReports
}

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'

/** Writes one document as the items come. */
export class XmlFormat implements ItemFormat {
  readonly #options: XmlFormatOptions
  readonly #lineEnd: string
  #isEmpty = true

  constructor(options: XmlFormatOptions) {
    this.#options = options
    this.#lineEnd = options.indent === null ? '' : '\n'
  }

  async resume(): Promise<void> {
    throw new Error('an XML document cannot be appended to')
  }

  text(items: readonly unknown[]): string {
    const entries = items.flatMap((item) => this.#entry(item) ?? [])
    if (entries.length === 0) return ''
    const text = (this.#isEmpty ? this.#opening() : '') + entries.join('')
    this.#isEmpty = false
    return text
  }

  end(): string {
    return `${this.#isEmpty ? this.#opening() : ''}</items>${this.#lineEnd}`
  }

  #opening(): string {
    return `${DECLARATION}<items>${this.#lineEnd}`
  }

  #entry(item: unknown): string | undefined {
    const { fields, indent, reports } = this.#options
    try {
      // Through JSON, so that dates and toJSON mean the same as in the other formats.
      const record = recordOf(JSON.parse(itemJson(fields ? chosenFields(item, fields) : item)))
      if (!record) throw new TypeError('it has no fields, and an XML item is made of fields')
      return this.#element('item', record, 1).replace(/\n?$/, indent === null ? '' : '\n')
    } catch (error) {
      reports.lost(item, error)
      return undefined
    }
  }

  #element(name: string, value: unknown, depth: number): string {
    const { indent } = this.#options
    const margin = indent ? ' '.repeat(indent * depth) : ''
    const lineEnd = indent ? '\n' : ''
    const children = childrenOf(value)
    const inside = children
      ? lineEnd + children.map(([key, child]) => this.#element(key, child, depth + 1)).join('') + margin
      : this.#characters(value)
    const tag = elementName(name)
    return `${margin}<${tag}>${inside}</${tag}>${lineEnd}`
  }

  #characters(value: unknown): string {
    if (value === null || value === undefined) return ''
    const text = characterData(String(value))
    return this.#options.forTerminal
      ? text.replaceAll(/[\x7f-\x9f]/g, (character) => `&#${character.charCodeAt(0)};`)
      : text
  }
}

// Characters that no XML document may hold.
const WRONG = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu
const SPECIAL = /[\0-\x08\x0b-\x1f\ufffe\uffff&<>]/

function characterData(text: string): string {
  if (!SPECIAL.test(text) && text.isWellFormed()) return text
  return (
    text
      .replaceAll(WRONG, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // A parser would read a bare CR as a line feed.
      .replaceAll('\r', '&#13;')
  )
}

function childrenOf(value: unknown): (readonly [string, unknown])[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return Array.isArray(value) ? value.map((child) => ['value', child] as const) : Object.entries(value)
}

function elementName(name: string): string {
  const right = name.replaceAll(/[^\p{L}\p{N}._-]/gu, '_')
  return /^[\p{L}_]/u.test(right) ? right : `_${right}`
}
