import { type Callback, methodNamed, type Request, spiderProperties, WebloomError } from '@webloom/core'
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

/** Names callback and errback, so that the request can leave this process. */
export function nameCallbacks(spider: Spider, request: Request): void {
  if (request.callback !== null) request.callback = callbackName(spider, request.callback, 'callback')
  if (request.errback !== null) request.errback = callbackName(spider, request.errback, 'errback')
}

function nameByIdentity(spider: Spider, callback: unknown): string | undefined {
  for (const [name, value] of spiderProperties(spider)) if (value === callback) return name
  return undefined
}

function notAMethod(spider: Spider, callback: unknown, role: string): WebloomError {
  const given = (callback as { name?: string }).name ?? ''
  // The function in `{ callback: () => … }` is named after the property, which says nothing.
  const name = given === role ? '' : given
  const kind = name.startsWith('bound ')
    ? `${name}: a bound function`
    : name.startsWith('#')
      ? `${name}: a private method`
      : `${name ? `${name}: ` : ''}an arrow function, or one that is not a method of the spider`
  return new WebloomError(
    'WL_CALLBACK_UNKNOWN',
    `${role} is ${kind}, which no other worker could find. Pass a method of ${spider.constructor.name} itself (${role}: this.parse) or its name; data for it goes into cbKwargs`,
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
