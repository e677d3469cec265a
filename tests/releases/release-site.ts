/**
 * The site of the crawls that releases leave behind. It has one address for ever: the crawl of a fixture knows its pages by their
 * URLs, and its filter by what was made of them.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

const ADDRESS = '127.41.7.9'
const PORT = 8041
/** Another run of the tests has the address for some seconds. */
const FREE_MS_MAX = 60_000

export const PAGES = 60
/** Never answered in order: it comes into the ledger of failures. */
export const BROKEN = 13

export const pageUrl = (page: number) => `http://${ADDRESS}:${PORT}/${page}`

/** A tree with a link across from each page, so that the filter has something to do. */
export const linksOf = (page: number) =>
  [2 * page + 1, 2 * page + 2, (7 * page + 3) % PAGES].filter((link) => link < PAGES)

export class ReleaseSite implements AsyncDisposable {
  /** The pages that were asked for, in order. */
  readonly asked: number[] = []
  readonly #server: Server
  readonly #latencyMs: number
  #heard: (() => void) | undefined

  private constructor(latencyMs: number) {
    this.#latencyMs = latencyMs
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  /** @param latencyMs before a page is answered, so that there are pages in work when a worker is killed */
  static async open(latencyMs = 0): Promise<ReleaseSite> {
    for (const untilMs = performance.now() + FREE_MS_MAX; ; ) {
      const site = new ReleaseSite(latencyMs)
      site.#server.listen(PORT, ADDRESS)
      try {
        await once(site.#server, 'listening')
        return site
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > untilMs) throw error
        // Waits: nobody tells when the other run has closed its server.
        await wait(200)
      }
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
    await wait(this.#latencyMs)
    const links = linksOf(page).map((link) => `<a href="/${link}">${link}</a>`)
    response.writeHead(page === BROKEN ? 500 : 200, { 'content-type': 'text/html' })
    response.end(`<title>${page}</title>${links.join('\n')}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((closed) => this.#server.close(closed))
  }
}
