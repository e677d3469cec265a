/**
 * Returns `value` as Python's `json.dumps(value, sort_keys=True)` writes it: a space after `,` and `:`, keys in order,
 * ASCII only. A value that has a `toJSON`, or is undefined, is written as by `JSON.stringify`. Throws `TypeError` for a
 * cycle or a bigint.
 */
export function pythonJson(value: unknown): string {
  return written(JSON.parse(JSON.stringify(value) ?? 'null') as unknown)
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([a], [b]) => byCodePoint(a, b))
    return `{${entries.map(([key, entry]) => `${text(key)}: ${written(entry)}`).join(', ')}}`
  }
  return typeof value === 'string' ? text(value) : JSON.stringify(value)
}

function text(value: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(/[\x7f-\uffff]/g, escaped)
}

/** Orders strings as Python does; JavaScript's own order differs beyond U+FFFF. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
