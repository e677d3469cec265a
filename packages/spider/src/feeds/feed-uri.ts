import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where a URI of FEEDS leads. */
export type FeedTarget = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'stdout' }

/** What `%(name)s` and `%(time)s` stand for. */
export interface UriWords {
  readonly name: string
  readonly time: string
}

// The device is stdout too: opened as a file it would be written past what stdout still holds.
const STDOUT = new Set(['-', 'stdout:', 'stdout://', '/dev/stdout'])

export function isStdout(uri: string): boolean {
  return STDOUT.has(uri)
}

/** A scheme of two letters or more before `://`: `C:\out.csv` is a path. */
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i

/** The target of a filled-in URI, or why there is none. */
export function feedTarget(uri: string, cwd: string): FeedTarget | { readonly problem: string } {
  if (isStdout(uri)) return { kind: 'stdout' }
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase()
  if (uri === '') return { problem: 'the URI is empty; write a path, such as out.jsonl' }
  if (/[/\\]$/.test(uri)) return { problem: `it names a folder; name a file in it, such as ${uri}out.jsonl` }
  if (uri.includes('\0')) return { problem: 'no path holds a NUL character' }
  if (scheme === undefined) return { kind: 'file', path: resolve(cwd, uri) }
  if (scheme !== 'file')
    return {
      problem: `${scheme}:// is not in this release; write to a path, a file:// URL or - (standard output)`,
    }
  try {
    return { kind: 'file', path: fileURLToPath(uri) }
  } catch (error) {
    return {
      problem: `not a file:// URL of this machine (${error instanceof Error ? error.message : error})`,
    }
  }
}

// Python's form of a replacement field, as Scrapy's URIs have it.
const PLACEHOLDER = /%\((\w+)\)[-#0 +]*\d*[a-z]/g

/** `uri` with its placeholders replaced, or which one is unknown. */
export function filledUri(uri: string, words: UriWords): string | { readonly problem: string } {
  const values: Record<string, string> = { name: words.name, time: words.time }
  const isUrl = SCHEME.test(uri)
  const unknown = [...uri.matchAll(PLACEHOLDER)].find((match) => !Object.hasOwn(values, match[1]!))
  if (unknown) return { problem: `${unknown[0]} is not in this release; %(name)s and %(time)s are replaced` }
  return uri.replaceAll(PLACEHOLDER, (_, word: string) => {
    const value = values[word]!
    return isUrl ? encodeURIComponent(value) : value
  })
}

/** Scrapy's form of a time in a file name: 2026-11-21T12-00-00+00-00. */
export function uriTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replaceAll(':', '-')}+00-00`
}
