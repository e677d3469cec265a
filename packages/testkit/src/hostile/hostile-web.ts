/**
 * Servers that do to a crawler what it may meet outside, each case on a host of its own, and among them pages that are
 * only odd.
 *
 * They speak over bare sockets: an HTTP library would refuse to be so rude. A case says how it behaves and what is to be
 * made of it (`HostileCase`); the groups stand in `hostile/`.
 */

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { addressOf } from '../graph/urls.ts'
import { AWKWARD_PAGES } from './awkward-pages.ts'
import { HOSTILE_BODIES } from './hostile-bodies.ts'
import type { CertificateName, Expected, HostileCase } from './hostile-case.ts'
import { HOSTILE_CONNECTIONS } from './hostile-connections.ts'
import { HOSTILE_HEADERS } from './hostile-headers.ts'
import { HOSTILE_PAGES } from './hostile-pages.ts'

/** Everything that may go wrong with a single exchange, with good pages in between. */
export const HOSTILE_CASES: readonly HostileCase[] = mixed(
  [...HOSTILE_BODIES, ...HOSTILE_HEADERS, ...HOSTILE_CONNECTIONS, ...HOSTILE_PAGES],
  AWKWARD_PAGES,
)

/** The certificates of the TLS cases; the valid one must hold for 127.0.0.1. */
export type HostileCertificates = Readonly<
  Record<Exclude<CertificateName, 'other-host'>, { readonly key: string; readonly cert: string }>
>

/** A URL of the web and what is to be made of it. */
export interface HostileUrl {
  readonly url: string
  readonly case: string
  readonly expected: Expected
}

export async function startHostileWeb(
  certificates: HostileCertificates,
  cases: readonly HostileCase[] = HOSTILE_CASES,
): Promise<HostileWeb> {
  const hosts = await Promise.all(cases.map((one, index) => HostileHost.start(one, index, certificates)))
  return new HostileWeb(hosts)
}

export class HostileWeb implements AsyncDisposable {
  readonly #hosts: readonly HostileHost[]

  constructor(hosts: readonly HostileHost[]) {
    this.#hosts = hosts
  }

  get urls(): readonly HostileUrl[] {
    return this.#hosts.flatMap(({ urls }) => urls)
  }

  /** Returns how often each path of a case was asked for, however far that went. */
  hitsOf(url: string): number {
    const { host, pathname } = new URL(url)
    return this.#hosts.find(({ origin }) => new URL(origin).host === host)?.hits.get(pathname) ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()))
  }
}

/** One case at its own address. */
class HostileHost {
  readonly hits = new Map<string, number>()
  readonly #case: HostileCase
  readonly #certificate: { readonly key: string; readonly cert: string } | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #origin = ''

  private constructor(one: HostileCase, certificates: HostileCertificates) {
    this.#case = one
    this.#certificate = one.tls && certificates[one.tls === 'other-host' ? 'valid' : one.tls]
    this.#server = createServer((socket) => this.#onConnection(socket))
  }

  static async start(
    one: HostileCase,
    index: number,
    certificates: HostileCertificates,
  ): Promise<HostileHost> {
    const host = new HostileHost(one, certificates)
    // Certificates are made out to the first address; no other case has it.
    const address = addressOf(one.tls && one.tls !== 'other-host' ? 0 : index + 1)
    host.#server.listen({ host: address, port: 0 })
    await once(host.#server, 'listening')
    const { port } = host.#server.address() as { port: number }
    host.#origin = `${one.tls ? 'https' : 'http'}://${address}:${port}`
    return host
  }

  get origin(): string {
    return this.#origin
  }

  get urls(): HostileUrl[] {
    const { name, paths = [''], expected } = this.#case
    return paths.map((path) => ({ url: `${this.#origin}/${name}${path}`, case: name, expected }))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #onConnection(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {}) // that the other side goes is what most cases are about
    this.#case.onConnection?.(socket)
    if (socket.destroyed || (this.#certificate && this.#case.onConnection)) return
    this.#listen(this.#certificate ? secured(socket, this.#certificate) : socket)
  }

  #listen(socket: Socket): void {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        this.#onRequest(socket, text.slice(0, end))
        text = text.slice(end + 4)
      }
    })
  }

  #onRequest(socket: Socket, headers: string): void {
    const path = headers.split(' ')[1] ?? '/'
    const nth = (this.hits.get(path) ?? 0) + 1
    this.hits.set(path, nth)
    this.#case.answer?.({ path, headers, nth, socket, origin: this.#origin })
  }
}

function secured(socket: Socket, certificate: { key: string; cert: string }): Socket {
  const encrypted = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certificate) })
  encrypted.on('error', () => {}) // as above
  return encrypted
}

/** The second list spread evenly over the first. */
function mixed<T>(first: readonly T[], second: readonly T[]): T[] {
  const step = first.length / second.length
  return [
    ...first.map((one, index) => ({ one, place: index })),
    ...second.map((one, index) => ({ one, place: index * step })),
  ]
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)
}
