import {
  type Crawler,
  hostAndPort,
  NotConfigured,
  Request,
  type SpiderMiddleware,
  type StartHosts,
} from '@webloom/core'

/**
 * Notes which hosts the crawl's own start requests name: those may be inside, whatever address they have. It stands nearest
 * to the engine, so that it sees what other middlewares have made of them.
 */
export class StartHostsMiddleware implements SpiderMiddleware {
  readonly #startHosts: StartHosts

  constructor({ startHosts }: { startHosts: StartHosts }) {
    this.#startHosts = startHosts
  }

  static fromCrawler({ startHosts }: Crawler): StartHostsMiddleware {
    if (!startHosts) throw new NotConfigured('nobody keeps the hosts of start requests')
    return new StartHostsMiddleware({ startHosts })
  }

  async *processStart(start: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    for await (const element of start) {
      if (element instanceof Request) await noteStartHost(this.#startHosts, element)
      yield element
    }
  }
}

/** To be called before the request is queued. */
export async function noteStartHost(startHosts: StartHosts, { url }: Request): Promise<void> {
  const place = hostAndPort(url)
  if (place !== undefined) await startHosts.add(place)
}
