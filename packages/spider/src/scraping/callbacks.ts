import { type Callback, type Request, WebloomError } from '@webloom/core'
import type { Response } from '../responses/response.ts'
import type { Spider } from '../spider.ts'

/** Names of a spider's methods by their functions. Misses are not kept: each ends in an error anyway. */
const known = new WeakMap<Spider, Map<unknown, string>>()

/**
 * Returns the name under which another worker will find a callback: that of the spider's own property or method which is
 * this very function. Throws WL_CALLBACK_UNKNOWN for arrow functions, bound functions and `#private` methods, which have no
 * such name.
 */
export function callbackName(spider: Spider, callback: Callback, role: 'callback' | 'errback'): string {
  if (typeof callback === 'string') {
    methodNamed(spider, callback, role)
    return callback
  }
  const names = known.get(spider) ?? new Map<unknown, string>()
  known.set(spider, names)
  const cached = names.get(callback)
  if (cached !== undefined) return cached
  const name = nameByIdentity(spider, callback)
  if (name === undefined) throw notAMethod(spider, callback, role)
  names.set(callback, name)
  return name
}

/**
 * Returns the method of that name, or the function in the spider's field of that name. Throws WL_CALLBACK_UNKNOWN, which
 * lists the names that exist, when the spider has none. Getters are not run, and methods that every object has (`valueOf`)
 * are no callbacks.
 */
export function methodNamed(
  spider: Spider,
  name: string,
  role: 'callback' | 'errback',
): (...args: unknown[]) => unknown {
  const method = propertyNamed(spider, name)
  if (typeof method === 'function' && name !== 'constructor') return method as (...args: unknown[]) => unknown
  throw new WebloomError(
    'WL_CALLBACK_UNKNOWN',
    `${role} ${JSON.stringify(name)} is no method of spider ${spider.name}; it has ${methodNames(spider).join(', ')}`,
  )
}

/** Names callback and errback, so that the request can leave this process. */
export function nameCallbacks(spider: Spider, request: Request): void {
  if (request.callback !== null) request.callback = callbackName(spider, request.callback, 'callback')
  if (request.errback !== null) request.errback = callbackName(spider, request.errback, 'errback')
}

function nameByIdentity(spider: Spider, callback: unknown): string | undefined {
  for (const [name, value] of properties(spider)) if (value === callback) return name
  return undefined
}

/** Returns a property as the language finds it, without getters and without those of `Object.prototype`. */
function propertyNamed(spider: Spider, name: string): unknown {
  for (const object of chainOf(spider)) {
    const property = Object.getOwnPropertyDescriptor(object, name)
    if (property) return property.value
  }
  return undefined
}

function methodNames(spider: Spider): string[] {
  const names = new Set<string>()
  for (const [name, value] of properties(spider))
    if (typeof value === 'function' && name !== 'constructor') names.add(name)
  return [...names]
}

/** Yields values of the spider and its prototypes by name, without running getters. */
function* properties(spider: Spider): Generator<[string, unknown]> {
  for (const object of chainOf(spider)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      yield [name, value]
  }
}

/** Yields the spider and its prototypes, without that of all objects. */
export function* chainOf(spider: Spider): Generator<object> {
  for (
    let object: object | null = spider;
    object && object !== Object.prototype;
    object = Object.getPrototypeOf(object)
  )
    yield object
}

function notAMethod(spider: Spider, callback: unknown, role: string): WebloomError {
  const given = (callback as { name?: string }).name ?? ''
  // The function in `{ callback: () => … }` is named after the property, which says nothing.
  const name = given === role ? '' : given
  const kind = name.startsWith('bound ')
    ? `${name}: a bound function`
    : name.startsWith('#')
      ? `${name}: a private method`
      : `${name ? `${name}: ` : ''}an arrow function, or one that is no method of the spider`
  return new WebloomError(
    'WL_CALLBACK_UNKNOWN',
    `${role} is ${kind}, which another worker could not find. Pass a method of ${spider.constructor.name} itself (${role}: this.parse) or its name; data for it goes into cbKwargs`,
  )
}

/** Returns the callback that a response goes to, as its request has it. */
export function callbackOf({ request }: Response): unknown {
  return request.callback ?? 'parse'
}

/** Returns who yielded it, for messages. */
export function sourceOf(response: Response | null): object {
  return response ? { url: response.url, callback: callbackOf(response) } : { url: 'start()' }
}
