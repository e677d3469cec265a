import zlib from 'node:zlib'
import { DownloadError, MemoryStatsCollector, type ProtectionReason, Request, Response } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { HttpCompressionMiddleware } from './http-compression.ts'

const TEXT = 'a page, '.repeat(5000)

function middleware(options: { bodyBytesMax?: number; ratioMax?: number; encodingsMax?: number } = {}) {
  const stats = new MemoryStatsCollector()
  return { stats, compression: new HttpCompressionMiddleware({ bodyBytesMax: 1_000_000, stats, ...options }) }
}

const compressed = (encoding: string, body: Uint8Array) =>
  new Response('http://x/', { headers: { 'content-encoding': encoding }, body })

async function decoded(response: Response, options = {}): Promise<Response> {
  return middleware(options).compression.processResponse(new Request('http://x/'), response)
}

/** That the response is refused for the reason, which is counted. */
async function expectRefused(response: Response, reason: ProtectionReason, options = {}): Promise<void> {
  const { stats, compression } = middleware(options)
  const error = await Promise.resolve(compression.processResponse(new Request('http://x/'), response)).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(DownloadError)
  expect((error as DownloadError).reason).toBe(reason)
  expect(stats.get(`downloader/protection/${reason}`)).toBe(1)
}

describe('what is undone', () => {
  test.each([
    ['gzip', zlib.gzipSync(TEXT)],
    ['x-gzip', zlib.gzipSync(TEXT)],
    ['deflate', zlib.deflateSync(TEXT)],
    ['deflate', zlib.deflateRawSync(TEXT)],
    ['br', zlib.brotliCompressSync(TEXT)],
    ['zstd', zlib.zstdCompressSync(TEXT)],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(TEXT))],
  ])('%s', async (encoding, body) => {
    const response = await decoded(compressed(encoding, body))
    expect(response.text).toBe(TEXT)
    expect(response.headers.has('content-encoding')).toBe(false)
  })

  test('a body too large to be unfolded at once', async () => {
    const large = Buffer.from(Array.from({ length: 200_000 }, (_, n) => `${n * 7919}`).join(' '))
    for (const body of [zlib.gzipSync(large), zlib.zstdCompressSync(large)]) {
      const response = await decoded(compressed(body[0] === 0x1f ? 'gzip' : 'zstd', body), {
        bodyBytesMax: large.length,
      })
      expect(large.equals(response.body)).toBe(true)
    }
  })

  test('an encoding that nobody knows is left to the callback', async () => {
    const unknown = compressed('sdch', Buffer.from('x'))
    expect(await decoded(unknown)).toBe(unknown)
  })
})

describe('a broken body gives what was unfolded before', () => {
  const numbers = Buffer.from(Array.from({ length: 20_000 }, (_, n) => `${n * 7919}`).join(' '))

  test('cut short', async () => {
    const zipped = zlib.gzipSync(numbers)
    const response = await decoded(compressed('gzip', zipped.subarray(0, zipped.length / 2)))
    expect(response.text.length).toBeGreaterThan(10_000)
  })

  test('overwritten in the middle', async () => {
    const zipped = zlib.gzipSync(numbers)
    zipped.fill(0xff, zipped.length / 2, zipped.length / 2 + 100)
    const { text } = await decoded(compressed('gzip', zipped))
    expect(text.length).toBeGreaterThan(10_000)
    expect(numbers.toString().startsWith(text.slice(0, 10_000))).toBe(true)
  })

  test('and is an error when that is nothing', async () => {
    await expectRefused(compressed('gzip', Buffer.from('plain')), 'bad_encoding')
  })
})

describe('what is refused', () => {
  const zeros = Buffer.alloc(10_000_000)

  test.each([
    ['gzip', zlib.gzipSync(zeros)],
    ['br', zlib.brotliCompressSync(zeros)],
    ['zstd', zlib.zstdCompressSync(zeros)],
  ])('a %s bomb, by its size or by its ratio', async (encoding, body) => {
    await expectRefused(compressed(encoding, body), 'decompressed_size')
    await expectRefused(compressed(encoding, body), 'decompression_ratio', { bodyBytesMax: 0 })
    const all = await decoded(compressed(encoding, body), { bodyBytesMax: 0, ratioMax: 0 })
    expect(all.body.length).toBe(zeros.length)
  })

  test('a ratio is no reason for a small page', async () => {
    const page = await decoded(compressed('gzip', zlib.gzipSync(Buffer.alloc(8_000_000))), {
      bodyBytesMax: 0,
    })
    expect(page.body.length).toBe(8_000_000)
  })

  test('a longer chain of encodings than is allowed, before any of it is undone', async () => {
    const chain = compressed('gzip,gzip, gzip', zlib.gzipSync('x'))
    await expectRefused(chain, 'encoding_chain', { encodingsMax: 2 })
  })

  test('a zstd frame that asks for a window of 128 MiB', async () => {
    // Magic number, no flags, a window of 2 ** 27 bytes, and a raw block of one byte.
    const frame = Buffer.from('28b52ffd008809000078', 'hex')
    await expectRefused(compressed('zstd', frame), 'bad_encoding')
  })
})
