import { ENTRY_BYTES, originOf, RecentBytes, type Request } from '@webloom/core'

/** A number or flag for each host (scheme, name and port), within a number of bytes. */
export class HostsMet<Known extends number | boolean> {
  readonly #hosts: RecentBytes<string, Known>

  /** @param bytesMax beyond it the host that was asked about longest ago is forgotten */
  constructor(bytesMax: number) {
    this.#hosts = new RecentBytes(bytesMax)
  }

  get(request: Request): Known | undefined {
    return this.#hosts.get(originOf(request.url))
  }

  set(request: Request, known: Known): void {
    const origin = originOf(request.url)
    this.#hosts.set(origin, known, ENTRY_BYTES + origin.length)
  }
}
