/** A small bookshop on loopback, for all examples: lists, sitemaps, a login, an API, covers. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import { BOOKS, CUSTOMER } from './books.ts'
import { coverOf } from './covers.ts'
import { booksAnswer, robotsTxt, sitemapsByPath, stockAnswer } from './feeds.ts'
import { busyPage, loginPage, notFoundPage, ordersPage, pagesByPath } from './pages.ts'

export interface SiteOptions {
  /** What to listen on; default this machine alone. */
  readonly address?: string
  /** Default one that is free. */
  readonly port?: number
}

export interface Site {
  /** Of the front page, with the slash at its end. */
  readonly url: string
  /** Each request's method and path, in order, but for robots.txt. */
  readonly requests: readonly string[]
  /** Stops listening and cuts what is still connected. */
  close(): Promise<void>
}

export async function startSite({ address = '127.0.0.1', port = 0 }: SiteOptions = {}): Promise<Site> {
  const shop = new Shop()
  const server = createServer((request, response) => {
    shop.answer(request, response).catch(() => response.destroy())
  })
  server.listen(port, address)
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: shop.requests,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const HTML = 'text/html; charset=utf-8'

class Shop {
  readonly requests: string[] = []
  readonly #pages = pagesByPath()
  /** Visits by their cookie: the token of the form, and whether the visitor has logged in. */
  readonly #visits = new Map<string, { readonly token: string; isCustomer: boolean }>()
  /** Crowded pages that were asked for before: a second time they are shown. */
  readonly #asked = new Set<string>()

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request
    const { origin, pathname: path, searchParams } = new URL(request.url ?? '/', `http://${headers.host}`)
    if (path !== '/robots.txt') this.requests.push(`${method} ${request.url}`)
    const page = this.#pages.get(path)
    const sitemap = sitemapsByPath(origin).get(path)
    const cover = /^\/covers\/(\d+)\.png$/.exec(path)?.[1]
    if (path === '/robots.txt') send(response, 'text/plain', robotsTxt(origin))
    else if (path === '/login/') await this.#logIn(request, response)
    else if (path === '/orders/') this.#showOrders(request, response, Number(searchParams.get('page') ?? 1))
    else if (path === '/api/books')
      send(response, JSON_TYPE, JSON.stringify(booksAnswer(Number(searchParams.get('after')))))
    else if (path === '/api/stock' && method === 'POST') await answerStock(request, response)
    else if (cover !== undefined && Number(cover) <= BOOKS.length)
      send(response, 'image/png', coverOf(Number(cover)))
    else if (sitemap !== undefined) send(response, 'application/xml', sitemap)
    else if (/^\/crowded\/p-/.test(path) && this.#isFirst(path)) send(response, HTML, busyPage())
    else if (page !== undefined) send(response, HTML, page)
    else send(response, HTML, notFoundPage(path), 404)
  }

  #isFirst(path: string): boolean {
    const isFirst = !this.#asked.has(path)
    this.#asked.add(path)
    return isFirst
  }

  /** The token is good for the visit that it was made for, so both the cookie and the form must come back. */
  async #logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = this.#visitOf(request)
    if (request.method !== 'POST' || visit === undefined) {
      const id = randomUUID()
      const token = randomUUID()
      this.#visits.set(id, { token, isCustomer: false })
      response.setHeader('set-cookie', `visit=${id}; Path=/; HttpOnly`)
      return send(response, HTML, loginPage(token))
    }
    const form = new URLSearchParams(await text(request))
    const isRight = form.get('username') === CUSTOMER.name && form.get('password') === CUSTOMER.password
    if (!isRight || form.get('csrf_token') !== visit.token)
      return send(response, HTML, loginPage(visit.token, 'Name or password is wrong.'))
    visit.isCustomer = true
    response.writeHead(303, { location: '/orders/' }).end()
  }

  #showOrders(request: IncomingMessage, response: ServerResponse, page: number): void {
    const orders = ordersPage(page)
    if (!this.#visitOf(request)?.isCustomer) response.writeHead(303, { location: '/login/' }).end()
    else if (orders === undefined) send(response, HTML, notFoundPage(request.url!), 404)
    else send(response, HTML, orders)
  }

  #visitOf({ headers }: IncomingMessage) {
    return this.#visits.get(/\bvisit=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '')
  }
}

const JSON_TYPE = 'application/json'

async function answerStock(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = (await json(request)) as { readonly numbers?: readonly unknown[] }
  send(response, JSON_TYPE, JSON.stringify(stockAnswer(asked.numbers ?? [])))
}

function send(response: ServerResponse, type: string, body: string | Buffer, status = 200): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
