/** Finds what a request names by a string: a method of the spider, as any worker has it. */

import { WebloomError } from '../errors/errors.ts'
import type { SpiderLike } from './spider-like.ts'

/** What looks like such a method and is none. `start` would get a page for its settings, and yield to nobody. */
const NOT_CALLED: Readonly<Record<'callback' | 'errback' | 'script', ReadonlySet<string>>> = {
  callback: new Set(['constructor']),
  errback: new Set(['constructor']),
  script: new Set(['constructor', 'start']),
}

/**
 * Returns the method of that name, or the function in the spider's field of that name. Throws WL_CALLBACK_UNKNOWN, which
 * lists the names that exist, when the spider has none. Getters are not run, and methods that every object has (`valueOf`)
 * are not callbacks.
 */
export function methodNamed(
  spider: SpiderLike,
  name: string,
  role: 'callback' | 'errback' | 'script',
): (...args: unknown[]) => unknown {
  const method = propertyNamed(spider, name)
  if (typeof method === 'function' && !NOT_CALLED[role].has(name))
    return method as (...args: unknown[]) => unknown
  throw new WebloomError(
    'WL_CALLBACK_UNKNOWN',
    `${role} ${JSON.stringify(name)} is not a method of spider ${spider.name}; it has ${methodNames(spider, NOT_CALLED[role]).join(', ')}`,
  )
}

/** Returns a property as the language finds it, without getters and without those of `Object.prototype`. */
function propertyNamed(spider: SpiderLike, name: string): unknown {
  for (const object of chainOf(spider))
    if (Object.hasOwn(object, name)) return Object.getOwnPropertyDescriptor(object, name)!.value
  return undefined
}

function methodNames(spider: SpiderLike, without: ReadonlySet<string>): string[] {
  const names = new Set<string>()
  for (const [name, value] of properties(spider))
    if (typeof value === 'function' && !without.has(name)) names.add(name)
  return [...names]
}

/** Yields values of the spider and its prototypes by name, without running getters. */
export function* properties(spider: SpiderLike): Generator<[string, unknown]> {
  for (const object of chainOf(spider)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      yield [name, value]
  }
}

/** Returns the spider and its prototypes, without that of all objects. */
export function chainOf(spider: SpiderLike): object[] {
  const chain: object[] = []
  for (
    let object: object | null = spider;
    object && object !== Object.prototype;
    object = Object.getPrototypeOf(object)
  )
    chain.push(object)
  return chain
}
