import { type AddressInfo, isIPv6 } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:6480/`. */
  readonly url: string
  readonly port: number
  /** From now on the server does not keep the process alive. */
  unref(): void
  /** Ends its answers and lets go of the port. */
  close(): Promise<void>
}

/** Starts a server. Rejects when it cannot listen at the address and port. Port 0: any that is free. */
export async function listenOn(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const { promise: listening, resolve, reject } = Promise.withResolvers<AddressInfo>()
  const server: ServerType = serve({ fetch, hostname: host, port }, resolve)
  server.once('error', reject)
  const address = await listening
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${address.port}/`,
    port: address.port,
    unref: () => void server.unref(),
    async close() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      if ('closeAllConnections' in server) server.closeAllConnections()
      await closed.promise
    },
  }
}
