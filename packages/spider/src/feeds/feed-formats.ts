/** The formats a feed can have, and what they are called. */

export type FeedFormatName = 'jsonl' | 'json' | 'csv'

const FORMATS: Readonly<Record<string, FeedFormatName>> = {
  jsonl: 'jsonl',
  jsonlines: 'jsonl',
  jl: 'jsonl',
  json: 'json',
  csv: 'csv',
}

// Scrapy's other formats, and what people try: refused with the truth instead of "unknown".
const NOT_YET = new Set([
  'xml',
  'pickle',
  'marshal',
  'gz',
  'zst',
  'bz2',
  'xz',
  'parquet',
  'xlsx',
  'yaml',
  'yml',
])

/** The format of that name in any case; absent for a name that is none. */
export function formatNamed(name: string): FeedFormatName | undefined {
  const key = name.toLowerCase()
  return Object.hasOwn(FORMATS, key) ? FORMATS[key] : undefined
}

/** What a path's extension says, `''` when it has none: `jsonl` for `a/b.jsonl`. */
export function extensionOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1) : ''
}

export const FORMATS_SHOWN = 'jsonl (also jl, jsonlines), json, csv'

/** Why `name` is no format: the middle of a sentence that ends with `FORMATS_SHOWN`. */
export function notAFormat(name: string): string {
  return NOT_YET.has(name.toLowerCase())
    ? `${name} is not in this release; the formats are ${FORMATS_SHOWN}`
    : `${JSON.stringify(name)} is no format; the formats are ${FORMATS_SHOWN}`
}
