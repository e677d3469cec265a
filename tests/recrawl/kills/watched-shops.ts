/** Shops whose pages change, come and go, with a log of which worker asked for what. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface AskedBy {
  readonly url: string
  /** Its USER_AGENT. */
  readonly worker: string
}

export interface WatchedShopsOptions {
  /** Each at an address of its own: 127.0.0.1, 127.0.0.2 and so on. */
  readonly shops: number
  readonly pagesPerShop: number
  /** How long an answer takes. */
  readonly latencyMs: () => number
}

/** `/` of each shop links to its pages, `/p/0`, `/p/1` and so on, and only it does. */
export class WatchedShops implements AsyncDisposable {
  readonly #options: WatchedShopsOptions
  readonly #servers: Server[] = []
  readonly #versions = new Map<string, number>()
  readonly #gone = new Set<string>()
  /** Pages that each shop has by now. */
  #pages: number
  #port = 0
  #log: AskedBy[] = []
  #held: PromiseWithResolvers<void> | undefined
  #onAsked = () => {}

  private constructor(options: WatchedShopsOptions) {
    this.#options = options
    this.#pages = options.pagesPerShop
  }

  static async start(options: WatchedShopsOptions): Promise<WatchedShops> {
    const web = new WatchedShops(options)
    for (let n = 1; n <= options.shops; n++) {
      const server = createServer((request, response) => void web.#answer(request, response))
      web.#servers.push(server)
      await once(server.listen(web.#port, `127.0.0.${n}`), 'listening')
      web.#port = (server.address() as AddressInfo).port
    }
    return web
  }

  get startUrls(): readonly string[] {
    return this.#servers.map((_, n) => `http://127.0.0.${n + 1}:${this.#port}/`)
  }

  /** All that it has now, but for what is gone. */
  get urls(): readonly string[] {
    const pages = Array.from({ length: this.#pages }, (_, n) => `p/${n}`)
    return this.startUrls.flatMap((start) => [start, ...pages.map((page) => `${start}${page}`)])
  }

  change(url: string): void {
    this.#versions.set(url, this.#versionOf(url) + 1)
  }

  /** Each shop has a page more, and says so. */
  grow(): void {
    this.#pages++
    for (const url of this.startUrls) this.change(url)
  }

  remove(url: string): void {
    this.#gone.add(url)
  }

  bringBack(url: string): void {
    this.#gone.delete(url)
  }

  /** What it is asked for is answered when `release` is called. */
  hold(): void {
    this.#held ??= Promise.withResolvers()
  }

  release(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  /** What it was asked for since `forget`. */
  get asked(): readonly AskedBy[] {
    return this.#log
  }

  forget(): void {
    this.#log = []
  }

  /** Resolves when it was asked for so many pages more. The last of them, and what it is asked for then, is held: the run cannot end meanwhile. */
  heldAfter(pages: number): Promise<void> {
    const until = this.#log.length + pages
    return new Promise((resolve) => {
      this.#onAsked = () => {
        if (this.#log.length < until) return
        this.#onAsked = () => {}
        this.hold()
        resolve()
      }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release()
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  #versionOf(url: string): number {
    return this.#versions.get(url) ?? 0
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, 'user-agent': worker = '', 'if-none-match': known } = request.headers
    const url = `http://${host}${request.url}`
    this.#log.push({ url, worker })
    this.#onAsked()
    await this.#held?.promise
    // Waits: as long as the shop takes to answer.
    await sleep(this.#options.latencyMs())
    const etag = `"${this.#versionOf(url)}"`
    const status = this.#gone.has(url) ? 404 : known === etag ? 304 : 200
    response.writeHead(status, { etag, ...(status === 200 && { 'content-type': 'text/html' }) })
    response.end(status === 200 ? this.#page(url) : '')
  }

  #page(url: string): string {
    const links = this.startUrls.includes(url)
      ? Array.from({ length: this.#pages }, (_, n) => `<a href="/p/${n}">page ${n}</a>`)
      : []
    return `<html><body><h1>${url}</h1><p>${10 + this.#versionOf(url)} EUR</p>${links.join(' ')}</body></html>`
  }
}
