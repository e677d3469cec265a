/** A CSV file that is appended to: its header, and an end that a kill may have torn. */

import type { FileHandle } from 'node:fs/promises'
import { type Options, parse } from 'csv-parse/sync'
import { chunksBetween, cutRest, refuseLongRecord, textBetween } from './file-end.ts'
import type { FormatReports } from './item-format.ts'

// Thousands of columns fit. A longer first row is not a header.
const HEADER_BYTES_MAX = 1024 * 1024

/** Returns the file's column names, and makes its last row complete. */
export async function resumeCsv(file: FileHandle, size: number, reports: FormatReports): Promise<string[]> {
  const rowEnd = await lastRowEnd(file, size)
  const header = await headerOf(file, size)
  if (rowEnd < size) await mendLastRow(file, size, rowEnd, header.length, reports)
  return header
}

async function headerOf(file: FileHandle, size: number): Promise<string[]> {
  const start = await textBetween(file, 0, Math.min(size, HEADER_BYTES_MAX))
  const [header = []] = rowsOf(start, { to: 1 }) ?? []
  if (header.every((name) => name.trim() === '')) throw new Error('its first line is not CSV header')
  return header
}

async function mendLastRow(
  file: FileHandle,
  size: number,
  rowEnd: number,
  columns: number,
  reports: FormatReports,
): Promise<void> {
  refuseLongRecord(size - rowEnd)
  const rest = await textBetween(file, rowEnd, size)
  // A kill between CR and LF leaves a complete row, whose CR is read as a line end.
  const isWhole = rowsOf(rest, { relax_quotes: true })?.at(-1)?.length === columns
  if (!isWhole) return cutRest(file, size, rowEnd, rest, reports)
  await file.appendFile(rest.endsWith('\r') ? '\n' : '\r\n')
}

/** Returns undefined when the text ends within quotes or is not CSV. */
function rowsOf(text: string, options: Options): string[][] | undefined {
  try {
    return parse(text, { ...options, bom: true, relax_column_count: true })
  } catch {
    return undefined
  }
}

const LF = 0x0a
const COMMA = 0x2c
const QUOTE = 0x22

/**
 * Returns the position after the line break that ends the last row. A line break within a quoted cell ends no row, and only
 * from the file's beginning can one tell which breaks these are: a row torn within quotes would swallow all rows after it.
 */
async function lastRowEnd(file: FileHandle, size: number): Promise<number> {
  let state: 'cell start' | 'plain' | 'quoted' | 'quote seen' = 'cell start'
  let rowEnd = 0
  for await (const { bytes, offset } of chunksBetween(file, await bomLength(file), size)) {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index]
      if (state === 'quoted') {
        if (byte === QUOTE) state = 'quote seen'
      } else if (byte === QUOTE && state !== 'plain') {
        state = 'quoted'
      } else if (byte === LF) {
        rowEnd = offset + index + 1
        state = 'cell start'
      } else {
        state = byte === COMMA ? 'cell start' : 'plain'
      }
    }
  }
  return rowEnd
}

async function bomLength(file: FileHandle): Promise<number> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(3), 0, 3, 0)
  return bytesRead === 3 && buffer.equals(Buffer.from([0xef, 0xbb, 0xbf])) ? 3 : 0
}
