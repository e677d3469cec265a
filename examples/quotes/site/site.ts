import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { notFoundPage, pagesByPath } from './pages.ts'

export interface Site {
  /** Of the front page, with the slash at its end. */
  readonly url: string
  /** Stops listening and cuts what is still connected. */
  close(): Promise<void>
}

/** Serves the site on loopback; without a port, on one that is free. */
export async function startSite({ port = 0 } = {}): Promise<Site> {
  const files = filesByPath()
  const server = createServer((request, response) => answer(files, request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface File {
  readonly type: string
  readonly body: string
}

const HTML = 'text/html; charset=utf-8'

function filesByPath(): Map<string, File> {
  const files = new Map<string, File>()
  for (const [path, body] of pagesByPath()) files.set(path, { type: HTML, body })
  files.set('/style.css', { type: 'text/css; charset=utf-8', body: read('style.css') })
  files.set('/favicon.svg', { type: 'image/svg+xml', body: read('favicon.svg') })
  files.set('/robots.txt', { type: 'text/plain; charset=utf-8', body: read('robots.txt') })
  return files
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

function answer(files: Map<string, File>, request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '/').replace(/[?#].*/s, '')
  const file = files.get(path)
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
  } else if (file) {
    send(response, 200, file)
  } else if (files.has(`${path}/`)) {
    response.writeHead(301, { location: `${path}/` }).end()
  } else {
    send(response, 404, { type: HTML, body: notFoundPage(path) })
  }
}

function send(response: ServerResponse, status: number, { type, body }: File): void {
  // To HEAD, node:http sends the headers and leaves the body out.
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
