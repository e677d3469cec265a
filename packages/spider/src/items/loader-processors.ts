/** itemloaders' processors: they change the values of a field as they come in and when the item is made. */

import type { JsonValue } from '@webloom/core'
import { jmespathSearch } from '@webloom/selectors'

/**
 * Makes a field's value from the collected ones. null and undefined mean: no value. A processor may name the type that it
 * expects, `(text: string) => text.trim()`; the values are not checked against it.
 */
export type LoaderProcessor = {
  // A method, as TypeScript then allows a parameter of a narrower type than unknown.
  process(value: unknown, context: LoaderContext): unknown
}['process']

/** What processors may read beside the value: `source`, `item`, and the loader's `context`. */
export type LoaderContext = Readonly<Record<string, unknown>>

/** Returns the values as they are. */
export function Identity(): LoaderProcessor {
  return (value) => value
}

/** Returns the first value that is neither missing nor an empty text. */
export function TakeFirst(): LoaderProcessor {
  return (value) => listOf(value).find((one) => one !== null && one !== undefined && one !== '')
}

/** Returns the values as one text, with the separator between them. */
export function Join(separator = ' '): LoaderProcessor {
  return (value) => listOf(value).join(separator)
}

/** When a chain of functions ends early. */
export interface ComposeOptions {
  /** Default true: null or undefined ends the chain and is its result. */
  readonly stopOnNull?: boolean
}

/** Gives each function the result of the one before. The first one gets all values as a list. */
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

/**
 * Gives each function each value, and returns a list. A list that a function returns is flattened; null and undefined are
 * dropped.
 */
export function MapCompose(...processors: readonly LoaderProcessor[]): LoaderProcessor {
  return (value, context) =>
    processors.reduce(
      (values: readonly unknown[], process) => values.flatMap((one) => listOf(process(one, context))),
      listOf(value),
    )
}

/** Returns what a JMESPath query (https://jmespath.org) finds in the value. */
export function SelectJmes(query: string): LoaderProcessor {
  return (value) => jmespathSearch(query, value as JsonValue)
}

/** Returns values as a list: empty for null and undefined; a text or an object is one value. */
export function listOf(value: unknown): readonly unknown[] {
  if (isNothing(value)) return []
  if (typeof value === 'object' && Symbol.iterator in value) return [...(value as Iterable<unknown>)]
  return [value]
}

export function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined
}
