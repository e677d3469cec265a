/**
 * An item as it is written. A value that JSON would write as `{}`, or leave out silently, is an error that names the field
 * and what to write instead. A Set is written as a list, as in Scrapy.
 *
 * An object of a class is accepted when it says what it is (`toJSON`: Date, URL) or has fields of its own.
 */

import { Response as CoreResponse, isPromise, Request } from '@webloom/core'
import { Selector, SelectorList } from '@webloom/selectors'
import { Spider } from '../spider.ts'
import { isGenerator } from './yielded-value.ts'

export interface WrittenItemOptions {
  /** True: a bigint may stay one. JSON has no bigint. */
  readonly takesBigInt?: boolean
}

/** Thrown for an item that cannot be written. The message names the fields and what to write instead. */
export class UnwritableItem extends TypeError {}

/** Returns the item as it is written: the item itself where nothing must change. Throws UnwritableItem. */
export function writtenItem(item: unknown, { takesBigInt = false }: WrittenItemOptions = {}): unknown {
  return new ItemWalk(takesBigInt).item(item)
}

/** Returns the item's JSON on one line. Throws UnwritableItem. */
export function itemJson(item: unknown): string {
  const json: string | undefined = JSON.stringify(writtenItem(item))
  if (json === undefined) throw new UnwritableItem(`a ${typeof item} has no JSON form`)
  return json
}

// A deeper item is a mistake, and writing it would overflow the stack.
const DEPTH_MAX = 100
// So many fields are named; an item with more has the same mistake in each.
const PROBLEMS_MAX = 5

class ItemWalk {
  readonly #takesBigInt: boolean
  /** The path of the value that is being checked: `author`, `tags`, 2. */
  readonly #path: (string | number)[] = []
  readonly #problems: string[] = []

  constructor(takesBigInt: boolean) {
    this.#takesBigInt = takesBigInt
  }

  item(value: unknown): unknown {
    const written = this.#written(value)
    if (this.#problems.length > 0) this.#fail()
    return written
  }

  #written(value: unknown): unknown {
    switch (typeof value) {
      case 'object':
        return value === null ? null : this.#object(value)
      case 'bigint':
        return this.#takesBigInt
          ? value
          : this.#refuse('a bigint', 'write String(value), or Number(value) when it is small')
      case 'function':
        return this.#refuse(
          value.name ? `the function ${value.name}` : 'a function',
          'call it: are the parentheses missing, as in .get()?',
        )
      case 'symbol':
        return this.#refuse('a symbol', 'write its text')
      default:
        return value
    }
  }

  #object(value: object): unknown {
    if (this.#path.length > DEPTH_MAX) {
      this.#refuse(
        'an object within itself',
        `or one that is nested deeper than ${DEPTH_MAX} levels; write what is needed of it`,
      )
      // Checking its other fields could take for ever.
      this.#fail()
    }
    if (value instanceof SelectorList)
      return this.#refuse('a SelectorList', 'write .getall() for a list of texts, .get() for the first')
    if (Array.isArray(value)) return this.#list(value)
    const prototype: unknown = Object.getPrototypeOf(value)
    const isPlain = prototype === Object.prototype || prototype === null
    return isPlain && !hasToJson(value) ? this.#fields(value) : this.#instance(value)
  }

  #list(values: readonly unknown[]): readonly unknown[] {
    let changed: unknown[] | undefined
    for (let index = 0; index < values.length; index++) {
      const written = this.#at(index, values[index])
      if (written === values[index]) continue
      changed ??= [...values]
      changed[index] = written
    }
    return changed ?? values
  }

  #fields(value: object): object {
    let changed: Record<string, unknown> | undefined
    for (const [name, field] of Object.entries(value)) {
      const written = this.#at(name, field)
      if (written === field || Object.is(written, field)) continue
      changed ??= Object.fromEntries(Object.entries(value))
      Object.defineProperty(changed, name, {
        value: written,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return changed ?? value
  }

  #at(step: string | number, value: unknown): unknown {
    // Most values are simple, and need no path.
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
    this.#path.push(step)
    const written = this.#written(value)
    this.#path.pop()
    return written
  }

  #instance(value: object): unknown {
    if (value instanceof Date || value instanceof URL) return value
    if (value instanceof Set) return this.#list([...value])
    if (isGenerator(value))
      return this.#refuse(
        'a generator',
        'write [...it] for a list, or yield* where another callback is called',
      )
    for (const [Class, what, hint] of NO_VALUES) if (value instanceof Class) return this.#refuse(what, hint)
    if (ArrayBuffer.isView(value))
      return this.#refuse(
        `a ${nameOf(value)}`,
        "bytes: write Buffer.from(it).toString('base64'), or response.text for a page",
      )
    if (isPromise(value)) return this.#refuse('a Promise', 'await it before the item is yielded')
    if (hasToJson(value)) return this.#written(value.toJSON())
    if (this.#path.length > 0 && Object.keys(value).length === 0)
      return this.#refuse(
        `a ${nameOf(value)}`,
        'it has no fields of its own; write a text, a number, a list or a plain object, or give its class toJSON()',
      )
    return this.#fields(value)
  }

  /** Notes the problem and goes on with the other fields: the author should not find the next one in the next crawl. */
  #refuse(what: string, hint: string): undefined {
    const [first, ...rest] = this.#path
    const steps = rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    const where =
      first === undefined
        ? 'the item'
        : `field ${JSON.stringify(`${first}${steps.slice(0, STEPS_SHOWN_MAX).join('')}`)}`
    this.#problems.push(`${where} is ${what}: ${hint}`)
    if (this.#problems.length === PROBLEMS_MAX) this.#fail()
  }

  #fail(): never {
    throw new UnwritableItem(this.#problems.join('; '))
  }
}

const STEPS_SHOWN_MAX = 10

// What authors put into items by mistake, with what to write instead.
const NO_VALUES: readonly (readonly [abstract new (...args: never[]) => object, string, string])[] = [
  [Selector, 'a Selector', 'write .get()'],
  [Promise, 'a Promise', 'await it before the item is yielded'],
  [Map, 'a Map', 'write Object.fromEntries(map)'],
  [CoreResponse, 'a Response', 'write .text, .url or what else is needed of it'],
  [Request, 'a Request', 'yield it by itself, or write its .url'],
  [Error, 'an Error', 'write its .message'],
  [Spider, 'the spider', 'write what is needed of it, such as this.name'],
]

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

function nameOf(value: object): string {
  const { name } = value.constructor ?? {}
  return typeof name === 'string' && name !== '' ? name : 'value of a class without a name'
}
