/** The formats of feeds and their names. */

export type FeedFormatName = 'jsonl' | 'json' | 'csv' | 'xml'

const FORMATS: Readonly<Record<string, FeedFormatName>> = {
  jsonl: 'jsonl',
  jsonlines: 'jsonl',
  jl: 'jsonl',
  json: 'json',
  csv: 'csv',
  xml: 'xml',
}

/** How a whole output may be compressed. */
export type Compression = 'gzip' | 'zstd'

// By extension, by name, and by Scrapy's import path.
const COMPRESSIONS: Readonly<Record<string, Compression>> = {
  gz: 'gzip',
  gzip: 'gzip',
  'scrapy.extensions.postprocessing.gzipplugin': 'gzip',
  zst: 'zstd',
  zstd: 'zstd',
}

// Scrapy's other formats, and names that users try: refused as not supported instead of "unknown".
const NOT_YET = new Set(['pickle', 'marshal', 'bz2', 'xz', 'parquet', 'xlsx', 'yaml', 'yml'])

/** Returns the format of that name in any case; undefined for an unknown name. */
export function formatNamed(name: string): FeedFormatName | undefined {
  const key = name.toLowerCase()
  return Object.hasOwn(FORMATS, key) ? FORMATS[key] : undefined
}

/** Returns the compression of that name in any case; undefined for an unknown name. */
export function compressionNamed(name: string): Compression | undefined {
  const key = name.toLowerCase()
  return Object.hasOwn(COMPRESSIONS, key) ? COMPRESSIONS[key] : undefined
}

/** Returns the path's extension: `jsonl` for `a/b.jsonl`, `''` when it has none. */
export function extensionOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1) : ''
}

/** Returns the extensions for format and compression: `jsonl` and gzip for `a/b.jsonl.gz`. */
export function extensionsOf(path: string): { readonly format: string; readonly compression?: Compression } {
  const last = extensionOf(path)
  const compression = compressionNamed(last)
  return compression
    ? { format: extensionOf(path.slice(0, -last.length - 1)), compression }
    : { format: last }
}

export const FORMATS_SHOWN = 'jsonl (also jl, jsonlines), json, csv, xml'

/** Returns why `name` is not a format, as the middle of a sentence that ends with `FORMATS_SHOWN`. */
export function notAFormat(name: string): string {
  return NOT_YET.has(name.toLowerCase())
    ? `${name} is not in this release; the formats are ${FORMATS_SHOWN}`
    : `${JSON.stringify(name)} is not a format; the formats are ${FORMATS_SHOWN}`
}
