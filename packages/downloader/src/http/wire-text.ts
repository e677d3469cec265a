import { isUtf8 } from 'node:buffer'

/**
 * Returns a header's value as its author wrote it. It arrives as bytes; bytes outside ASCII are read as UTF-8 wherever they
 * are valid UTF-8.
 */
export function asWritten(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}
