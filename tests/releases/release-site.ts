/**
 * The site of the crawls that releases leave behind. It has one address for ever: the crawl of a fixture knows its pages by their
 * URLs, and its filter by what was made of them.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Of its hosts: the first alone, or all. */
const ADDRESSES = ['127.41.7.9', '127.41.7.10', '127.41.7.11', '127.41.7.12', '127.41.7.13', '127.41.7.14']
const PORT = 8041
/** Another run of the tests has the address for some seconds. */
const FREE_MS_MAX = 60_000

export const PAGES = 60
/** Never answered in order: it comes into the ledger of failures. */
export const BROKEN = 13

export const FIRST_PAGE = pageUrl(0, 1)

function pageUrl(page: number, hosts: number): string {
  return `http://${ADDRESSES[page % hosts]}:${PORT}/${page}`
}

/** A tree with a link across from each page, so that the filter has something to do. */
export const linksOf = (page: number) =>
  [2 * page + 1, 2 * page + 2, (7 * page + 3) % PAGES].filter((link) => link < PAGES)

export interface ReleaseSiteOptions {
  /** Before a page is answered, so that there are pages in work when a worker is killed. Default: 0. */
  readonly latencyMs?: number
  /** Its pages are on several hosts by turns, so that a crawl in shards has something in each. Default: all are on one. */
  readonly isSpread?: boolean
}

export class ReleaseSite implements AsyncDisposable {
  /** The pages that were asked for, in order. */
  readonly asked: number[] = []
  readonly #servers: readonly Server[]
  readonly #options: Required<ReleaseSiteOptions>
  #heard: (() => void) | undefined

  private constructor({ latencyMs = 0, isSpread = false }: ReleaseSiteOptions) {
    this.#options = { latencyMs, isSpread }
    const addresses = isSpread ? ADDRESSES : ADDRESSES.slice(0, 1)
    this.#servers = addresses.map(() =>
      createServer((request, response) => void this.#answer(request, response)),
    )
  }

  static async open(options: ReleaseSiteOptions = {}): Promise<ReleaseSite> {
    for (const untilMs = performance.now() + FREE_MS_MAX; ; ) {
      const site = new ReleaseSite(options)
      try {
        await site.#listen()
        return site
      } catch (error) {
        await site[Symbol.asyncDispose]()
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > untilMs) throw error
        // Waits: nobody tells when the other run has closed its server.
        await wait(200)
      }
    }
  }

  async #listen(): Promise<void> {
    for (const [n, server] of this.#servers.entries()) {
      server.listen(PORT, ADDRESSES[n])
      await once(server, 'listening')
    }
  }

  /** Resolves when so many pages were asked for. */
  async waitForAsked(count: number): Promise<void> {
    while (this.asked.length < count)
      await new Promise<void>((heard) => {
        this.#heard = heard
      })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = Number(request.url!.slice(1))
    if (!(page < PAGES)) {
      response.writeHead(404).end()
      return
    }
    this.asked.push(page)
    this.#heard?.()
    await wait(this.#options.latencyMs)
    const hosts = this.#servers.length
    const links = linksOf(page).map((link) => `<a href="${pageUrl(link, hosts)}">${link}</a>`)
    response.writeHead(page === BROKEN ? 500 : 200, { 'content-type': 'text/html' })
    response.end(`<title>${page}</title>${links.join('\n')}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    }
  }
}
