/** A small web: forty hosts that link to each other, one without end, one that is slow, one that is gone. */

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export const HOSTS = 40
const PAGES_PER_HOST = 5
/** A calendar: each day links to the next ten. */
export const ENDLESS_HOST = 7
const SLOW_HOST = 11
const SLOW_MS = 100
/** Linked, and nobody listens there. */
export const GONE_HOST = HOSTS + 1

export interface Web {
  /** `http://address:port` of each host. */
  readonly origins: readonly string[]
  /** How many pages each host was asked for, by address, but for robots.txt. */
  readonly pagesAsked: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** The hosts are 127.0.0.1 and the addresses after it; each has the same port, default one that is free. */
export async function startWeb({ port = 0 } = {}): Promise<Web> {
  const pagesAsked = new Map<string, number>()
  const servers: Server[] = []
  let boundPort = port
  for (let host = 1; host <= HOSTS; host++) {
    const server = createServer(answerFrom(host, () => boundPort, pagesAsked))
    await once(server.listen(boundPort, addressOf(host)), 'listening')
    boundPort = (server.address() as AddressInfo).port
    servers.push(server)
  }
  return {
    origins: servers.map((_, index) => `http://${addressOf(index + 1)}:${boundPort}`),
    pagesAsked,
    close: async () => {
      await Promise.all(servers.map(closed))
    },
  }
}

export function addressOf(host: number): string {
  return `127.0.0.${host}`
}

function answerFrom(host: number, portOf: () => number, pagesAsked: Map<string, number>): RequestListener {
  return async ({ url = '/' }, response) => {
    const address = addressOf(host)
    const page = url === '/' ? 0 : Number(/^\/(\d+)\.html$/.exec(url)?.[1] ?? Number.NaN)
    if (url !== '/robots.txt') pagesAsked.set(address, (pagesAsked.get(address) ?? 0) + 1)
    const isThere = page < PAGES_PER_HOST || (host === ENDLESS_HOST && page >= 0)
    if (host === SLOW_HOST) await setTimeout(SLOW_MS)
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
    response.end(isThere ? pageOf(host, page, portOf()) : '<!DOCTYPE html><title>Not found</title>')
  }
}

function pageOf(host: number, page: number, port: number): string {
  const last = host === ENDLESS_HOST ? page + 10 : Math.min(page + 1, PAGES_PER_HOST - 1)
  const next = Array.from({ length: last - page }, (_, index) => `/${page + 1 + index}.html`)
  const neighbours = page === 0 ? [host + 1, (host * 2) % HOSTS, (host * 3) % HOSTS].filter(Boolean) : []
  const links = [...next, ...neighbours.map((other) => `http://${addressOf(other)}:${port}/`)]
  return `<!DOCTYPE html><html><head><title>Host ${host}, page ${page}</title></head>
<body>${links.map((link) => `<a href="${link}">${link}</a>`).join('\n')}</body></html>`
}

async function closed(server: Server): Promise<void> {
  const closing = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closing
}
