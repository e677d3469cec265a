/**
 * A server closes a connection that nobody has used for a while, and may do so just when a request is on its way: that request was
 * never read, and nothing is wrong with its host. RFC 9110, 9.2.2 and RFC 9112, 9.3.1: a client may send it again on a new connection.
 *
 * undici says only that the connection has closed. So each connection is watched here from its beginning.
 */

import type { Connector } from './undici-parts.ts'

/** What has ended connections on which answers had come before. */
const ENDS_OF_USED = new WeakSet<Error>()

/**
 * Returns the same function, whose connections are watched for `closedWhenUsedAgain`. Those of HTTP/2 are not: there a server says
 * which requests it has not read (GOAWAY), and undici sends those again.
 */
export function watchingUse(connect: Connector): Connector {
  return (given, answer) =>
    connect(given, (...result) => {
      const [error, socket] = result
      if (error === null && (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2'))
        // First of all: undici may fail requests in its own.
        socket.prependOnceListener('error', (end: Error) => {
          if (socket.bytesRead > 0) ENDS_OF_USED.add(end)
        })
      answer(...result)
    })
}

/** Returns whether what has ended a request has ended its connection, and an earlier request had been answered there. */
export function closedWhenUsedAgain(error: Error): boolean {
  return ENDS_OF_USED.has(error)
}
