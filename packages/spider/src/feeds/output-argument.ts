import { UsageError } from '@webloom/core'
import { extensionsOf, FORMATS_SHOWN, formatNamed } from './formats/feed-formats.ts'
import { isStdout } from './storages/feed-uri.ts'

/** What `-o` or `-O` asks for, as an entry of FEEDS. */
export interface OutputArgument {
  readonly uri: string
  /** Absent when the extension names the format. */
  readonly format?: string
  readonly overwrite: boolean
}

/**
 * Reads `file[:format]` of `-o` (append) and `-O` (overwrite): `out.csv`, `out.txt:jsonl`, `-:json`. Whether the format
 * exists is checked with the settings, as FEED_EXPORTERS may add more.
 *
 * @throws UsageError when neither suffix nor extension names a format
 */
export function parseOutputArgument(text: string, overwrite: boolean): OutputArgument {
  const { uri, suffix } = splitSuffix(text)
  if (suffix !== undefined) return { uri, format: formatNamed(suffix) ?? suffix, overwrite }
  if (uri === '') throw new UsageError('WL_USAGE', `An output is empty. Write a path, such as out.jsonl`)
  if (isStdout(uri)) throw new UsageError('WL_USAGE', `Output ${uri} needs a format: ${uri}:jsonl`)
  const extension = extensionsOf(uri).format
  if (extension === '') {
    const example =
      uri.endsWith('/') || uri.endsWith('\\') ? `${uri}out.jsonl` : `${uri}.jsonl or ${uri}:jsonl`
    throw new UsageError(
      'WL_USAGE',
      `Output ${text} names no format. Write ${example}; the formats are ${FORMATS_SHOWN}`,
    )
  }
  return { uri, overwrite }
}

/**
 * Splits off the part after the last colon when it looks like a word. That part belongs to the path when it holds a
 * separator (`C:\out.csv`, `file:///out.csv`) or an extension of its own (`a:b.csv`).
 */
function splitSuffix(text: string): { uri: string; suffix?: string } {
  const colon = text.lastIndexOf(':')
  const suffix = text.slice(colon + 1)
  if (colon < 1 || !/^[\w-]+$/.test(suffix)) return { uri: text }
  const uri = text.slice(0, colon)
  return { uri: uri === 'stdout' ? 'stdout:' : uri, suffix }
}
