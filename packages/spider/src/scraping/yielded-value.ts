/** What callbacks yield by mistake, and how it differs from what they may yield. */

import { Response as CoreResponse, isPromise } from '@webloom/core'
import { Selector } from '@webloom/selectors'
import { InvalidItem } from '../items/item.ts'

/** Returns true for objects that cannot be meant as items: a forgotten `*` after yield, a forgotten `.get()`. */
export function isNoItem(value: object): boolean {
  return (
    isSyncIterable(value) ||
    isAsyncIterable(value) ||
    isPromise(value) ||
    (value instanceof Error && !(value instanceof InvalidItem)) ||
    value instanceof CoreResponse ||
    value instanceof Selector ||
    isOfFetch(value)
  )
}

/** Those of the web's `fetch`, which here are neither page nor request. By their tags: asking for the classes would load them. */
function isOfFetch(value: object): boolean {
  const tag = (value as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  return tag === 'Response' || tag === 'Request'
}

/** Returns the value's name for messages. */
export function nameOfValue(value: unknown): string {
  if (isGenerator(value)) return 'a generator'
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value).slice(0, 200)}`
  return Array.isArray(value)
    ? `${value.constructor.name} of ${value.length}`
    : (value.constructor?.name ?? 'object')
}

/** Returns what to write instead, as the end of a message. */
export function hintOn(element: unknown): string {
  if (isGenerator(element))
    return '; to hand on what another callback yields, write yield* this.other(response)'
  if (typeof element === 'object' && element !== null && isOfFetch(element))
    return '; a page is fetched by a request that is yielded, as response.follow(url) makes it, not by fetch()'
  return isSyncIterable(element) || isAsyncIterable(element) ? '; for what it holds write yield*' : ''
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

export function isSyncIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

/** Returns true for what calling a method with a `*` returns. */
export function isGenerator(value: unknown): boolean {
  return GENERATORS.has(Object.prototype.toString.call(value))
}

const GENERATORS = new Set(['[object Generator]', '[object AsyncGenerator]'])

/** Yields whatever a spider's method returns as one stream: a generator of either kind, a list, one element, or nothing. */
export async function* asStream(yielded: unknown): AsyncGenerator<unknown> {
  const result = isPromise(yielded) ? await yielded : yielded
  if (isSyncIterable(result) || isAsyncIterable(result)) yield* result
  else if (result !== undefined && result !== null) yield result
}
