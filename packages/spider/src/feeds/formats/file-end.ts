/**
 * The end of a file that is appended to.
 *
 * A worker that is killed while it writes leaves its last record torn: the kernel stops a big write between two memory
 * pages. The next record must not follow such a rest on one line. A complete record that only lacks its line end is kept. A
 * rest that is no record is cut off, after its text was logged. Its page was not committed, so its items come again.
 */

import type { FileHandle } from 'node:fs/promises'
import type { FormatReports } from './item-format.ts'

// With 1 MiB, making a JSON array of 200 MB takes 58 MiB of memory, as garbage is collected late; with this, 13.
const CHUNK_BYTES = 64 * 1024

// A longer last record means that this is another kind of file.
const RECORD_BYTES_MAX = 64 * 1024 * 1024

const SHOWN_CHARACTERS = 500

const LF = 0x0a

/** Makes a JSON lines file end with a complete line. */
export async function mendLastLine(file: FileHandle, size: number, reports: FormatReports): Promise<void> {
  const lineStart = await lastLineStart(file, size)
  if (lineStart === size) return
  const line = await textBetween(file, lineStart, size)
  // Only a line that begins as an item counts as a torn one: this may be a text file that never held JSON.
  const isTorn = /^\s*[{[]/.test(line) && !isJson(line)
  if (isTorn) return cutRest(file, size, lineStart, line, reports)
  await file.appendFile('\n')
}

/** Cuts off the file after `keptBytes`, unless another process is writing it: then nothing is torn. */
export async function cutRest(
  file: FileHandle,
  size: number,
  keptBytes: number,
  rest: string,
  { logger, uri }: FormatReports,
): Promise<void> {
  const sizeNow = (await file.stat()).size
  if (sizeNow !== size) {
    logger.warn(
      { feed: uri },
      'the file ends with an incomplete record and is growing: another process is writing it',
    )
    return
  }
  await file.truncate(keptBytes)
  logger.warn(
    { feed: uri, bytes: size - keptBytes, text: rest.slice(0, SHOWN_CHARACTERS) },
    'the last record of the file was incomplete, as after a kill; it was cut off',
  )
}

/** Returns the bytes from `start` to `end` as text. */
export async function textBetween(file: FileHandle, start: number, end: number): Promise<string> {
  const chunks: Buffer[] = []
  for await (const { bytes } of chunksBetween(file, start, end)) chunks.push(Buffer.from(bytes))
  return Buffer.concat(chunks).toString()
}

/** Yields the file in order. The next piece overwrites `bytes`. */
export async function* chunksBetween(
  file: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<{ bytes: Buffer; offset: number }> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let offset = start; offset < end; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, end - offset), offset)
    if (bytesRead === 0) return
    yield { bytes: buffer.subarray(0, bytesRead), offset }
    offset += bytesRead
  }
}

/** Returns where the last line begins when it has no end; else `size`. */
async function lastLineStart(file: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES)
    const buffer = Buffer.alloc(end - start)
    await file.read(buffer, 0, buffer.length, start)
    const lineEnd = buffer.lastIndexOf(LF)
    if (lineEnd >= 0) return start + lineEnd + 1
    refuseLongRecord(size - start)
    end = start
  }
  return 0
}

export function refuseLongRecord(bytes: number): void {
  if (bytes <= RECORD_BYTES_MAX) return
  throw new Error(
    `its last record is longer than ${RECORD_BYTES_MAX / 1024 / 1024} MiB, so this is another kind of file`,
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
