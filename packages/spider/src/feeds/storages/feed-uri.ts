import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where a URI of FEEDS leads. */
export type FeedTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stdout' }
  | S3Target
  | OwnTarget

/** An object of a bucket. */
export interface S3Target {
  readonly kind: 's3'
  readonly bucket: string
  readonly key: string
  /** As Scrapy takes them: `s3://key:secret@bucket/object`. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/** An output of a storage in FEED_STORAGES. */
export interface OwnTarget {
  readonly kind: 'own'
  readonly scheme: string
  /** With its password, if it has one: for the storage alone. */
  readonly uri: string
}

/** What `%(…)s` and `%(…)d` stand for. */
export type UriWords = Readonly<Record<string, string | number>>

// The device is stdout too: opened as a file it would be written past what stdout still holds.
const STDOUT = new Set(['-', 'stdout:', 'stdout://', '/dev/stdout'])

export function isStdout(uri: string): boolean {
  return STDOUT.has(uri)
}

/** A scheme of two letters or more before `://`: `C:\out.csv` is a path. */
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i

/**
 * The target of a filled-in URI, or why there is none.
 *
 * @param storages what FEED_STORAGES has for a scheme: null takes it out
 */
export function feedTarget(
  uri: string,
  cwd: string,
  storages: Readonly<Record<string, object | null>> = {},
): FeedTarget | { readonly problem: string } {
  if (isStdout(uri)) return { kind: 'stdout' }
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase()
  if (scheme !== undefined && Object.hasOwn(storages, scheme)) {
    if (storages[scheme]) return { kind: 'own', scheme, uri }
    return { problem: `FEED_STORAGES takes ${scheme}:// out` }
  }
  if (uri === '') return { problem: 'the URI is empty; write a path, such as out.jsonl' }
  if (/[/\\]$/.test(uri)) return { problem: `it names a folder; name a file in it, such as ${uri}out.jsonl` }
  if (uri.includes('\0')) return { problem: 'no path holds a NUL character' }
  if (scheme === undefined) return { kind: 'file', path: resolve(cwd, uri) }
  if (scheme === 's3') return s3Target(uri)
  if (scheme !== 'file')
    return {
      problem: `${scheme}:// is not in this release; write to a path, a file:// or s3:// URL or - (standard output), or name a storage of your own, FEED_STORAGES={"${scheme}": "./file.ts#Export"}`,
    }
  try {
    return { kind: 'file', path: fileURLToPath(uri) }
  } catch (error) {
    return {
      problem: `not a file:// URL of this machine (${error instanceof Error ? error.message : error})`,
    }
  }
}

const S3 = /^s3:\/\/(?:([^:/@]+):([^@]+)@)?([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/i

function s3Target(uri: string): S3Target | { readonly problem: string } {
  const [, accessKeyId, secretAccessKey, bucket, key] = S3.exec(uri) ?? []
  if (bucket === undefined || key === undefined)
    return { problem: 'it names no object of a bucket; write s3://bucket/folder/out.jsonl' }
  return {
    kind: 's3',
    bucket,
    key: decoded(key),
    ...(accessKeyId !== undefined && {
      credentials: { accessKeyId: decoded(accessKeyId), secretAccessKey: decoded(secretAccessKey!) },
    }),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The URI as it may be shown: without a password. */
export function shownUri(uri: string): string {
  return uri.replace(/^([a-z][a-z0-9+.-]+:\/\/)[^/]*@/i, '$1')
}

// Python's form of a replacement field, as Scrapy's URIs have it.
const PLACEHOLDER = /%\((\w+)\)([-#0 +]*)(\d*)[a-z]/g

/** `uri` with its placeholders replaced, or which one is unknown. */
export function filledUri(uri: string, words: UriWords): string | { readonly problem: string } {
  const isUrl = SCHEME.test(uri)
  const unknown = [...uri.matchAll(PLACEHOLDER)].find((match) => !Object.hasOwn(words, match[1]!))
  if (unknown)
    return { problem: `nothing is known of ${unknown[0]}; there are ${Object.keys(words).join(', ')}` }
  return uri.replaceAll(PLACEHOLDER, (_, word: string, flags: string, width: string) => {
    const padded = String(words[word]).padStart(Number(width), flags.includes('0') ? '0' : ' ')
    return isUrl ? encodeURIComponent(padded) : padded
  })
}

/** Whether a URI holds one of these words. */
export function usesWord(uri: string, words: readonly string[]): boolean {
  return [...uri.matchAll(PLACEHOLDER)].some(([, word]) => words.includes(word!))
}

/** Scrapy's form of a time in a file name: 2026-11-21T12-00-00+00-00. */
export function uriTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replaceAll(':', '-')}+00-00`
}

/** The same with microseconds, as `%(batch_time)s` has it: 2026-11-21T12-00-00.123456+00-00. */
export function uriMicroTime(timeMs: number): string {
  const micros = String(Math.floor((timeMs % 1000) * 1000)).padStart(6, '0')
  return uriTime(new Date(timeMs)).replace('+', `.${micros}+`)
}
