/** Answers written byte by byte, as no HTTP library would. */

import type { Socket } from 'node:net'
import type { Visit } from './hostile-case.ts'

export type RawHeaders = Readonly<Record<string, string | number>>

export const titleOf = (path: string): string => path.slice(1)

/** A small page whose title is its path. */
export function html(path: string, more = ''): string {
  return `<!doctype html><html><head><title>${titleOf(path)}</title></head><body>${more}</body></html>`
}

/** Status line and headers, up to the empty line. */
export function head(status: string, headers: RawHeaders = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`
}

/** A whole answer with its length. The connection stays open. */
export function send(
  { socket }: Pick<Visit, 'socket'>,
  body: string | Buffer,
  headers: RawHeaders = {},
  status = '200 OK',
): void {
  const bytes = Buffer.from(body as string)
  const all = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': bytes.length, ...headers }
  socket.write(Buffer.concat([Buffer.from(head(status, all)), bytes]))
}

/** One chunk of a chunked body. */
export function chunk(text: string | Buffer, extension = ''): Buffer {
  const bytes = Buffer.from(text as string)
  const size = `${bytes.length.toString(16)}${extension}\r\n`
  return Buffer.concat([Buffer.from(size), bytes, Buffer.from('\r\n')])
}

export const LAST_CHUNK = '0\r\n\r\n'

/** Writes a piece now and then, until the other side goes. */
export function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs)
  socket.once('close', () => clearInterval(timer))
}

/** Writes pieces as fast as they are taken, until the other side goes. */
export function pour(socket: Socket, piece: () => string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece()));
  }
  socket.on('drain', more)
  more()
}

/** Writes pieces one after another; the connection stays open. */
export function trickle(socket: Socket, pieces: readonly (string | Buffer)[], everyMs: number): void {
  let next = 0
  const timer = setInterval(() => {
    if (next < pieces.length) socket.write(pieces[next++]!)
    else clearInterval(timer)
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}
