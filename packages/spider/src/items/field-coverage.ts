/**
 * How many items have each field, so that a site which has changed is noticed: its pages still come, but without prices.
 *
 * A field counts when it holds something: not null, a blank text, an empty list or object. Fields of objects within an item have the
 * names of both, `author.name`. What is in a list has none, as items have lists of any length; where a monitor names it
 * (`variants.price`), an item has it when one of the list's objects does.
 */

import type { StatsCollector } from '@webloom/core'
import { asWritten, fieldOf, hasFields, holdsAt, holdsSomething } from './held-values.ts'

/** Of objects within objects; what lies deeper counts as a part of its field, unless a monitor names it. */
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
    for (const name of always) this.#expect(name.split('.'))
    this.#fieldsMax = Math.max(fieldsMax, this.#fields.size)
  }

  /** Counts the fields of items under `item_field_count/<field>`. */
  count(items: readonly unknown[]): void {
    for (const item of items) {
      const written = asWritten(item)
      if (hasFields(written)) this.#look(written, undefined, 1)
    }
    for (const field of this.#met) {
      this.#stats.inc(field.stat, field.items)
      field.items = 0
    }
    this.#met = []
  }

  /** `a.b.c` is met within `a.b`, and that within `a`. */
  #expect(path: readonly string[]): void {
    let parent: CountedField | undefined
    for (const name of path) parent = this.#within(parent, name)
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
    if (typeof held !== 'object' || (depth >= DEPTH_MAX && field.within.size === 0)) return
    const written = asWritten(held)
    if (hasFields(written)) this.#look(written, field, depth + 1)
    else if (Array.isArray(written)) this.#lookInList(written, field)
  }

  /** Only for what a monitor names. */
  #lookInList(list: readonly unknown[], { within }: CountedField): void {
    for (const [name, field] of within) {
      if (!holdsAt(list, [name])) continue
      if (field.items++ === 0) this.#met.push(field)
      this.#lookInList(
        list.flatMap((held) => fieldOf(held, name) ?? []),
        field,
      )
    }
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
