/** Good pages that a careless protection would lose. */

import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import { type Expected, type HostileCase, isPage } from './hostile-case.ts'
import { chunk, head, html, LAST_CHUNK, type RawHeaders, send, trickle } from './raw-answer.ts'

const HTML = { 'Content-Type': 'text/html; charset=utf-8' }
const CHUNKED = { ...HTML, 'Transfer-Encoding': 'chunked' }

const page = (
  name: string,
  body: (path: string) => string | Buffer,
  headers: RawHeaders = {},
  expected: Expected = isPage(),
  status = '200 OK',
): HostileCase => ({
  name,
  expected,
  answer: (visit) => send(visit, body(visit.path), headers, status),
})

/** Written in pieces. */
const pieces = (name: string, everyMs: number, make: (path: string) => (string | Buffer)[]): HostileCase => ({
  name,
  expected: isPage(),
  answer: ({ socket, path }) => trickle(socket, make(path), everyMs),
})

export const AWKWARD_PAGES: readonly HostileCase[] = [
  {
    name: 'no-length',
    expected: isPage(),
    answer: ({ socket, path }) =>
      void socket.end(`${head('200 OK', { ...HTML, Connection: 'close' })}${html(path)}`),
  },
  {
    name: 'http-1.0',
    expected: isPage(),
    answer: ({ socket, path }) =>
      void socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n${html(path)}`),
  },
  pieces('chunk-extensions', 1, (path) => [
    head('200 OK', CHUNKED),
    chunk(html(path), ';name=value;quoted="a b"'),
    '0\r\nx-trailer: 1\r\n\r\n',
  ]),
  pieces('early-hints', 1, (path) => [
    head('103 Early Hints', { Link: '</style.css>; rel=preload' }),
    head('102 Processing'),
    head('200 OK', { ...HTML, 'Content-Length': html(path).length }),
    html(path),
  ]),
  pieces('many-small-chunks', 1, (path) => [
    head('200 OK', CHUNKED),
    ...[...html(path)].map((one) => chunk(one)),
    LAST_CHUNK,
  ]),
  pieces('slow-but-steady', 100, (path) => [
    head('200 OK', CHUNKED),
    ...Array.from({ length: 25 }, () => chunk(' '.repeat(400))),
    chunk(html(path)),
    LAST_CHUNK,
  ]),
  page('gzip', (path) => zlib.gzipSync(html(path)), { 'Content-Encoding': 'gzip' }),
  page('gzip-of-gzip', (path) => zlib.gzipSync(zlib.gzipSync(html(path))), {
    'Content-Encoding': 'gzip, gzip',
  }),
  page(
    'gzip-in-members',
    (path) => Buffer.concat([zlib.gzipSync(html(path).slice(0, 20)), zlib.gzipSync(html(path).slice(20))]),
    { 'Content-Encoding': 'gzip' },
  ),
  page('gzip-and-more', (path) => Buffer.concat([zlib.gzipSync(html(path)), Buffer.alloc(100)]), {
    'Content-Encoding': 'gzip',
  }),
  page('gzip-cut-off', (path) => zlib.gzipSync(html(path)).subarray(0, -6), { 'Content-Encoding': 'gzip' }),
  page('gzip-broken-further-down', (path) => brokenBehind(html(path)), { 'Content-Encoding': 'gzip' }),
  page('deflate', (path) => zlib.deflateSync(html(path)), { 'Content-Encoding': 'deflate' }),
  page('deflate-raw', (path) => zlib.deflateRawSync(html(path)), { 'Content-Encoding': 'deflate' }),
  page('brotli', (path) => zlib.brotliCompressSync(html(path)), { 'Content-Encoding': 'br' }),
  page('zstd', (path) => zlib.zstdCompressSync(html(path)), { 'Content-Encoding': 'zstd' }),
  page('identity', html, { 'Content-Encoding': 'identity' }),
  page('20-mib', (path) => html(path).padEnd(20_971_520), {}, isPage({ characters: 20_971_520 })),
  page(
    '20-mib-zipped',
    (path) => zlib.zstdCompressSync(Buffer.from(lines(html(path), 20_971_520))),
    { 'Content-Encoding': 'zstd' },
    isPage({ characters: 20_971_520 }),
  ),
  page('shrinks-well', (path) => zlib.gzipSync(html(path).padEnd(8_000_000)), { 'Content-Encoding': 'gzip' }),
  page('not-found', html, {}, isPage(), '404 Not Found'),
  page('gone', html, {}, isPage(), '410 Gone'),
  page('empty', () => '', {}, isPage({ title: '', characters: 0 })),
  page(
    'no-content',
    () => '',
    { 'Content-Length': 0 },
    isPage({ title: '', characters: 0 }),
    '204 No Content',
  ),
  page('30-kb-of-headers', html, { 'x-long': 'x'.repeat(30_000) }),
  page('hundred-headers', html, Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, n]))),
  page('unknown-charset', (path) => html(path, 'é'), { 'Content-Type': 'text/html; charset=klingon' }),
  page('wrong-charset', (path) => Buffer.from(html(path, 'é'), 'latin1')),
  page('utf-16', (path) => Buffer.from(`\ufeff${html(path)}`, 'utf16le'), { 'Content-Type': 'text/html' }),
  page('utf-16-declared', (path) => Buffer.from(html(path), 'utf16le'), {
    'Content-Type': 'text/html; charset=utf-16le',
  }),
  page('shift-jis', (path) => Buffer.concat([Buffer.from(html(path)), Buffer.from('93fa967b8cea', 'hex')]), {
    'Content-Type': 'text/html; charset=x-sjis',
  }),
  page(
    'iso-2022-jp',
    (path) => Buffer.concat([Buffer.from(html(path)), Buffer.from('1b2442467c4b5c1b2842', 'hex')]),
    {
      'Content-Type': 'text/html; charset=iso-2022-jp',
    },
  ),
  page('a-stray-zero', (path) => html(path, '\0\x01')),
  page('no-type', html, { 'Content-Type': '' }),
  page('nested-300-deep', (path) => html(path, `${'<div>'.repeat(300)}deep${'</div>'.repeat(300)}`)),
  page('ten-thousand-links', (path) => html(path, '<a href="/x">x</a>'.repeat(10_000))),
]

/** Text that is broken in the middle of what comes after. */
function brokenBehind(text: string): Buffer {
  const rest = randomBytes(200_000).toString('hex')
  const zipped = zlib.gzipSync(text + rest)
  zipped.fill(0xff, 100_000, 101_000)
  return zipped
}

/** Lines that differ, as those of a long table do. */
function lines(text: string, bytes: number): string {
  const rest = Array.from(
    { length: bytes / 16 },
    (_, n) => `${((n * 2_654_435_761) % 1e9).toFixed(0)}\n`,
  ).join('')
  return text.concat(rest).slice(0, bytes).padEnd(bytes)
}
