import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** What the proxy was asked: `GET http://a.com/` or `CONNECT a.com:443`. */
export interface Asked {
  readonly line: string
  readonly authorization: string | undefined
}

interface LocalProxyOptions {
  /** Where every http host leads to, whatever its name. */
  readonly httpPort?: number
  /** Where every tunnel leads to. */
  readonly tlsPort?: number
  /** The only Proxy-Authorization that is let through. */
  readonly authorization?: string
}

/** A real forward proxy on loopback. All hosts that are asked of it lead to the test's own servers. */
export class LocalProxy {
  readonly asked: Asked[] = []
  readonly #server: Server
  readonly #tunnels = new Set<Socket>()
  readonly #options: LocalProxyOptions

  private constructor(options: LocalProxyOptions) {
    this.#options = options
    this.#server = createServer((req, res) => this.#forward(req, res))
    this.#server.on('connect', (req: IncomingMessage, socket: Socket) => this.#tunnel(req, socket))
  }

  static async start(options: LocalProxyOptions): Promise<LocalProxy> {
    const proxy = new LocalProxy(options)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** As `host:port`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.#tunnels) socket.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #admits(req: IncomingMessage): boolean {
    const authorization = req.headers['proxy-authorization']
    this.asked.push({ line: `${req.method} ${req.url}`, authorization })
    return this.#options.authorization === undefined || authorization === this.#options.authorization
  }

  #forward(req: IncomingMessage, res: ServerResponse): void {
    if (!this.#admits(req)) {
      res.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
      return
    }
    const { host, pathname, search } = new URL(req.url!)
    const headers = { ...req.headers, host }
    delete headers['proxy-authorization']
    const path = pathname + search
    const onward = request({ port: this.#options.httpPort, path, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    req.pipe(onward)
  }

  #tunnel(req: IncomingMessage, socket: Socket): void {
    this.#tunnels.add(socket)
    if (!this.#admits(req)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const onward = connect(this.#options.tlsPort!, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      socket.pipe(onward)
      onward.pipe(socket)
    })
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }
}
