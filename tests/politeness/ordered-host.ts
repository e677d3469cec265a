/** A crawl of two hosts by two workers, one of which gets orders by `webloom host`; judged by the server's own log. */

import { type FakeWebProcess, type Hit, InUse, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, vi } from 'vitest'
import { ClusterFolder, followingSpider } from '../cluster/cluster-crawl.ts'

/** How soon all workers obey. */
export const OBEYED_MS_MAX = 2000
const PAGES = 1000

export class OrderedHost implements AsyncDisposable {
  readonly #web: FakeWebProcess
  readonly #folder: ClusterFolder
  readonly #inUse: InUse

  private constructor(web: FakeWebProcess, folder: ClusterFolder, inUse: InUse) {
    this.#web = web
    this.#folder = folder
    this.#inUse = inUse
  }

  /** Resolves when both hosts are crawled. */
  static async start(): Promise<OrderedHost> {
    await using inUse = new InUse()
    const server = inUse.use(await startRedis())
    const web = inUse.use(await startFakeWebProcess({ hosts: 2, pagesPerHost: PAGES, latencyMs: 5 }))
    const settings = {
      REDIS_URL: server.url,
      CONCURRENT_REQUESTS: 4,
      CONCURRENT_REQUESTS_PER_DOMAIN: 2,
      DOWNLOAD_DELAY: 0.05,
      RANDOMIZE_DOWNLOAD_DELAY: false,
    }
    const folder = inUse.use(await ClusterFolder.of(web, settings, followingSpider(web)))
    for (const name of ['a', 'b']) folder.worker(name)
    const crawl = new OrderedHost(web, folder, inUse.move())
    await crawl.arrive(10, 0)
    await crawl.othersArrive(10, 0)
    return crawl
  }

  /** Runs `webloom host` for the one that gets orders. */
  order(...words: string[]) {
    return this.#folder.run('host', 'pages', new URL(this.#web.origins[0]!).hostname, ...words)
  }

  /** What it was asked for since that moment, in order. */
  hits(atMs: number): Promise<Hit[]> {
    return this.#since(0, atMs)
  }

  /** Resolves when it was asked so often since that moment. */
  arrive(count: number, atMs: number): Promise<void> {
    return this.#arrive(0, count, atMs)
  }

  /** Resolves when the other host was asked so often since that moment. */
  othersArrive(count: number, atMs: number): Promise<void> {
    return this.#arrive(1, count, atMs)
  }

  async #arrive(host: 0 | 1, count: number, atMs: number): Promise<void> {
    const asked = async () => expect((await this.#since(host, atMs)).length).toBeGreaterThanOrEqual(count)
    await vi.waitFor(asked, { interval: 100 })
  }

  async #since(host: 0 | 1, atMs: number): Promise<Hit[]> {
    const { origin } = new URL(this.#web.origins[host]!)
    const hits = await this.#web.hits()
    return hits
      .filter((hit) => new URL(hit.url).origin === origin && hit.atMs > atMs)
      .sort((a, b) => a.atMs - b.atMs)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#inUse.close()
  }
}
