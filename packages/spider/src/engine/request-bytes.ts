import type { JsonObject, JsonValue, Request } from '@webloom/core'

// Beside a name and its text, in characters of two bytes; and what a number takes.
const ENTRY_LENGTH = 6
const PLAIN_LENGTH = 8

/**
 * Returns how many bytes URL, headers, body and meta of a request take, about: what its JSON takes, which is not made for what has a
 * length. That takes some 2 µs more. Infinity for one that cannot be weighed.
 */
export function bytesOf(request: Request): number {
  const { url, body, hasHeaders, hasMeta, hasCbKwargs } = request
  let length = url.length
  if (hasHeaders)
    request.headers.forEach((name, value) => {
      length += ENTRY_LENGTH + name.length + value.length
    })
  if (hasMeta) length += lengthOf(request.meta)
  if (hasCbKwargs) length += lengthOf(request.cbKwargs)
  return 2 * length + body.length
}

/** What a middleware has put there may be no JSON. */
function lengthOf(entries: JsonObject): number {
  try {
    let length = 0
    for (const key in entries) length += ENTRY_LENGTH + key.length + lengthOfValue(entries[key])
    return length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

function lengthOfValue(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return PLAIN_LENGTH
  return JSON.stringify(value)?.length ?? 0
}
