import { pipeline, Readable } from 'node:stream'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import type { Compression } from '../formats/feed-formats.ts'

/** How an output is compressed. */
export interface CompressionOptions {
  readonly compression: Compression
  /** 0 to 9 for gzip, 1 to 22 for zstd. Absent: the library's default. */
  readonly level?: number | undefined
}

/** Yields the pieces compressed, in bounded memory. Throws what `pieces` throws. */
export async function* compressed(
  pieces: AsyncIterable<Uint8Array>,
  { compression, level }: CompressionOptions,
): AsyncGenerator<Uint8Array> {
  const packer =
    compression === 'gzip'
      ? createGzip(level === undefined ? {} : { level })
      : createZstdCompress(
          level === undefined ? {} : { params: { [constants.ZSTD_c_compressionLevel]: level } },
        )
  // An error of either ends both, and the reader of the packer gets it.
  pipeline(Readable.from(pieces), packer, () => {})
  yield* packer
}
