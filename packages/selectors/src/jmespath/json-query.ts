import { createRequire } from 'node:module'
import { type JsonValue, WebloomError } from '@webloom/url'

let search: ((value: JsonValue, query: string) => unknown) | undefined

/**
 * Returns what a JMESPath query (https://jmespath.org) finds in a value: the elements of a list, else the one thing
 * found, else nothing. Throws WL_SELECTOR_INVALID when the query is not valid.
 */
export function jmespathFind(query: string, value: JsonValue): JsonValue[] {
  const found = jmespathSearch(query, value) as JsonValue
  if (Array.isArray(found)) return found
  return found === null || found === undefined ? [] : [found]
}

/**
 * Returns what a JMESPath query makes of a value: a list, one thing, or null. Throws WL_SELECTOR_INVALID when the query
 * is not valid.
 */
export function jmespathSearch(query: string, value: JsonValue): unknown {
  search ??= loadSearch()
  try {
    return search(value, query)
  } catch (cause) {
    const { message } = cause as Error
    throw new WebloomError('WL_SELECTOR_INVALID', `jmespath(${JSON.stringify(query)}): ${message}`, { cause })
  }
}

/** Returns the value of a JSON text; undefined for a text that is not JSON. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

// Loaded when first asked for: most spiders read HTML.
function loadSearch(): NonNullable<typeof search> {
  const require = createRequire(import.meta.url)
  const jmespath = require('@jmespath-community/jmespath') as typeof import('@jmespath-community/jmespath')
  return jmespath.search
}
