import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutUrlSecrets } from '@webloom/core'

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
  /** Credentials in the URI, as Scrapy takes them: `s3://key:secret@bucket/object`. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/** An output of a storage in FEED_STORAGES. */
export interface OwnTarget {
  readonly kind: 'own'
  readonly scheme: string
  /** The URI with its password, if it has one. Only the storage may see it. */
  readonly uri: string
}

/** The values of `%(…)s` and `%(…)d`. */
export type UriWords = Readonly<Record<string, string | number>>

// The device is stdout, too: opened as a file, it would be written past what stdout still buffers.
const STDOUT = new Set(['-', 'stdout:', 'stdout://', '/dev/stdout'])

export function isStdout(uri: string): boolean {
  return STDOUT.has(uri)
}

/** A scheme has two letters or more before `://`: `C:\out.csv` is a path. */
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i

/**
 * Returns the target of a URI whose placeholders are filled in, or why there is none.
 *
 * @param storages the schemes of FEED_STORAGES; null removes one
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
    return { problem: `FEED_STORAGES sets ${scheme} to null, so nothing can be written to ${scheme}://` }
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

/** Returns the URI for messages: without user and password, and without values that its query calls a signature, token or key. */
export function shownUri(uri: string): string {
  return withoutUrlSecrets(uri.replace(/^([a-z][a-z0-9+.-]+:\/\/)[^/]*@/i, '$1'))
}

/** Returns a storage's text without the secrets of the output's URI. */
export function shownText(text: string, uri: string): string {
  let shown = withoutUrlSecrets(text.replaceAll(uri, shownUri(uri)))
  for (const secret of secretsOf(uri)) shown = shown.replaceAll(secret, '***')
  return shown
}

// A shorter password would take parts of words out of messages.
const SECRET_CHARACTERS_MIN = 4

const USER = /^[a-z][a-z0-9+.-]+:\/\/([^/?#]*)@/i

/** Returns user and password, and the password alone, each as the URI has it and decoded. */
function secretsOf(uri: string): readonly string[] {
  const written = USER.exec(uri)?.[1]
  if (!written?.includes(':')) return []
  const password = written.slice(written.indexOf(':') + 1)
  return [written, decoded(written), password, decoded(password)].filter(
    (secret) => secret.length >= SECRET_CHARACTERS_MIN,
  )
}

// Python's replacement fields, as Scrapy's URIs have them.
const PLACEHOLDER = /%\((\w+)\)([-#0 +]*)(\d*)[a-z]/g

/** Returns `uri` with its placeholders replaced, or which placeholder is unknown. */
export function filledUri(uri: string, words: UriWords): string | { readonly problem: string } {
  const isUrl = SCHEME.test(uri)
  const unknown = [...uri.matchAll(PLACEHOLDER)].find((match) => !Object.hasOwn(words, match[1]!))
  if (unknown)
    return { problem: `${unknown[0]} is not a placeholder; known are ${Object.keys(words).join(', ')}` }
  return uri.replaceAll(PLACEHOLDER, (_, word: string, flags: string, width: string) => {
    const padded = String(words[word]).padStart(Number(width), flags.includes('0') ? '0' : ' ')
    return isUrl ? encodeURIComponent(padded) : padded
  })
}

/** Returns whether a URI has one of these placeholders. */
export function usesWord(uri: string, words: readonly string[]): boolean {
  return [...uri.matchAll(PLACEHOLDER)].some(([, word]) => words.includes(word!))
}

/** Returns Scrapy's form of a time in a file name: 2026-11-21T12-00-00+00-00. */
export function uriTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replaceAll(':', '-')}+00-00`
}

/** Returns the same with microseconds, for `%(batch_time)s`: 2026-11-21T12-00-00.123456+00-00. */
export function uriMicroTime(timeMs: number): string {
  const micros = String(Math.floor((timeMs % 1000) * 1000)).padStart(6, '0')
  return uriTime(new Date(timeMs)).replace('+', `.${micros}+`)
}
