import {
  type Crawler,
  hostAndPort,
  NotConfigured,
  Request,
  type SpiderMiddleware,
  type StartHosts,
} from '@webloom/core'

/**
 * Notes the hosts of the crawl's own start requests, which may have addresses inside. It stands nearest to the engine, so
 * that it sees the requests as other middlewares have changed them.
 */
export class StartHostsMiddleware implements SpiderMiddleware {
  readonly #startHosts: StartHosts

  constructor({ startHosts }: { startHosts: StartHosts }) {
    this.#startHosts = startHosts
  }

  static fromCrawler({ startHosts }: Crawler): StartHostsMiddleware {
    if (!startHosts) throw new NotConfigured('no store keeps the hosts of start requests')
    return new this({ startHosts })
  }

  /**
   * Does not wait for each host: over one connection to Redis it is noted before its request is queued, and a start() of a hundred
   * thousand hosts need not wait for as many replies. What fails is thrown with a later element, or at the end.
   */
  async *processStart(start: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const noting = new Set<Promise<void>>()
    let failure: { readonly error: unknown } | undefined
    for await (const element of start) {
      if (element instanceof Request) {
        const note = noteStartHost(this.#startHosts, element)
          .catch((error: unknown) => {
            failure = { error }
          })
          .finally(() => noting.delete(note))
        noting.add(note)
        if (noting.size >= CONCURRENT_NOTES_MAX) await Promise.race(noting)
      }
      if (failure) throw failure.error
      yield element
    }
    await Promise.all(noting)
    if (failure) throw failure.error
  }
}

/** Notes the host of a start request. Call it before the request is queued. */
export async function noteStartHost(startHosts: StartHosts, { url }: Request): Promise<void> {
  const place = hostAndPort(url)
  if (place !== undefined) await startHosts.add(place)
}

/** So many hosts may be on their way to be noted. */
const CONCURRENT_NOTES_MAX = 256

/** A longer list is not read for a host that is outside: its hosts are noted as their requests are made. */
const START_URLS_READ_MAX = 1000

/**
 * The hosts of `startUrls` as well, without waiting for their requests: those of a long list are made little by little, and
 * a page may lead to one of its hosts before that host is among those that are made. What is refused then would be lost.
 */
export class DeclaredStartHosts implements StartHosts {
  readonly #spider: { readonly startUrls: readonly string[] }
  readonly #noted: StartHosts
  #declared: ReadonlySet<string | undefined> | undefined

  /** @param noted the hosts of requests that were made */
  constructor(spider: { readonly startUrls: readonly string[] }, noted: StartHosts) {
    this.#spider = spider
    this.#noted = noted
  }

  add(place: string): Promise<void> {
    return this.#noted.add(place)
  }

  /**
   * Reads the list when the first host inside is met, as most crawls never meet one. A host of the list is noted when it is
   * asked for, so that all workers know what is known of it.
   */
  async has(place: string): Promise<boolean> {
    await this.#noteDeclared(place)
    return this.#noted.has(place)
  }

  async notePublic(place: string): Promise<void> {
    if (this.#declared || this.#spider.startUrls.length <= START_URLS_READ_MAX)
      await this.#noteDeclared(place)
    await this.#noted.notePublic(place)
  }

  async #noteDeclared(place: string): Promise<void> {
    this.#declared ??= new Set(this.#spider.startUrls.map(hostAndPort))
    if (this.#declared.has(place)) await this.#noted.add(place)
  }
}
