/** itemloaders' processors: what a loader does to the values of a field, as they come in and when the item is made. */

import type { JsonValue } from '@webloom/core'
import { jmespathSearch } from '@webloom/selectors'

/**
 * Makes a field's value from what was collected. null and undefined mean: nothing. It may name the type that it expects,
 * `(text: string) => text.trim()`; what comes is not checked against it.
 */
export type LoaderProcessor = {
  // As a method: TypeScript then lets the value be of a narrower type than unknown.
  process(value: unknown, context: LoaderContext): unknown
}['process']

/** What processors get beside the value: `source`, `item`, and what the loader was given as `context`. */
export type LoaderContext = Readonly<Record<string, unknown>>

/** The values as they are. */
export function Identity(): LoaderProcessor {
  return (value) => value
}

/** The first value that is neither missing nor an empty text. */
export function TakeFirst(): LoaderProcessor {
  return (value) => listOf(value).find((one) => one !== null && one !== undefined && one !== '')
}

/** The values as one text. */
export function Join(separator = ' '): LoaderProcessor {
  return (value) => listOf(value).join(separator)
}

/** What ends a chain of functions. */
export interface ComposeOptions {
  /** Default true: what is null or undefined goes no further, and is the result. */
  readonly stopOnNull?: boolean
}

/** Each function gets what the one before answered; the first gets all values as a list. */
export function Compose(...steps: readonly (LoaderProcessor | ComposeOptions)[]): LoaderProcessor {
  const last = steps.at(-1)
  const { stopOnNull = true } = typeof last === 'object' ? last : {}
  const processors = steps.filter((step) => typeof step === 'function')
  return (value, context) => {
    let result = value
    for (const process of processors) {
      if (stopOnNull && isNothing(result)) return result
      result = process(result, context)
    }
    return result
  }
}

/** Each function gets each value; a list that it answers is taken apart, and nothing is left out. Returns a list. */
export function MapCompose(...processors: readonly LoaderProcessor[]): LoaderProcessor {
  return (value, context) =>
    processors.reduce(
      (values: readonly unknown[], process) => values.flatMap((one) => listOf(process(one, context))),
      listOf(value),
    )
}

/** What a JMESPath query (https://jmespath.org) makes of the value. */
export function SelectJmes(query: string): LoaderProcessor {
  return (value) => jmespathSearch(query, value as JsonValue)
}

/** Values as a list: nothing is empty, a text or an object is one value. */
export function listOf(value: unknown): readonly unknown[] {
  if (isNothing(value)) return []
  if (typeof value === 'object' && Symbol.iterator in value) return [...(value as Iterable<unknown>)]
  return [value]
}

export function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined
}
