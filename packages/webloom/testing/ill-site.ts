import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A crawl with these gives up what has failed once, and asks at once. */
export const GIVES_UP_AT_ONCE = {
  RETRY_ENABLED: false,
  HOST_FAILURES_MAX: 0,
  HOST_BACKOFF_MAX: 0,
  DOWNLOAD_DELAY: 0,
  ROBOTSTXT_OBEY: false,
}

const LINKS = ['1', '2', '3', 'held'].map((path) => `<a href="/${path}">${path}</a>`).join('')

/** A site of which the pages /1, /2 and /3 fail as long as it is ill. /held is answered after `release`: until then a crawl has something in flight. */
export class IllSite implements AsyncDisposable {
  /** Paths asked for, in order. */
  asked: string[] = []
  isIll = true
  readonly #released = Promise.withResolvers<void>()
  readonly #server: Server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    this.asked.push(path)
    if (path === '/held') await this.#released.promise
    response.writeHead(this.isIll && /^\/\d/.test(path) ? 503 : 200, { 'content-type': 'text/html' })
    response.end(path === '/' ? LINKS : this.isIll ? 'ill' : 'well')
  })

  static async start(): Promise<IllSite> {
    const site = new IllSite()
    await new Promise<void>((resolve) => site.#server.listen(0, '127.0.0.1', resolve))
    return site
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  release(): void {
    this.#released.resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
