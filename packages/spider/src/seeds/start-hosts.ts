/** The hosts of the crawl's own start requests, which may have addresses inside. */

import { hostAndPort, type Request, type StartHosts } from '@webloom/core'

/**
 * Notes the hosts of start requests, as all middlewares have left them. Call it before the requests are queued, and wait for
 * it: another worker may have one of them in the next moment.
 */
export async function noteStartHosts(startHosts: StartHosts, requests: readonly Request[]): Promise<void> {
  const places = new Set(requests.map(({ url }) => hostAndPort(url)))
  places.delete(undefined)
  await Promise.all(Array.from(places, (place) => startHosts.add(place!)))
}

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
