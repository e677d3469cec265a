import { originOf, type Request } from '@webloom/core'

/** A value for each host (scheme, name and port), for a bounded number of hosts. */
export class HostsMet<Known> {
  readonly #hosts = new Map<string, Known>()
  readonly #hostsMax: number

  /** @param hostsMax beyond so many, the host that was set first is forgotten */
  constructor(hostsMax: number) {
    this.#hostsMax = hostsMax
  }

  get(request: Request): Known | undefined {
    return this.#hosts.get(originOf(request.url))
  }

  set(request: Request, known: Known): void {
    this.#hosts.set(originOf(request.url), known)
    if (this.#hosts.size > this.#hostsMax) this.#hosts.delete(this.#hosts.keys().next().value!)
  }
}
