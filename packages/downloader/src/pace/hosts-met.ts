import type { Request } from '@webloom/core'

/** Something about each host (scheme, name and port) that was met last. */
export class HostsMet<Known> {
  readonly #hosts = new Map<string, Known>()
  readonly #hostsMax: number

  /** Past `hostsMax`, the host that was set first is forgotten. */
  constructor(hostsMax: number) {
    this.#hostsMax = hostsMax
  }

  get(request: Request): Known | undefined {
    return this.#hosts.get(originOf(request))
  }

  set(request: Request, known: Known): void {
    this.#hosts.set(originOf(request), known)
    if (this.#hosts.size > this.#hostsMax) this.#hosts.delete(this.#hosts.keys().next().value!)
  }
}

/** Everything before the path: cheaper than parsing a URL for each answer. */
function originOf({ url }: Request): string {
  const end = url.indexOf('/', url.indexOf('://') + 3)
  return end < 0 ? url : url.slice(0, end)
}
