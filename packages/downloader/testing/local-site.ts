import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the site saw it. */
export interface Hit {
  readonly host: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

type Script = (req: IncomingMessage, res: ServerResponse) => void

/** A real server on loopback that keeps what it was asked; each test says what it answers. */
export class LocalSite {
  readonly hits: Hit[] = []
  /** Answers everything until the test says otherwise. */
  script: Script = (_, res) => void res.end('ok')
  readonly #server: Server

  private constructor() {
    this.#server = createServer((req, res) => {
      this.hits.push({ host: req.headers.host!, path: req.url!, headers: req.headers })
      this.script(req, res)
    })
  }

  static async start(): Promise<LocalSite> {
    const site = new LocalSite()
    await new Promise<void>((resolve) => site.#server.listen(0, '127.0.0.1', resolve))
    return site
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** `http://127.0.0.1:<port>` */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
