import zlib from 'node:zlib'

/** Unpacks bodies of one content encoding. */
export interface ContentCoding {
  /** Returns the unpacked body at once. Throws ERR_BUFFER_TOO_LARGE when it has more than `bytesMax` bytes. */
  sync(body: Uint8Array, bytesMax: number): Buffer
  /** Returns a stream that takes the packed body and gives the unpacked one. */
  stream(): NodeJS.ReadWriteStream
}

// A body that was cut short still gives what it holds, as in browsers: the flush modes ask for that.
const FLATE = { finishFlush: zlib.constants.Z_SYNC_FLUSH }
const BROTLI = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }
const ZSTD = {
  finishFlush: zlib.constants.ZSTD_e_flush,
  // RFC 9659: 8 MiB (2 ** 23) on the web. A frame of a few bytes may ask for a window of 128 MiB.
  params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 },
}
// With the default of 16 KiB a body takes four times as many trips through the thread pool.
const STREAMING = { chunkSize: 65_536 }

const gzip: ContentCoding = {
  sync: (body, maxOutputLength) => zlib.gunzipSync(body, { ...FLATE, maxOutputLength }),
  stream: () => zlib.createGunzip({ ...FLATE, ...STREAMING }),
}
const zlibDeflate: ContentCoding = {
  sync: (body, maxOutputLength) => zlib.inflateSync(body, { ...FLATE, maxOutputLength }),
  stream: () => zlib.createInflate({ ...FLATE, ...STREAMING }),
}
const rawDeflate: ContentCoding = {
  sync: (body, maxOutputLength) => zlib.inflateRawSync(body, { ...FLATE, maxOutputLength }),
  stream: () => zlib.createInflateRaw({ ...FLATE, ...STREAMING }),
}
const brotli: ContentCoding = {
  sync: (body, maxOutputLength) => zlib.brotliDecompressSync(body, { ...BROTLI, maxOutputLength }),
  stream: () => zlib.createBrotliDecompress({ ...BROTLI, ...STREAMING }),
}
const zstd: ContentCoding = {
  sync: (body, maxOutputLength) => zlib.zstdDecompressSync(body, { ...ZSTD, maxOutputLength }),
  stream: () => zlib.createZstdDecompress({ ...ZSTD, ...STREAMING }),
}

/** Returns the coding of that name in Content-Encoding; undefined for an unknown one. */
export function contentCoding(name: string, body: Uint8Array): ContentCoding | undefined {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return gzip
    case 'br':
      return brotli
    case 'zstd':
      return zstd
    case 'deflate':
      // The standard means zlib's format (RFC 9110 §8.4.1.2), but some servers send the bare stream. The first byte tells
      // which.
      return ((body[0] ?? 0) & 0x0f) === 8 ? zlibDeflate : rawDeflate
    default:
      return undefined
  }
}
