/**
 * The server's side of `serveBroadWeb`: one server that is all hosts, in a process of its own, asked over IPC. It ends with
 * its parent.
 *
 * Pages weigh 6 KB and have ten links, the same in each run. The first four of a page are its children in a tree over all
 * pages of all hosts, numbered host by host: so the first page leads to every page. The others are spread evenly.
 */

import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { LOCAL_CERTIFICATE } from '../../packages/downloader/testing/local-certificates.ts'
import { type Gaps, gapsOf, type Visit } from './gaps.ts'
import { hostAddress, hostOf, pageUrl, SILENT_HOST, type WebAddress } from './hosts.ts'

/** Which web it is: the first message. It is answered with the port. */
export interface WebPlan extends Omit<WebAddress, 'port'> {
  readonly hosts: number
  readonly pagesPerHost: number
}

/** Every later message asks what happened so far. */
export interface VisitsQuestion {
  /** What the hosts should wait for; without it no gaps are looked at. */
  readonly delayMs?: number
  readonly limitsMs?: readonly number[]
}

export interface Visits {
  /** Pages of the plan's hosts, asked for once or more. */
  readonly pages: number
  readonly different: number
  /** From the first of them to the last. */
  readonly seconds: number
  /** How often any robots.txt was asked for. */
  readonly robots: number
  /** Of all hosts, those beyond the plan's included. */
  readonly gaps?: Gaps
}

const LINKS = 10
const CHILDREN = 4
const PAGE_BYTES = 6000
const KEEP_ALIVE_MS = 4000
/** Connections that wait to be taken: a crawl of many hosts opens one for each. */
const BACKLOG = 4096
const FILLING =
  '<p>amber birch cedar delta ember fjord grove heron inlet jetty knoll larch maple north otter pines</p>\n'

/** What was asked for, a few bytes each: ten million requests are 160 MB. */
class VisitLog {
  robots = 0
  #count = 0
  #hosts = new Uint32Array(1024)
  #pages = new Uint32Array(1024)
  #moments = new Float64Array(1024)

  add(host: number, page: number): void {
    if (this.#count === this.#hosts.length) this.#grow()
    this.#hosts[this.#count] = host
    this.#pages[this.#count] = page
    this.#moments[this.#count++] = performance.now()
  }

  answer(plan: WebPlan, { delayMs, limitsMs = [] }: VisitsQuestion): Visits {
    const asked = new Uint8Array(plan.hosts * plan.pagesPerHost)
    let [pages, different, first, last] = [0, 0, 0, 0]
    for (const { host, page, atMs } of this.#all()) {
      if (host >= plan.hosts || page >= plan.pagesPerHost) continue
      if (pages++ === 0) first = atMs
      last = atMs
      different += 1 - asked[page * plan.hosts + host]!
      asked[page * plan.hosts + host] = 1
    }
    const gaps = delayMs !== undefined && { gaps: gapsOf(this.#all(), delayMs, limitsMs) }
    return { pages, different, seconds: (last - first) / 1000, robots: this.robots, ...gaps }
  }

  *#all(): Generator<Visit & { readonly page: number }> {
    for (let n = 0; n < this.#count; n++)
      yield { host: this.#hosts[n]!, page: this.#pages[n]!, atMs: this.#moments[n]! }
  }

  #grow(): void {
    const [hosts, pages, moments] = [this.#hosts, this.#pages, this.#moments]
    const length = 2 * this.#count
    this.#hosts = new Uint32Array(length)
    this.#pages = new Uint32Array(length)
    this.#moments = new Float64Array(length)
    this.#hosts.set(hosts)
    this.#pages.set(pages)
    this.#moments.set(moments)
  }
}

function pageHtml(plan: WebPlan, port: number, host: number, page: number): string {
  const { hosts, pagesPerHost } = plan
  const web = { ...plan, port }
  const total = hosts * pagesPerHost
  const number = page * hosts + host
  let html = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Page ${page} of ${hostAddress(host)}</title></head><body><ul>\n`
  for (let n = 0; n < LINKS; n++) {
    const to = n < CHILDREN ? (number * CHILDREN + n + 1) % total : (number * 31 + n * 337) % total
    html += `<li><a href="${pageUrl(web, to % hosts, Math.floor(to / hosts))}">page ${to}</a></li>\n`
  }
  html += '</ul>\n'
  const paragraphs = Math.floor((PAGE_BYTES - html.length) / FILLING.length)
  return `${html}${FILLING.repeat(paragraphs)}</body></html>\n`
}

const log = new VisitLog()

function serve(plan: WebPlan): void {
  const send = (res: ServerResponse, type: string, body: string) => {
    res.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    res.end(body)
  }
  const answer: RequestListener = (req, res) => {
    const { port } = server.address() as AddressInfo
    const host = hostOf(req.headers.host!.split(':')[0]!)
    if (host === SILENT_HOST) return
    if (req.url === '/robots.txt') {
      log.robots++
      send(res, 'text/plain', 'User-agent: *\nAllow: /\n')
      return
    }
    const page = Number(/^\/p\/(\d+)$/.exec(req.url!)?.[1])
    log.add(host, page)
    send(res, 'text/html', pageHtml(plan, port, host, page))
  }
  const options = { keepAliveTimeout: KEEP_ALIVE_MS }
  const server = plan.isTls
    ? createTlsServer({ ...options, ...LOCAL_CERTIFICATE }, answer)
    : createServer(options, answer)
  server.listen({ port: 0, host: '0.0.0.0', backlog: BACKLOG }, () =>
    process.send!((server.address() as AddressInfo).port),
  )
}

process.once('message', (plan: WebPlan) => {
  process.on('message', (question: VisitsQuestion) => process.send!(log.answer(plan, question)))
  serve(plan)
})
process.once('disconnect', () => process.exit())
