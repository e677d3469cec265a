/**
 * A server closes a connection that nobody has used for a while, and may do so just when a request is on its way: that request was most
 * probably never read, and nothing is wrong with its host. RFC 9110, 9.2.2 and RFC 9112, 9.3.1: a client may send it again.
 *
 * undici says only that the connection has closed. So each connection is watched here from its beginning.
 */

import type { Connector } from './undici-parts.ts'

/** What has ended connections on which something had come before. */
const ERRORS_OF_USED = new WeakSet<Error>()

/**
 * Returns a function that connects as `connect` does, and watches each connection for `wasClosedWhenUsedAgain`. Those of HTTP/2 are not
 * watched: there a server says which requests it has not read (GOAWAY), and undici sends those again.
 */
export function watchingUse(connect: Connector): Connector {
  return (given, answer) =>
    connect(given, (...result) => {
      const [error, socket] = result
      if (error === null && (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2'))
        // Before undici's own listener, which fails the requests that have not left yet.
        socket.once('error', (end: Error) => {
          if (socket.bytesRead > 0) ERRORS_OF_USED.add(end)
        })
      answer(...result)
    })
}

/** Returns whether the error has ended a connection on which something had come before. */
export function wasClosedWhenUsedAgain(error: Error): boolean {
  return ERRORS_OF_USED.has(error)
}
