/** Connects to where a client wants to go: to an address that the guard let through, or to the proxy of its request. */

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { DownloadError, InvalidUrl } from '@webloom/core'
import type { AddressGuard } from '../connecting/address-guard.ts'
import type { HostAddresses } from '../connecting/host-addresses.ts'
import { lookupBy } from '../connecting/site-connector.ts'
import type { TlsOptions } from '../connecting/tls-settings.ts'
import { type ProxyAddress, proxyShown } from '../proxies/proxy-address.ts'
import { hostOfPlace, portOfPlace } from './place.ts'

export interface EgressDialOptions {
  readonly addresses: Pick<HostAddresses, 'of'>
  readonly guard?: AddressGuard
  readonly tls?: TlsOptions
  readonly timeoutMs: number
  readonly localAddress?: string
  /** The proxy that the request goes through. */
  readonly proxy?: ProxyAddress
}

// A page of many hosts has some fifty.
const PINNED_MAX = 1000
// What a proxy says to CONNECT is a line or two.
const PROXY_ANSWER_BYTES_MAX = 16_384

export class EgressDial {
  readonly #options: EgressDialOptions
  /** What was found for each place, and permitted: a name cannot lead elsewhere later, while its page is open. */
  readonly #pinned = new Map<string, Promise<readonly string[]>>()

  constructor(options: EgressDialOptions) {
    this.#options = options
  }

  /** The proxy to which whole requests are sent; undefined: they go to the site itself. */
  get proxy(): ProxyAddress | undefined {
    return this.#options.proxy
  }

  /** A connection for a request in plain HTTP. Rejects as the guard does, and with a `DownloadError`. */
  async forHttp(place: string): Promise<Socket> {
    const { proxy } = this.#options
    if (!proxy) return this.#direct(place)
    await this.#options.guard?.permittedByProxy(`http://${place}`)
    return this.#toProxy(proxy)
  }

  /** A connection through which the client speaks to the place itself. Rejects as `forHttp` does. */
  async tunnel(place: string): Promise<Socket> {
    const { proxy } = this.#options
    if (!proxy) return this.#direct(place)
    await this.#options.guard?.permittedByProxy(`http://${place}`)
    return tunnelThrough(await this.#toProxy(proxy), place, proxy, this.#options.timeoutMs)
  }

  async #direct(place: string): Promise<Socket> {
    const host = hostOfPlace(place)
    const permitted = await this.#permitted(place, host)
    const { localAddress } = this.#options
    const found = localAddress ? permitted.filter((one) => isIP(one) === isIP(localAddress)) : permitted
    if (found.length === 0)
      throw new DownloadError(
        'CannotResolveHostError',
        `${host} has no address that ${localAddress} can reach`,
      )
    const socket = connectTcp({
      host,
      port: portOfPlace(place),
      // Not asked for an address, which is connected to as it is: the guard has seen it.
      lookup: lookupBy(async () => found),
      autoSelectFamily: true,
      ...(localAddress && { localAddress }),
    })
    return connected(socket, 'connect', place, this.#options.timeoutMs)
  }

  #permitted(place: string, host: string): Promise<readonly string[]> {
    const known = this.#pinned.get(place)
    if (known) return known
    const { addresses, guard } = this.#options
    const asked = addresses.of(host).then((found) => (guard ? guard.permitted(place, found) : found))
    if (this.#pinned.size < PINNED_MAX) this.#pinned.set(place, asked)
    // A name that could not be looked up may be found the next time; one that leads inside stays refused.
    asked.catch((error: unknown) => {
      if (error instanceof DownloadError) this.#pinned.delete(place)
    })
    return asked
  }

  #toProxy(proxy: ProxyAddress): Promise<Socket> {
    const url = URL.parse(proxy.url)
    if (!url) throw new InvalidUrl(proxyShown(proxy), 'expected a proxy as http://host:port')
    const { addresses, tls, timeoutMs, localAddress } = this.#options
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isTls = url.protocol === 'https:'
    const to = {
      host,
      port: Number(url.port || (isTls ? 443 : 80)),
      lookup: lookupBy((name) => addresses.of(name)),
      ...(localAddress && { localAddress }),
    }
    const socket = isTls
      ? connectTls({ ...tls, ...to, ...(isIP(host) === 0 && { servername: host }) })
      : connectTcp({ ...to, autoSelectFamily: true })
    return connected(socket, isTls ? 'secureConnect' : 'connect', proxyShown(proxy), timeoutMs)
  }
}

/** Resolves when the socket is connected. */
function connected(socket: Socket, event: string, place: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    const timer = setTimeout(
      () =>
        fail(
          new DownloadError('DownloadTimeoutError', `${place}: no connection within ${timeoutMs / 1000} s`),
        ),
      timeoutMs,
    )
    const onError = (cause: Error & { code?: string }) => fail(connectionError(place, cause))
    socket.once('error', onError)
    socket.once(event, () => {
      clearTimeout(timer)
      socket.off('error', onError)
      socket.setNoDelay(true)
      resolve(socket)
    })
  })
}

function connectionError(place: string, error: Error & { code?: string }): DownloadError {
  const first =
    error instanceof AggregateError ? ((error.errors[0] as Error & { code?: string }) ?? error) : error
  const kind =
    first.code === 'ECONNREFUSED'
      ? 'DownloadConnectionRefusedError'
      : first.code === 'ETIMEDOUT'
        ? 'DownloadTimeoutError'
        : 'DownloadFailedError'
  return new DownloadError(kind, `${place}: ${first.message || first.code}`, { cause: error })
}

/** Asks the proxy for a tunnel; resolves to the socket, from which the proxy's answer is read already. */
function tunnelThrough(
  socket: Socket,
  place: string,
  proxy: ProxyAddress,
  timeoutMs: number,
): Promise<Socket> {
  const authorization = proxy.authorization ? `Proxy-Authorization: ${proxy.authorization}\r\n` : ''
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${authorization}\r\n`)
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      socket.off('data', onData).off('error', onError).off('close', onClose)
      settle()
    }
    const refuse = (
      why: string,
      kind: 'DownloadFailedError' | 'DownloadTimeoutError' = 'DownloadFailedError',
    ) =>
      end(() => {
        socket.destroy()
        reject(
          new DownloadError(kind, `${place} by the proxy ${proxyShown(proxy)}: ${why}`, { via: 'proxy' }),
        )
      })
    const timer = setTimeout(() => refuse('no answer', 'DownloadTimeoutError'), timeoutMs)
    const onError = (error: Error) => refuse(error.message)
    const onClose = () => refuse('the proxy closed the connection')
    const onData = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      const headEnd = answer.indexOf('\r\n\r\n')
      if (headEnd < 0) {
        if (answer.length > PROXY_ANSWER_BYTES_MAX) refuse('an answer that does not end')
        return
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1', 0, headEnd))?.[1]
      if (status?.[0] !== '2') return refuse(`it refused the tunnel (${status ?? 'no HTTP'})`)
      end(() => {
        socket.pause()
        const rest = answer.subarray(headEnd + 4)
        if (rest.length > 0) socket.unshift(rest)
        resolve(socket)
      })
    }
    socket.on('data', onData).on('error', onError).on('close', onClose)
  })
}
