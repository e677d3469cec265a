/** What callbacks yield by mistake, and how it is told from what they may yield. */

import { Response as CoreResponse, isPromise } from '@webloom/core'
import { Selector } from '@webloom/selectors'
import { InvalidItem } from '../items/item.ts'

/** Objects that are certainly not meant as items: a forgotten `*` after yield, a forgotten `.get()`. */
export function isNoItem(value: object): boolean {
  return (
    isSyncIterable(value) ||
    isAsyncIterable(value) ||
    isPromise(value) ||
    (value instanceof Error && !(value instanceof InvalidItem)) ||
    value instanceof CoreResponse ||
    value instanceof Selector
  )
}

/** For messages. */
export function nameOfValue(value: unknown): string {
  if (isGenerator(value)) return 'a generator'
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value).slice(0, 200)}`
  return Array.isArray(value)
    ? `${value.constructor.name} of ${value.length}`
    : (value.constructor?.name ?? 'object')
}

/** What to write instead, in a message that goes on with it. */
export function hintOn(element: unknown): string {
  if (isGenerator(element))
    return '; to hand on what another callback yields, write yield* this.other(response)'
  return isSyncIterable(element) || isAsyncIterable(element) ? '; for what it holds write yield*' : ''
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

export function isSyncIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

/** What calling a method with a `*` gives. */
export function isGenerator(value: unknown): boolean {
  return GENERATORS.has(Object.prototype.toString.call(value))
}

const GENERATORS = new Set(['[object Generator]', '[object AsyncGenerator]'])

/** Whatever a spider's method answers, as one stream: a generator of either kind, a list, one element, or nothing. */
export async function* asStream(yielded: unknown): AsyncGenerator<unknown> {
  const result = isPromise(yielded) ? await yielded : yielded
  if (isSyncIterable(result) || isAsyncIterable(result)) yield* result
  else if (result !== undefined && result !== null) yield result
}
