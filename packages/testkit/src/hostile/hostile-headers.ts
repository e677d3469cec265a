/** Answers whose beginning is not HTTP, or more of it than anybody needs; redirects and cookies without end. */

import { fails, failsForNow, type HostileCase, isPage } from './hostile-case.ts'
import { chunk, drip, head, html, LAST_CHUNK, pour, send } from './raw-answer.ts'

const HTML = { 'Content-Type': 'text/html' }

const TOO_MANY_REDIRECTS = fails('IgnoreRequest', undefined, { stats: { 'redirect/max_times_reached': 1 } })

/** An answer that is written as it stands. */
const raw = (
  name: string,
  expected: HostileCase['expected'],
  text: (path: string) => string,
): HostileCase => ({
  name,
  expected,
  answer: ({ socket, path }) => void socket.write(Buffer.from(text(path), 'latin1')),
})

const BAD_HTTP = failsForNow('DownloadFailedError', 'bad_http')

const redirect = (location: string) => head('302 Found', { Location: location, 'Content-Length': 0 })

export const HOSTILE_HEADERS: readonly HostileCase[] = [
  {
    name: 'endless-headers',
    expected: fails('DownloadTooLargeError', 'header_size'),
    answer({ socket }) {
      socket.write('HTTP/1.1 200 OK\r\n')
      pour(socket, () => `x-more: ${'x'.repeat(1000)}\r\n`)
    },
  },
  {
    name: 'endless-header',
    expected: fails('DownloadTooLargeError', 'header_size'),
    answer({ socket }) {
      socket.write('HTTP/1.1 200 OK\r\nx-long: ')
      pour(socket, () => 'x'.repeat(10_000))
    },
  },
  {
    name: 'thousands-of-headers',
    expected: fails('DownloadTooLargeError', 'header_count'),
    answer: ({ socket, path }) =>
      send({ socket }, html(path), Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`x${n}`, n]))),
  },
  {
    name: 'dripping-headers',
    expected: failsForNow('DownloadTimeoutError', 'slow_headers'),
    answer({ socket }) {
      socket.write('HTTP/1.1 200 OK\r\n')
      drip(socket, 'x-more: x\r\n', 100)
    },
  },
  {
    name: 'endless-phrase',
    expected: failsForNow('DownloadTimeoutError', 'slow_headers'),
    answer({ socket }) {
      socket.write('HTTP/1.1 200 ')
      drip(socket, 'O'.repeat(10_000), 20)
    },
  },
  {
    name: 'endless-interim-answers',
    expected: fails('DownloadTooLargeError', 'interim_answers'),
    answer: ({ socket }) => pour(socket, () => head('103 Early Hints', { Link: '</style.css>' })),
  },
  raw('http-0.9', BAD_HTTP, html),
  raw('another-protocol', BAD_HTTP, () => 'SSH-2.0-OpenSSH_9.6\r\n'),
  raw('no-status', BAD_HTTP, () => 'HTTP/1.1 OK\r\n\r\n'),
  raw('status-000', BAD_HTTP, () => 'HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n'),
  raw('nul-in-header', BAD_HTTP, () => 'HTTP/1.1 200 OK\r\nx-nul: a\0b\r\nContent-Length: 0\r\n\r\n'),
  raw('header-without-colon', BAD_HTTP, () => 'HTTP/1.1 200 OK\r\nwhat is this\r\n\r\n'),
  raw('space-before-colon', BAD_HTTP, () => 'HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello'),
  raw(
    'two-lengths',
    BAD_HTTP,
    () => 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
  ),
  raw('length-no-number', BAD_HTTP, () => 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello'),
  raw(
    'length-and-chunks',
    BAD_HTTP,
    (path) =>
      `${head('200 OK', { ...HTML, 'Content-Length': 5, 'Transfer-Encoding': 'chunked' })}${chunk(html(path))}${LAST_CHUNK}`,
  ),
  raw('switches-protocols', BAD_HTTP, () =>
    head('101 Switching Protocols', { Connection: 'Upgrade', Upgrade: 'other' }),
  ),
  raw('redirects-to-itself', TOO_MANY_REDIRECTS, (path) => redirect(path)),
  {
    name: 'redirects-round-and-round',
    expected: TOO_MANY_REDIRECTS,
    answer: ({ socket, path }) =>
      void socket.write(redirect(path.endsWith('/there') ? path.replace('/there', '') : `${path}/there`)),
  },
  {
    name: 'redirects-for-ever',
    expected: TOO_MANY_REDIRECTS,
    answer: ({ socket, path }) => void socket.write(redirect(`${path}x`)),
  },
  {
    name: 'refreshes-for-ever',
    expected: TOO_MANY_REDIRECTS,
    answer: (visit) => send(visit, `<meta http-equiv="refresh" content="0;url=${visit.path}x">`),
  },
  raw('location-without-end', fails('IgnoreRequest', 'location_length'), (path) =>
    redirect(`${path}${'x'.repeat(20_000)}`),
  ),
  raw('location-is-garbage', fails('HttpError'), () => redirect('http://[::%zz')),
  {
    name: 'a-thousand-cookies',
    expected: isPage({ stats: { 'cookies/too_many': 300 } }),
    answer: ({ socket, path }) => {
      const cookies = Array.from({ length: 400 }, (_, n) => `Set-Cookie: c${n}=${n}\r\n`).join('')
      const page = html(path)
      socket.write(`HTTP/1.1 200 OK\r\n${cookies}Content-Length: ${page.length}\r\n\r\n${page}`)
    },
  },
  {
    name: 'a-huge-cookie',
    expected: isPage({ stats: { 'cookies/too_large': 1 } }),
    answer: (visit) => send(visit, html(visit.path), { 'Set-Cookie': `c=${'x'.repeat(50_000)}` }),
  },
  {
    name: 'a-long-charset',
    // Quadratic for a careless pattern.
    expected: isPage(),
    answer: (visit) =>
      send(visit, html(visit.path), { 'Content-Type': `text/html; charset=${' '.repeat(50_000)}"` }),
  },
]
