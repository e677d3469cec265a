/**
 * `value` as Python's `json.dumps(value, sort_keys=True)` writes it: a space behind `,` and `:`, keys in order, ASCII only.
 * What has a `toJSON`, or is undefined, is as in `JSON.stringify`. Throws `TypeError` for a cycle or a bigint.
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

/** As Python orders strings; JavaScript's own order differs beyond U+FFFF. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
