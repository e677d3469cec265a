import { Readable } from 'node:stream'
import { constants, createGunzip } from 'node:zlib'

/** Returns whether the bytes begin as gzip does. */
export function isGzip(body: Uint8Array): boolean {
  return body[0] === 0x1f && body[1] === 0x8b && body[2] === 0x08
}

/**
 * Resolves to the uncompressed bytes, as many as there are: an archive that is cut off or has a wrong checksum is read all
 * the same. Resolves to undefined when there are none, or more than `maxBytes` (0: no bound).
 */
export async function gunzipped(body: Uint8Array, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }) // an archive without its end is not an error
  try {
    const archive = Readable.from([body.subarray(0, -TRAILER_BYTES)])
    for await (const chunk of archive.pipe(gunzip) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (maxBytes > 0 && bytes > maxBytes) return undefined
      chunks.push(chunk)
    }
  } catch (error) {
    if (!isZlibError(error)) throw error
  }
  return bytes > 0 ? Buffer.concat(chunks) : undefined
}

// Checksum and length. With a wrong one zlib would keep back the last piece that it has read.
const TRAILER_BYTES = 8

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
