import type { Request } from '../requests/request.ts'

/**
 * The way out for a client that makes its own connections, such as a browser: an HTTP proxy on this machine, for one page. It
 * decides by the crawl's address guard where a connection may go, looks each name up once, and connects to the address that was
 * judged. Through the proxy of the request (`meta.proxy`), where there is one.
 *
 * A client must use it for everything, loopback included; nothing else protects the machines that it can reach.
 */
export interface Egress {
  /** What the client is told: `http://127.0.0.1:43117`. */
  readonly server: string
  /** What the client must show; absent where only this machine can reach the proxy. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** How many bytes of answers the client has got. */
  readonly bytes: number
  /** How many requests and tunnels the client has asked for. */
  readonly requests: number
  /** How often each `host:port` was asked for; of the first 1 000. */
  readonly hosts: ReadonlyMap<string, number>
  /** Connections that were refused, and why: 100 entries at the most. */
  readonly refusals: readonly EgressRefusal[]
  /** Returns the error of the last connection to the host of this URL, if it could not be made. */
  failureOf(url: string): Error | undefined
  /** Cuts all connections and frees the port. */
  close(): Promise<void>
}

/** A connection that was not made. */
export interface EgressRefusal {
  /** `host:port`, as the client asked for it. */
  readonly place: string
  /** In words. */
  readonly why: string
}

/** What one way out allows. */
export interface EgressOptions {
  /** Most bytes that may come in, and that may go out; then all connections are cut. 0: no bound. */
  readonly bytesMax: number
  /** Called once when `bytesMax` is passed. */
  readonly onTooMuch: () => void
  /** Called with `host:port` when a request, or a part of what a tunnel carries, leaves for it. */
  readonly onSend?: (place: string) => void
  /** Hosts that are not connected to, with their subdomains. */
  readonly blockedHosts?: readonly string[]
  /** The address to listen at. Default 127.0.0.1; at any other the client must show credentials. */
  readonly listenAt?: string
}

/** Opens a way out for the client that fetches the request. */
export type OpenEgress = (request: Request, options: EgressOptions) => Promise<Egress>
