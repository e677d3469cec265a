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

interface CountedField {
  readonly name: string
  readonly stat: string
  /** Of the items that are being counted, those that have it. */
  items: number
  /** Fields of objects that it holds, by their own names. */
  readonly within: Map<string, CountedField>
}

/** Counts a batch of items and then tells the stats, each field once: with twelve fields an item costs half a microsecond. */
export class FieldCoverage {
  readonly #stats: StatsCollector
  #fieldsMax: number
  readonly #fields = new Map<string, CountedField>()
  readonly #outermost = new Map<string, CountedField>()
  /** Those that some of the items have. */
  #met: CountedField[] = []

  /**
   * @param fieldsMax FIELD_COVERAGE_MAX; fields that are met later are not counted
   * @param always fields that are counted, whenever they are met
   */
  constructor(stats: StatsCollector, fieldsMax: number, always: readonly string[] = []) {
    this.#stats = stats
    this.#fieldsMax = Number.POSITIVE_INFINITY
    for (const name of always.flatMap(withParents)) this.#named(name)
    this.#fieldsMax = Math.max(fieldsMax, this.#fields.size)
  }

  /** Counts the fields of items under `item_field_count/<field>`. */
  count(items: readonly unknown[]): void {
    for (const item of items) if (isObject(item)) this.#look(item, undefined, 1)
    for (const field of this.#met) {
      this.#stats.inc(field.stat, field.items)
      field.items = 0
    }
    this.#met = []
  }

  #look(value: object, parent: CountedField | undefined, depth: number): void {
    if (value instanceof Set) return
    if (value instanceof Map) {
      for (const [name, held] of value) this.#countOne(String(name), held, parent, depth)
      return
    }
    for (const name of Object.keys(value))
      this.#countOne(name, (value as Record<string, unknown>)[name], parent, depth)
  }

  #countOne(name: string, held: unknown, parent: CountedField | undefined, depth: number): void {
    if (!holdsSomething(held)) return
    const field = this.#within(parent, name)
    if (!field) return
    if (field.items++ === 0) this.#met.push(field)
    if (depth < DEPTH_MAX && isObject(held)) this.#look(held, field, depth + 1)
  }

  #within(parent: CountedField | undefined, name: string): CountedField | undefined {
    const known = parent ? parent.within : this.#outermost
    const field = known.get(name) ?? this.#named(parent ? `${parent.name}.${name}` : name)
    if (field) known.set(name, field)
    return field
  }

  #named(name: string): CountedField | undefined {
    const known = this.#fields.get(name)
    if (known || this.#fields.size >= this.#fieldsMax || name.length > NAME_CHARS_MAX) return known
    const field = {
      name,
      stat: `item_field_count/${name}`,
      items: 0,
      within: new Map<string, CountedField>(),
    }
    this.#fields.set(name, field)
    return field
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
