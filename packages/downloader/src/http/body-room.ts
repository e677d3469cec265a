/**
 * The memory for bodies that are being received, shared by all downloads of a worker.
 *
 *     room left   every body grows
 * full        bodies below 1 MiB grow, and one of the larger; the others are not read until there is room
 *
 * One body always goes on, so that no download waits for ever. Not chosen: to drop bodies that do not fit, as honest pages
 * would be lost to a hostile neighbour.
 */
export class BodyRoom {
  readonly #bytesMax: number
  #bytes = 0
  /** Large bodies that are being read. */
  readonly #growing = new Set<ReceivedBody>()
  readonly #waiting = new Set<ReceivedBody>()

  /** @param bytesMax 0: no bound */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax > 0 ? bytesMax : Number.POSITIVE_INFINITY
  }

  /** Notes that a body has grown by `bytes` to `total`. May pause it. */
  grow(body: ReceivedBody, bytes: number, total: number): void {
    this.#bytes += bytes
    if (total < LARGE_BYTES || this.#waiting.has(body)) return
    this.#growing.add(body)
    if (this.#hasRoom()) return
    this.#growing.delete(body)
    this.#waiting.add(body)
    body.pause()
  }

  /** Notes that a body of `total` bytes was received or given up, and resumes those that now have room. */
  leave(body: ReceivedBody, total: number): void {
    this.#bytes -= total
    this.#growing.delete(body)
    this.#waiting.delete(body)
    for (const next of this.#waiting) {
      if (this.#growing.size > 0 && this.#bytes > this.#bytesMax) return
      this.#waiting.delete(next)
      this.#growing.add(next)
      next.resume()
    }
  }

  #hasRoom(): boolean {
    return this.#bytes <= this.#bytesMax || this.#growing.size === 1
  }
}

/** A body that is being received into the room. */
export interface ReceivedBody {
  /** Stops reading until `resume` is called. */
  pause(): void
  resume(): void
}

const LARGE_BYTES = 1_048_576
