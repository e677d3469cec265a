/** A site on loopback, and a crawl's handler that renders its pages, without a crawl. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Crawler,
  type DownloadOptions,
  type Egress,
  MemoryStatsCollector,
  noRedis,
  Request,
  type RequestInit,
  type Response,
  Settings,
  Signals,
  type SpiderLike,
  silentLogger,
} from '@webloom/core'
import { EgressGate, HostAddresses } from '@webloom/downloader'
import { ensureChromium } from '@webloom/testkit'
import { BrowserDownloadHandler } from '../src/index.ts'

type Script = (asked: IncomingMessage, answer: ServerResponse) => void

/** A site that notes what it is asked for. */
export class Site {
  readonly hits: {
    readonly path: string
    readonly atMs: number
    readonly headers: IncomingMessage['headers']
  }[] = []
  readonly #pages = new Map<string, Script>()
  readonly #server: Server = createServer((asked, answer) => {
    const path = asked.url ?? ''
    this.hits.push({ path, atMs: performance.now(), headers: asked.headers })
    const script = this.#pages.get(path) ?? this.#pages.get(path.split('?')[0]!)
    if (script) script(asked, answer)
    else answer.writeHead(404).end()
  })

  static async start(host = '127.0.0.1'): Promise<Site> {
    const site = new Site()
    await new Promise<void>((resolve) => site.#server.listen(0, host, resolve))
    return site
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  page(path: string, script: Script): string {
    this.#pages.set(path, script)
    return this.origin + path
  }

  /** A page of HTML. */
  html(path: string, html: string, headers: Record<string, string | string[]> = {}, status = 200): string {
    return this.page(path, (_, answer) =>
      answer.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html),
    )
  }

  /** How often a path was asked for. */
  asked(path: string): number {
    return this.hits.filter((hit) => hit.path === path).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export interface BrowsingOptions {
  readonly settings?: object
  readonly spider?: SpiderLike
  /** Looks names up; default: all are at 127.0.0.1. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>
  /** What browsers are told of the way out, in place of what it is. */
  readonly egressShown?: string
}

/** A handler that renders, as a crawl makes it. */
export class Browsing {
  readonly stats = new MemoryStatsCollector()
  readonly handler: BrowserDownloadHandler
  readonly crawler: Crawler

  private constructor(
    executable: string,
    { settings, spider = { name: 'test' }, lookup, egressShown }: BrowsingOptions,
  ) {
    const base: Crawler = {
      settings: Settings.fromLayers({
        command: {
          BROWSER_EXECUTABLE: executable,
          // Tests run as root in containers.
          BROWSER_SANDBOX: process.getuid?.() !== 0,
          PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '::1'],
          DOWNLOAD_TIMEOUT: 30,
          ...settings,
        } as never,
      }),
      stats: this.stats,
      signals: new Signals((_, error) => {
        throw error
      }),
      logger: silentLogger,
      spider,
      redis: noRedis,
      addresses: new HostAddresses({
        cacheSize: 0,
        timeoutMs: 5000,
        lookup: async (hostname) => ({ addresses: lookup ? [...(await lookup(hostname))] : ['127.0.0.1'] }),
      }),
      close() {},
    }
    const gate = EgressGate.fromCrawler(base)
    const shown = (egress: Egress) => (egressShown === undefined ? egress : shownAs(egress, egressShown))
    this.crawler = {
      ...base,
      openEgress: async (request, options) => shown(await gate.open(request, options)),
    }
    this.handler = BrowserDownloadHandler.fromCrawler(this.crawler)
  }

  static async open(options: BrowsingOptions = {}): Promise<Browsing> {
    return new Browsing(await ensureChromium(), options)
  }

  /** The page; `meta.browser` is true unless `init` says how. */
  visit(url: string, init: RequestInit = {}, options: Partial<DownloadOptions> = {}): Promise<Response> {
    const request = new Request(url, { ...init, meta: { browser: true, ...init.meta } })
    return this.handler.download(request, {
      signal: new AbortController().signal,
      onStart() {},
      ...options,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handler.close()
  }
}

/** The same way out under another address. */
function shownAs(egress: Egress, server: string): Egress {
  return {
    server,
    get bytes() {
      return egress.bytes
    },
    get requests() {
      return egress.requests
    },
    hosts: egress.hosts,
    refusals: egress.refusals,
    failureOf: (url) => egress.failureOf(url),
    close: () => egress.close(),
  }
}
