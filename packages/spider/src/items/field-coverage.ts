/**
 * How many items have each field, so that a site which has changed is noticed: its pages still come, but without prices.
 *
 * A field counts when it holds something: not null, an empty text, list or object. Fields of objects within an item have the
 * names of both, `author.name`; what is in a list has none, as items have lists of any length.
 */

import type { StatsCollector } from '@webloom/core'

/** Of objects within objects; what lies deeper counts as a part of its field. */
const DEPTH_MAX = 4
/** A name that is longer is a text that somebody took for a name. */
const NAME_CHARS_MAX = 80

export class FieldCoverage {
  readonly #stats: StatsCollector
  #fieldsMax: number
  /** Stat of each field that is counted. */
  readonly #stat = new Map<string, string>()

  /**
   * @param fieldsMax FIELD_COVERAGE_MAX; fields that are met later are not counted
   * @param always fields that are counted, whenever they are met
   */
  constructor(stats: StatsCollector, fieldsMax: number, always: readonly string[] = []) {
    this.#stats = stats
    this.#fieldsMax = Number.POSITIVE_INFINITY
    for (const field of always.flatMap(withParents)) this.#statOf(field)
    this.#fieldsMax = Math.max(fieldsMax, this.#stat.size)
  }

  /** Counts the fields of an item under `item_field_count/<field>`. */
  count(item: unknown): void {
    if (isObject(item)) this.#count(item, '', 1)
  }

  #count(value: object, before: string, depth: number): void {
    for (const [name, held] of entriesOf(value)) {
      if (!holdsSomething(held)) continue
      const field = before === '' ? name : `${before}.${name}`
      const stat = this.#statOf(field)
      if (stat === undefined) continue
      this.#stats.inc(stat)
      if (depth < DEPTH_MAX && isObject(held)) this.#count(held, field, depth + 1)
    }
  }

  #statOf(field: string): string | undefined {
    const known = this.#stat.get(field)
    if (known !== undefined || this.#stat.size >= this.#fieldsMax || field.length > NAME_CHARS_MAX)
      return known
    const stat = `item_field_count/${field}`
    this.#stat.set(field, stat)
    return stat
  }
}

function isObject(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !ArrayBuffer.isView(value)
  )
}

function entriesOf(value: object): Iterable<[string, unknown]> {
  if (value instanceof Map) return [...value].map(([name, held]) => [String(name), held])
  return value instanceof Set ? [] : Object.entries(value)
}

/** `a.b.c` is met within `a.b`, and that within `a`. */
function withParents(field: string): string[] {
  const parts = field.split('.')
  return parts.map((_, n) => parts.slice(0, n + 1).join('.'))
}

/** Not null, an empty text, list or object. */
export function holdsSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof Set || value instanceof Map) return value.size > 0
  return !isObject(value) || Object.keys(value).length > 0
}
