import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pagesByPath } from './pages.ts'

export interface Site {
  /** Of the front page, with the slash at its end. */
  readonly url: string
  /** What each request asked for, and whom to write to about it, in order. */
  readonly requests: readonly { readonly path: string; readonly from: string | undefined }[]
  close(): Promise<void>
}

/** Serves the site on loopback; without a port, on one that is free. */
export async function startSite({ port = 0 } = {}): Promise<Site> {
  const pages = pagesByPath()
  const requests: { path: string; from: string | undefined }[] = []
  const server = createServer(({ url = '/', headers }, response) => {
    requests.push({ path: url, from: headers.from })
    const page = pages.get(url)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page ?? '<!DOCTYPE html><title>Not found</title>')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
