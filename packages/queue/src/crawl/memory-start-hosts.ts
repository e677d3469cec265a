import type { StartHosts } from '@webloom/core'

/** The start hosts of a crawl that ends with its process. */
export class MemoryStartHosts implements StartHosts {
  readonly #hosts = new Set<string>()
  readonly #public = new Set<string>()

  async add(hostAndPort: string): Promise<void> {
    this.#hosts.add(hostAndPort)
  }

  async has(hostAndPort: string): Promise<boolean> {
    return this.#hosts.has(hostAndPort) && !this.#public.has(hostAndPort)
  }

  async notePublic(hostAndPort: string): Promise<void> {
    if (this.#hosts.has(hostAndPort)) this.#public.add(hostAndPort)
  }
}
