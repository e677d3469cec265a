import { isUtf8 } from 'node:buffer'

/** A header's value as its author wrote it: it arrives byte by byte, and what is not ASCII is UTF-8 wherever that makes sense. */
export function asWritten(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}
