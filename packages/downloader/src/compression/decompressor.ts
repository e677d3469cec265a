/**
 * Unpacks compressed bodies, never past a limit.
 *
 * A small body is unpacked at once, which is quicker than a trip through the thread pool (7 KiB take 40 µs). A body that is
 * large, or turns out to be, is unpacked as a stream. Such bodies take turns: each may grow to the limit, and sixteen bombs
 * at a time would need sixteen times the memory.
 *
 * A body that is damaged in the middle gives what came before the damage, as in Scrapy; browsers show that much, too.
 */

import type { ContentCoding } from './content-coding.ts'

/** Thrown when the unpacked body is larger than the limit. */
export class DecompressesTooFar extends Error {}

export class Decompressor {
  #turn: Promise<unknown> = Promise.resolve()

  /** Resolves to the unpacked body. Rejects with `DecompressesTooFar`, or with zlib's error when not a byte could be unpacked. */
  async decompress(coding: ContentCoding, body: Uint8Array, bytesMax: number): Promise<Buffer> {
    return (
      decompressedAtOnce(coding, body, Math.min(bytesMax, SMALL_OUTPUT_BYTES)) ??
      this.#inTurn(() => decompressedBitByBit(coding, body, bytesMax))
    )
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }
}

const SMALL_BODY_BYTES = 65_536
const SMALL_OUTPUT_BYTES = 1_048_576

/** Returns undefined for a body that is damaged or too large to be unpacked at once. */
function decompressedAtOnce(coding: ContentCoding, body: Uint8Array, bytesMax: number): Buffer | undefined {
  if (body.length > SMALL_BODY_BYTES) return undefined
  try {
    return coding.sync(body, bytesMax)
  } catch {
    // The stream finds out what is wrong, and keeps what can be kept.
    return undefined
  }
}

async function decompressedBitByBit(
  coding: ContentCoding,
  body: Uint8Array,
  bytesMax: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const stream = coding.stream()
  stream.end(body)
  try {
    for await (const chunk of stream) {
      bytes += chunk.length
      if (bytes > bytesMax) throw new DecompressesTooFar()
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (bytes === 0 || error instanceof DecompressesTooFar) throw error
  }
  return Buffer.concat(chunks, bytes)
}
