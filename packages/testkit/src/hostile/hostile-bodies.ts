/** Bodies that are too much, too slow, cut off, or not what they are said to be. */

import zlib from 'node:zlib'
import { fails, failsForNow, type HostileCase, isPage } from './hostile-case.ts'
import { chunk, drip, head, html, LAST_CHUNK, pour, send } from './raw-answer.ts'

const MIB = 1_048_576
const HTML = { 'Content-Type': 'text/html' }
const CHUNKED = { ...HTML, 'Transfer-Encoding': 'chunked' }

const TOO_LARGE = 'DownloadTooLargeError'
const DATA_LOSS = failsForNow('ResponseDataLossError', 'data_loss')
const SLOW = failsForNow('DownloadTimeoutError', 'slow_body')

const zeros = Buffer.alloc(24 * MIB)

/** 40 MiB that have shrunk to about a tenth: too large, and yet no bomb by their ratio. */
function dullGzip(): Buffer {
  const text = Buffer.alloc(MIB)
  for (let at = 0; at < text.length; at += 11) text[at] = (at * 7919) & 0xff
  const member = zlib.gzipSync(text, { level: 1 })
  return Buffer.concat(Array.from({ length: 40 }, () => member))
}

function compressed(
  name: string,
  encoding: string,
  body: () => Buffer,
  expected: HostileCase['expected'],
): HostileCase {
  return { name, expected, answer: (visit) => send(visit, body(), { 'Content-Encoding': encoding }) }
}

const RATIO = fails(TOO_LARGE, 'decompression_ratio')

const bomb = (name: string, encoding: string, body: () => Buffer) => compressed(name, encoding, body, RATIO)

const garbled = (name: string, encoding: string, reason: string, body: () => Buffer) =>
  compressed(name, encoding, body, fails('ResponseDecodeError', reason))

export const HOSTILE_BODIES: readonly HostileCase[] = [
  bomb('gzip-bomb', 'gzip', () => zlib.gzipSync(zeros)),
  bomb('deflate-bomb', 'deflate', () => zlib.deflateSync(zeros)),
  bomb('brotli-bomb', 'br', () => brotli(zeros)),
  bomb('zstd-bomb', 'zstd', () => zlib.zstdCompressSync(zeros)),
  bomb('gzip-of-gzip-bomb', 'gzip, gzip', () => zlib.gzipSync(zlib.gzipSync(zeros))),
  compressed('large-when-unfolded', 'gzip', dullGzip, fails(TOO_LARGE, 'decompressed_size')),
  // A frame header that asks for a window of 128 MiB, and one block.
  garbled('zstd-window', 'zstd', 'bad_encoding', () => Buffer.from('28b52ffd008809000078', 'hex')),
  garbled('encoding-chain', 'gzip, gzip, gzip, gzip', 'encoding_chain', () => zlib.gzipSync('x')),
  garbled('no-gzip-at-all', 'gzip', 'bad_encoding', () => Buffer.from('<p>plain')),
  {
    name: 'endless-chunked',
    expected: fails(TOO_LARGE, 'body_size'),
    answer({ socket }) {
      socket.write(head('200 OK', CHUNKED))
      const piece = chunk(Buffer.alloc(65_536, 'x'))
      pour(socket, () => piece)
    },
  },
  {
    name: 'endless-until-closed',
    expected: fails(TOO_LARGE, 'body_size'),
    answer({ socket }) {
      socket.write(head('200 OK', { ...HTML, Connection: 'close' }))
      const piece = Buffer.alloc(65_536, 'x')
      pour(socket, () => piece)
    },
  },
  {
    name: 'announces-terabytes',
    expected: fails(TOO_LARGE, 'body_size'),
    answer: ({ socket }) => void socket.write(head('200 OK', { ...HTML, 'Content-Length': 10 ** 12 })),
  },
  {
    name: 'drips',
    expected: SLOW,
    answer({ socket }) {
      socket.write(head('200 OK', { ...HTML, 'Content-Length': 100_000 }))
      drip(socket, '.', 100)
    },
  },
  {
    name: 'stops-in-the-middle',
    expected: SLOW,
    answer: ({ socket }) =>
      void socket.write(`${head('200 OK', { ...HTML, 'Content-Length': 100_000 })}${'x'.repeat(50_000)}`),
  },
  {
    name: 'endless-chunk-extension',
    expected: SLOW,
    answer({ socket }) {
      socket.write(`${head('200 OK', CHUNKED)}5;name=`)
      drip(socket, 'x'.repeat(10_000), 20)
    },
  },
  {
    name: 'endless-trailers',
    expected: DATA_LOSS,
    answer({ socket }) {
      socket.write(`${head('200 OK', CHUNKED)}0\r\n`)
      drip(socket, `x-more: ${'x'.repeat(5000)}\r\n`, 5)
    },
  },
  {
    name: 'shorter-than-announced',
    expected: DATA_LOSS,
    answer: ({ socket, path }) =>
      void socket.end(`${head('200 OK', { ...HTML, 'Content-Length': 5000 })}${html(path)}`),
  },
  {
    name: 'longer-than-announced',
    // What comes after the announced length is the server's answer to a question that nobody has asked.
    paths: ['', '/next'],
    expected: isPage(),
    answer({ socket, path }) {
      const smuggled = html('/smuggled')
      send({ socket }, html(path))
      socket.write(`${head('200 OK', { ...HTML, 'Content-Length': smuggled.length })}${smuggled}`)
    },
  },
  {
    name: 'broken-chunk-size',
    expected: DATA_LOSS,
    answer: ({ socket }) => void socket.write(`${head('200 OK', CHUNKED)}5\r\nhello\r\nzz\r\nhello`),
  },
  {
    name: 'endless-chunk-size',
    expected: DATA_LOSS,
    answer: ({ socket }) => void socket.write(`${head('200 OK', CHUNKED)}${'f'.repeat(100)}\r\nhello`),
  },
  {
    name: 'chunks-cut-off',
    expected: DATA_LOSS,
    answer: ({ socket }) =>
      void socket.end(Buffer.concat([Buffer.from(head('200 OK', CHUNKED)), chunk('hello')])),
  },
  {
    name: 'reset-in-the-body',
    expected: DATA_LOSS,
    answer({ socket }) {
      socket.write(`${head('200 OK', { ...HTML, 'Content-Length': 5000 })}begun`)
      setTimeout(() => socket.resetAndDestroy(), 50)
    },
  },
  {
    name: 'one-byte-chunks',
    expected: isPage({ characters: 200_000 }),
    answer({ socket, path }) {
      const page = html(path).padEnd(200_000)
      socket.write(
        Buffer.concat([Buffer.from(head('200 OK', CHUNKED)), ...[...page].map((one) => chunk(one))]),
      )
      socket.write(LAST_CHUNK)
    },
  },
]

function brotli(body: Buffer): Buffer {
  return zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } })
}
