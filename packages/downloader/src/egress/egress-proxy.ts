/**
 * The proxy of one client: http: URLs in absolute form, and tunnels (CONNECT) for everything else, WebSockets in plain text
 * included.
 *
 * What may not be asked for gets no answer: the connection is closed, and the client sees a network error as of a host that is not
 * there. An answer of ours would be a page of that host to it.
 */

import { randomBytes } from 'node:crypto'
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { DownloadError, type Egress, type EgressOptions, type EgressRefusal } from '@webloom/core'
import type { EgressDial } from './egress-dial.ts'
import { hostOfPlace, isAmong, placeOf, portOfPlace } from './place.ts'

const LOOPBACK = '127.0.0.1'
// Chromium opens 32 to a proxy, and 255 for WebSockets.
const CONNECTIONS_MAX = 320
const HOSTS_MAX = 1000
const REFUSALS_MAX = 100

// Headers of one connection, and those for a proxy.
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export class EgressProxy implements Egress {
  readonly #dial: EgressDial
  readonly #options: EgressOptions
  readonly #server: Server
  readonly #agent: Agent
  /** Everything that is open, to both sides. */
  readonly #sockets = new Set<Duplex>()
  readonly #failures = new Map<string, Error>()
  readonly #hosts = new Map<string, number>()
  readonly #refusals: EgressRefusal[] = []
  readonly credentials?: { readonly username: string; readonly password: string }
  #bytes = 0
  #sentBytes = 0
  #requests = 0
  #isShut = false

  constructor(dial: EgressDial, options: EgressOptions) {
    this.#dial = dial
    this.#options = options
    if (options.listenAt !== undefined && options.listenAt !== LOOPBACK)
      this.credentials = { username: 'webloom', password: randomBytes(18).toString('base64url') }
    this.#agent = new DialledAgent((place) => this.#open(() => dial.forHttp(place), place))
    this.#server = createServer({ requestTimeout: 0, headersTimeout: 30_000 }, (asked, answer) =>
      this.#forward(asked, answer),
    )
    this.#server.maxConnections = CONNECTIONS_MAX
    this.#server.on('connection', (socket: Socket) => this.#keep(socket))
    this.#server.on('connect', (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#tunnel(asked, socket, head)
    })
    this.#server.on('upgrade', (_, socket: Duplex) => socket.destroy())
    this.#server.on('clientError', (_, socket: Duplex) => socket.destroy())
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      // Not only the first: a socket that cannot be accepted later, for want of descriptors, is an error of the server, too.
      this.#server.on('error', reject)
      this.#server.listen(0, this.#options.listenAt ?? LOOPBACK, () => resolve())
    })
  }

  get server(): string {
    const { address, family, port } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  get bytes(): number {
    return this.#bytes
  }

  get requests(): number {
    return this.#requests
  }

  get hosts(): ReadonlyMap<string, number> {
    return this.#hosts
  }

  get refusals(): readonly EgressRefusal[] {
    return this.#refusals
  }

  failureOf(url: string): Error | undefined {
    const place = placeOf(url.replace(/^https:\/\/([^/?#]*)/i, (_, host) => `http://${withPort(host)}`))
    return place === undefined ? undefined : this.#failures.get(place)
  }

  async close(): Promise<void> {
    this.#cut()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #cut(): void {
    this.#isShut = true
    this.#agent.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  #forward(asked: IncomingMessage, answer: ServerResponse): void {
    const target = asked.url ?? ''
    const place = placeOf(target)
    if (!this.#mayAsk(asked)) {
      denied(answer)
      return
    }
    if (place === undefined || !this.#notes(place)) {
      asked.socket.destroy()
      return
    }
    const { proxy } = this.#dial
    const authorization = proxy?.authorization
    const onward = request({
      agent: this.#agent,
      host: hostOfPlace(place),
      port: portOfPlace(place),
      method: asked.method ?? 'GET',
      path: proxy ? target : target.slice(target.indexOf('/', 'http://'.length)) || '/',
      headers: [
        ...endToEnd(asked.rawHeaders),
        ...(authorization === undefined ? [] : ['Proxy-Authorization', authorization]),
        ...bodyHeaders(asked),
      ] as unknown as Record<string, string>,
      setHost: false,
    })
    const fail = (error: Error) => {
      // What the client gave up has not failed.
      if (!asked.socket.destroyed) this.#failed(place, error)
      asked.socket.destroy()
    }
    onward.on('socket', () => this.#options.onSend?.(place))
    onward.on('response', (got) => {
      const status = got.statusCode!
      // Node reads a status that it does not write. The same holds for the words after it, which nobody needs.
      if (status < 100) {
        onward.destroy()
        return fail(new DownloadError('DownloadFailedError', `${place} answers with status ${status}`))
      }
      got.on('data', (chunk: Buffer) => this.#count(chunk.length))
      got.on('error', () => answer.destroy())
      answer.writeHead(status, endToEnd(got.rawHeaders))
      got.pipe(answer)
    })
    onward.on('upgrade', (_, socket) => {
      socket.destroy()
      fail(new DownloadError('DownloadFailedError', `${place} changes the protocol, which nobody asked for`))
    })
    onward.on('error', fail)
    answer.on('close', () => onward.destroy())
    asked.on('data', (chunk: Buffer) => this.#countSent(chunk.length))
    asked.pipe(onward)
  }

  async #tunnel(asked: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    if (!this.#mayAsk(asked)) return void client.end(PROXY_AUTHENTICATION)
    const place = placeOf(asked.url ?? '')
    if (place === undefined || !this.#notes(place)) return void client.destroy()
    let site: Socket
    try {
      site = await this.#open(() => this.#dial.tunnel(place), place)
    } catch {
      return void client.destroy()
    }
    if (client.destroyed) return void site.destroy()
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) site.write(head)
    site.on('data', (chunk: Buffer) => this.#count(chunk.length))
    client.on('data', (chunk: Buffer) => {
      this.#options.onSend?.(place)
      this.#countSent(chunk.length)
    })
    site.pipe(client)
    client.pipe(site)
    for (const [one, other] of [
      [site, client],
      [client, site],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }

  /** Opens a connection, which is closed with the proxy. What it fails with is kept for `failureOf`. */
  async #open(dial: () => Promise<Socket>, place: string): Promise<Socket> {
    try {
      const socket = await dial()
      this.#failures.delete(place)
      this.#keep(socket)
      if (this.#isShut) socket.destroy(new Error('the way out is closed'))
      return socket
    } catch (error) {
      this.#failed(place, error as Error)
      throw error
    }
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
  }

  #mayAsk(asked: IncomingMessage): boolean {
    if (!this.credentials) return true
    const { username, password } = this.credentials
    const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    return asked.headers['proxy-authorization'] === expected
  }

  /** Counts the request. Returns false when its host may not be asked. */
  #notes(place: string): boolean {
    if (this.#isShut) return false
    this.#requests++
    const known = this.#hosts.get(place)
    if (known !== undefined || this.#hosts.size < HOSTS_MAX) this.#hosts.set(place, (known ?? 0) + 1)
    if (!isAmong(hostOfPlace(place), this.#options.blockedHosts ?? [])) return true
    this.#refuse(place, 'blocked host')
    return false
  }

  #failed(place: string, error: Error & { code?: string }): void {
    if (this.#failures.size < HOSTS_MAX) this.#failures.set(place, error)
    if (error.code === 'WL_ADDRESS_REFUSED') this.#refuse(place, error.message)
  }

  #refuse(place: string, why: string): void {
    if (this.#refusals.length < REFUSALS_MAX) this.#refusals.push({ place, why })
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#bound(this.#bytes)
  }

  /** A page could have others flooded by the crawl. */
  #countSent(bytes: number): void {
    this.#sentBytes += bytes
    this.#bound(this.#sentBytes)
  }

  #bound(bytes: number): void {
    const { bytesMax, onTooMuch } = this.#options
    if (bytesMax === 0 || bytes <= bytesMax || this.#isShut) return
    this.#cut()
    onTooMuch()
  }
}

/** Takes its connections from us, and keeps them for the next request to the same place. */
class DialledAgent extends Agent {
  readonly #dial: (place: string) => Promise<Socket>

  constructor(dial: (place: string) => Promise<Socket>) {
    super({ keepAlive: true, maxSockets: 16 })
    this.#dial = dial
  }

  override createConnection(
    { host, port }: { host?: string | null; port?: number | string | null },
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const name = host?.includes(':') ? `[${host}]` : host
    this.#dial(`${name}:${port}`).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    )
  }
}

const PROXY_AUTHENTICATION =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="webloom"\r\nContent-Length: 0\r\n\r\n'

function denied(answer: ServerResponse): void {
  answer.writeHead(407, { 'proxy-authenticate': 'Basic realm="webloom"', 'content-length': '0' }).end()
}

/** Returns names and values in turn, as they came, without what concerns this connection only. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (!HOP_BY_HOP.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  return kept
}

/** A body without a length goes on in chunks. */
function bodyHeaders(asked: IncomingMessage): string[] {
  return asked.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:443`
}
