import type { JsonValue } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'

/**
 * A plain object of JSON values, as `meta` and `cbKwargs` are: they must be the same after a trip through a queue on
 * another machine.
 */
export type JsonObject = { [key: string]: JsonValue }

// Deeper values are a mistake (or an attack), and writing them would overflow the stack.
const DEPTH_MAX = 100

/**
 * Returns a deep copy of `value` as JSON would return it, so that a later change of the original reaches no queued request.
 * Throws WL_REQUEST_INVALID where something would come back changed: a function, Date, Map, NaN, bigint, cycle.
 *
 * @param where returns the name of a part in the message, by its path: for `.proxy`, for instance, `meta.proxy`. Called
 * only then.
 */
export function jsonCopy(value: unknown, where: (path: string) => string): JsonValue {
  return copy(value, where, () => '', 0)
}

/** Returns whether a shallow copy of this object equals `jsonCopy`: a plain object with simple values only. */
export function isFlatJson(value: JsonObject): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key in value) if (!isSimple(value[key])) return false
  return true
}

function copy(value: unknown, where: (path: string) => string, path: () => string, depth: number): JsonValue {
  if (isSimple(value)) return value
  const refused = (reason: string) => refusal(where(path()), reason)
  if (typeof value === 'number') throw refused(`${value} becomes null in JSON`)
  if (typeof value !== 'object') throw refused(`a ${typeof value} does not survive JSON`)
  if (depth > DEPTH_MAX) throw refused(`it is nested deeper than ${DEPTH_MAX} levels, or holds itself`)
  if (Array.isArray(value))
    return value.map((entry, index) => copy(entry, where, () => `${path()}[${index}]`, depth + 1))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw refused(`a ${value.constructor?.name ?? 'object with a class'} does not survive JSON`)
  const plain: JsonObject = {}
  for (const key of Object.keys(value)) {
    const entry: unknown = Reflect.get(value, key)
    // As in JSON.stringify, a key without a value is left out.
    if (entry === undefined) continue
    // Most entries are simple, and need no function for their path.
    const copied = isSimple(entry) ? entry : copy(entry, where, () => `${path()}.${key}`, depth + 1)
    // Assigning this one key would set the prototype instead of an entry.
    if (key === '__proto__')
      Object.defineProperty(plain, key, {
        value: copied,
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else plain[key] = copied
  }
  return plain
}

function isSimple(value: unknown): value is string | number | boolean | null {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function refusal(where: string, reason: string): WebloomError {
  return new WebloomError(
    'WL_REQUEST_INVALID',
    `${where} holds what cannot be queued: ${reason}. Use strings, finite numbers, booleans, null, arrays and plain objects`,
  )
}
