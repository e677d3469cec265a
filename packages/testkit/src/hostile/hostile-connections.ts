/** Connections that hang, break or are not what they are said to be. */

import { fails, failsForNow, type HostileCase, isPage } from './hostile-case.ts'
import { html, send } from './raw-answer.ts'

const BROKEN = failsForNow('DownloadFailedError')
const LATE = failsForNow('DownloadTimeoutError', 'deadline')
const BAD_CERTIFICATE = fails('DownloadCertificateError', 'bad_certificate')

const answersPage: HostileCase['answer'] = (visit) => send(visit, html(visit.path))

export const HOSTILE_CONNECTIONS: readonly HostileCase[] = [
  { name: 'never-answers', expected: LATE },
  {
    name: 'resets-at-once',
    expected: BROKEN,
    onConnection: (socket) => void socket.resetAndDestroy(),
  },
  {
    name: 'resets-the-request',
    expected: BROKEN,
    answer: ({ socket }) => void socket.resetAndDestroy(),
  },
  { name: 'hangs-up', expected: BROKEN, answer: ({ socket }) => void socket.end() },
  {
    name: 'hangs-up-in-the-headers',
    expected: BROKEN,
    answer: ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nContent-'),
  },
  {
    name: 'answers-unasked',
    // Its answer is taken for the answer to what was asked meanwhile; the second one has no question.
    expected: isPage(),
    onConnection: (socket) => send({ socket }, html('/answers-unasked')),
    answer: answersPage,
  },
  {
    name: 'tls-that-is-none',
    tls: 'valid',
    expected: failsForNow('DownloadFailedError', 'bad_tls'),
    onConnection: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
  },
  { name: 'tls-that-hangs', tls: 'valid', expected: LATE, onConnection: () => {} },
  {
    name: 'tls-that-breaks',
    tls: 'valid',
    expected: failsForNow('DownloadFailedError', 'bad_tls'),
    onConnection: (socket) => void socket.resetAndDestroy(),
  },
  {
    name: 'tls-that-is-closed',
    tls: 'valid',
    expected: failsForNow('DownloadFailedError', 'bad_tls'),
    onConnection: (socket) => void socket.end(),
  },
  { name: 'certificate-self-signed', tls: 'self-signed', expected: BAD_CERTIFICATE, answer: answersPage },
  { name: 'certificate-expired', tls: 'expired', expected: BAD_CERTIFICATE, answer: answersPage },
  { name: 'certificate-of-another-host', tls: 'other-host', expected: BAD_CERTIFICATE, answer: answersPage },
  { name: 'certificate-valid', tls: 'valid', expected: isPage(), answer: answersPage },
]
