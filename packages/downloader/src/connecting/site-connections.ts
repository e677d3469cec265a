import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { type ConnectingOptions, siteConnector } from './site-connector.ts'
import { Client, Pool, type PoolOptions } from './undici-parts.ts'
import { watchingUse } from './used-connections.ts'

export interface SiteConnectionsOptions {
  /** `https://example.com` */
  readonly origin: string
  /** The address that connections come from; absent: the operating system chooses. */
  readonly localAddress?: string | undefined
  readonly connecting: ConnectingOptions
  /** Apply to each connection. */
  readonly pool: PoolOptions
  /** Called when a connection has been opened or closed, and when none could be. */
  readonly onChange: () => void
}

// Measured: what undici and Node keep of a site, of a connection, of one with TLS, and of a pool.
const SITE_BYTES = 4096
const CONNECTION_BYTES = 20_480
const TLS_CONNECTION_BYTES = 110_592
const POOL_BYTES = 18_432

// As many as undici has under way in one connection of HTTP/2.
const STREAMS_MAX = 100

// Nobody is told of it. Without it undici makes an error each time, which costs more than closing.
const NOT_NEEDED = new Error('the connection is not needed any more')

/**
 * The connections to one site: a client, which has one connection, and a pool of others for what comes while that one is busy.
 *
 * Most sites of a crawl of many are asked one thing at a time and never need the pool, which has room for 2 048 waiting
 * requests from its beginning: 16 KB. Nor does a site that speaks HTTP/2, so what comes while a site with TLS is connected to for
 * the first time waits until that is known.
 */
export class SiteConnections {
  readonly #origin: string
  readonly #options: PoolOptions
  readonly #onChange: () => void
  readonly #client: Client
  #pool: Pool | undefined
  #opened = 0
  #isClosing = false
  /** Undefined until the first connection has shown it. */
  #protocol: 'h1' | 'h2' | undefined
  #waiting: Parameters<Dispatcher.Dispatch>[] = []

  /** Throws `InvalidUrl` for an origin that is not a URL by the standard. */
  constructor({ origin, localAddress, connecting, pool, onChange }: SiteConnectionsOptions) {
    const connect = watchingUse(siteConnector(origin, localAddress, connecting))
    this.#origin = origin
    this.#onChange = onChange
    this.#protocol = connecting.http2 && this.#isOverTls ? undefined : 'h1'
    this.#options = {
      ...pool,
      allowH2: connecting.http2,
      connect: (given, answer) =>
        connect(given, (...result) => {
          answer(...result)
          this.#tried(result[1])
        }),
      ...(localAddress !== undefined && { localAddress }),
    }
    this.#client = new Client(origin, this.#options)
  }

  /** How many connections are open. */
  get opened(): number {
    return this.#opened
  }

  /** What the site takes of memory, about. */
  get bytes(): number {
    const each = this.#isOverTls ? TLS_CONNECTION_BYTES : CONNECTION_BYTES
    return SITE_BYTES + this.#opened * each + (this.#pool ? POOL_BYTES : 0)
  }

  /** Whether no connection is open, and nothing is under way. */
  get isIdle(): boolean {
    return this.#opened === 0 && this.#client.stats.size === 0 && (this.#pool?.stats.size ?? 0) === 0
  }

  /** Whether `close` or `destroy` has been called, so that nothing may be dispatched any more. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  dispatch(...given: Parameters<Dispatcher.Dispatch>): boolean {
    const { size } = this.#client.stats
    if (size === 0 || (this.#protocol === 'h2' && size < STREAMS_MAX)) return this.#client.dispatch(...given)
    if (this.#protocol !== undefined) return this.#poolOfOthers().dispatch(...given)
    this.#waiting.push(given)
    return false
  }

  /** Requests under way end first. */
  async close(): Promise<void> {
    this.#leaveAllToClient()
    // undici may be telling a request of a closed socket that its client still counts as open.
    await Promise.resolve()
    const isIdle = this.#client.stats.size === 0
    await Promise.all([isIdle ? this.#client.destroy(NOT_NEEDED) : this.#client.close(), this.#pool?.close()])
  }

  /** Requests under way fail. */
  async destroy(): Promise<void> {
    this.#leaveAllToClient()
    await Promise.all([this.#client.destroy(), this.#pool?.destroy()])
  }

  get #isOverTls(): boolean {
    return this.#origin.startsWith('https:')
  }

  #poolOfOthers(): Pool {
    this.#pool ??= new Pool(this.#origin, this.#options)
    return this.#pool
  }

  /** @param socket null: there is no connection */
  #tried(socket: (Socket & { readonly alpnProtocol?: string | false | null }) | null): void {
    if (socket) {
      this.#opened++
      socket.once('close', () => {
        this.#opened--
        this.#onChange()
      })
      if (this.#protocol !== 'h1') this.#protocol = socket.alpnProtocol === 'h2' ? 'h2' : 'h1'
    }
    for (const given of this.#waiting.splice(0)) this.dispatch(...given)
    this.#onChange()
  }

  #leaveAllToClient(): void {
    this.#isClosing = true
    for (const given of this.#waiting.splice(0)) this.#client.dispatch(...given)
  }
}
