import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pagesByUrl } from './pages.ts'
import { MILLS } from './yarns.ts'

export interface SiteOptions {
  /** The mills' host names or addresses, as many as there are mills. */
  readonly hosts: readonly string[]
  /** What to listen on; default the hosts, which then are addresses of this machine. */
  readonly addresses?: readonly string[]
  /** The same at each address; default one that is free. */
  readonly port?: number
}

export interface Site {
  /** `http://host:port` of each mill. */
  readonly origins: readonly string[]
  /** URLs of all pages. */
  readonly urls: readonly string[]
  /** How often each page was asked for. */
  readonly fetches: ReadonlyMap<string, number>
  /** Stops listening and cuts what is still connected. */
  close(): Promise<void>
}

/** Serves all mills; which one is asked for, the Host header tells. */
export async function startSite({ hosts, addresses = hosts, port = 0 }: SiteOptions): Promise<Site> {
  if (hosts.length !== MILLS.length)
    throw new Error(`${hosts.length} hosts are given; expected ${MILLS.length}, one for each mill`)
  let listener: RequestListener = (_, response) => response.writeHead(503).end()
  const servers: Server[] = []
  let boundPort = port
  for (const address of addresses) {
    const server = createServer((request, response) => listener(request, response))
    await once(server.listen(boundPort, address), 'listening')
    boundPort = (server.address() as AddressInfo).port
    servers.push(server)
  }
  const origins = hosts.map((host) => `http://${host}:${boundPort}`)
  const pages = pagesByUrl(origins)
  const fetches = new Map<string, number>()
  listener = answerFrom(pages, fetches)
  return {
    origins,
    urls: [...pages.keys()],
    fetches,
    close: async () => {
      await Promise.all(servers.map(closed))
    },
  }
}

async function closed(server: Server): Promise<void> {
  const closing = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closing
}

function answerFrom(pages: ReadonlyMap<string, string>, fetches: Map<string, number>): RequestListener {
  return (request, response) => {
    const url = `http://${request.headers.host}${request.url}`
    const page = pages.get(url)
    if (page !== undefined) {
      fetches.set(url, (fetches.get(url) ?? 0) + 1)
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
    } else if (request.url === '/robots.txt') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nAllow: /\n')
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such page.\n')
    }
  }
}
