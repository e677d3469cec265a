/** A site whose pages change, with the log of what it was asked for. */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly path: string
  readonly status: number
  readonly bytes: number
  /** By `performance.now()`. */
  readonly atMs: number
}

export interface ChangingWebOptions {
  readonly pages: number
  /** How it answers a request with validators: as it should, with 304 whatever was asked, or with tags that never change. */
  readonly validators?: 'honest' | 'always 304' | 'same tags' | 'none'
}

const SITEMAP = '/sitemap.xml'

/** `/` links to `/p/0`, `/p/1` and so on. Navigation and tokens of a page are others each time that it is sent. */
export class ChangingWeb implements AsyncDisposable {
  readonly #options: Required<ChangingWebOptions>
  readonly #server: Server
  readonly #versions = new Map<string, number>()
  readonly #changedAt = new Map<string, number>()
  readonly #beganAt = Date.now()
  readonly #gone = new Set<string>()
  readonly #redirects = new Map<string, string>()
  #log: Asked[] = []
  /** Called at each request, which is answered when that is done. */
  onAsked: ((path: string, headers: IncomingHttpHeaders) => void | Promise<void>) | undefined
  /** It answers all requests with 500. */
  isDown = false
  #sent = 0

  private constructor(options: ChangingWebOptions) {
    this.#options = { validators: 'honest', ...options }
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(options: ChangingWebOptions): Promise<ChangingWeb> {
    const web = new ChangingWeb(options)
    await new Promise<void>((resolve) => web.#server.listen(0, '127.0.0.1', resolve))
    return web
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  change(...paths: string[]): void {
    for (const path of paths) {
      this.#versions.set(path, this.#versionOf(path) + 1)
      this.#changedAt.set(path, Date.now())
      this.#versions.set(SITEMAP, this.#versionOf(SITEMAP) + 1)
    }
  }

  /** The page is as it was before its last change. */
  changeBack(path: string): void {
    this.#versions.set(path, this.#versionOf(path) - 1)
  }

  remove(path: string): void {
    this.#gone.add(path)
  }

  bringBack(path: string): void {
    this.#gone.delete(path)
  }

  redirect(from: string, to: string): void {
    this.#redirects.set(from, to)
  }

  /** What it was asked for since the last call. */
  asked(): readonly Asked[] {
    const log = this.#log
    this.#log = []
    return log
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #versionOf(path: string): number {
    return this.#versions.get(path) ?? 0
  }

  async #answer({ url: path = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { validators } = this.#options
    const tag = `"${path.length}-${validators === 'same tags' ? 0 : this.#versionOf(path)}"`
    const asked = headers['if-none-match']
    const isSame = validators === 'always 304' ? asked !== undefined : asked === tag
    const target = this.#redirects.get(path)
    const status = this.isDown
      ? 500
      : this.#gone.has(path)
        ? 404
        : target !== undefined
          ? 302
          : isSame
            ? 304
            : 200
    const body = status !== 200 ? '' : path === SITEMAP ? this.#sitemap() : this.#page(path)
    this.#log.push({ path, status, bytes: body.length, atMs: performance.now() })
    await this.onAsked?.(path, headers)
    response.writeHead(status, {
      ...(target !== undefined && { location: target }),
      ...(status === 200 && { 'content-type': path === SITEMAP ? 'application/xml' : 'text/html' }),
      ...(validators !== 'none' && { etag: tag }),
    })
    response.end(body)
  }

  /** With the moments at which its pages changed. */
  #sitemap(): string {
    const urls = Array.from({ length: this.#options.pages }, (_, n) => {
      const at = this.#changedAt.get(`/p/${n}`) ?? this.#beganAt
      return `<url><loc>${this.origin}/p/${n}</loc><lastmod>${new Date(at).toISOString()}</lastmod></url>`
    })
    return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('\n')}</urlset>`
  }

  #page(path: string): string {
    const nav = `<nav>visitor ${++this.#sent}</nav><input type="hidden" name="token" value="${Math.random()}">`
    const links = Array.from({ length: this.#options.pages }, (_, n) => `<a href="/p/${n}">page ${n}</a>`)
    const price = `<p class="price">${10 + this.#versionOf(path)} EUR</p>`
    const content = path === '/' ? links.join(' ') : `${price}<p>${'some words '.repeat(150)}</p>`
    return `<html><body>${nav}<main><h1>${path}</h1>${content}</main></body></html>`
  }
}
