/**
 * What a field of an item holds, once it is written: what JSON writes as null is nothing, and an object that says itself how it is
 * written (`toJSON`: URLs, dates, sums of money) is what it says.
 */

/** Returns false for null, NaN, an invalid date, a text without anything to read, an empty list or object, and what JSON leaves out. */
export function holdsSomething(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return isReadable(value.charCodeAt(0)) || /\S/.test(value)
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
    case 'bigint':
      return true
    case 'object':
      return value !== null && holdsEntries(value)
    default:
      return false
  }
}

/** Most texts are seen to be no blanks by their first letter. */
function isReadable(code: number): boolean {
  return code > 0x20 && code < 0x7f
}

function holdsEntries(value: object): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof Set || value instanceof Map) return value.size > 0
  if (value instanceof Date) return !Number.isNaN(value.getTime())
  if (ArrayBuffer.isView(value)) return value.byteLength > 0
  const written = asWritten(value)
  return written === value ? Object.keys(value).length > 0 : holdsSomething(written)
}

/** Returns what an object's `toJSON` returns; anything else as it is. What cannot be written is null. */
export function asWritten(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON !== 'function') return value
  try {
    return toJSON.call(value)
  } catch {
    return null
  }
}

/** Returns true for what has fields of its own: no list, date or bytes. */
export function hasFields(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !ArrayBuffer.isView(value)
  )
}

/** Returns what a field of an object holds; what every object inherits is none. */
export function fieldOf(value: unknown, name: string): unknown {
  const written = asWritten(value)
  if (!hasFields(written)) return undefined
  if (written instanceof Map) return written.get(name)
  return Object.hasOwn(written, name) ? (written as Record<string, unknown>)[name] : undefined
}

/** Returns whether `a.b.c` holds something; within a list, when it does in one of what the list has. */
export function holdsAt(value: unknown, path: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((held) => holdsAt(held, path))
  const [name, ...deeper] = path
  if (name === undefined) return holdsSomething(value)
  return holdsAt(fieldOf(value, name), deeper)
}
