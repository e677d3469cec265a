/**
 * The memory for bodies that are being received, shared by all downloads of a worker.
 *
 *     room left   every body grows
 *     full        bodies below 1 MiB grow, of the larger ones one; the others are not read from until there is room
 *
 * One always goes on, so that nobody waits for ever. Not chosen: to drop what does not fit, as honest pages would be
 * lost to a hostile neighbour.
 */
export class BodyRoom {
  readonly #bytesMax: number
  #bytes = 0
  /** Large bodies that are being read. */
  readonly #growing = new Set<RoomGuest>()
  readonly #waiting = new Set<RoomGuest>()

  /** @param bytesMax 0: no bound */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax > 0 ? bytesMax : Number.POSITIVE_INFINITY
  }

  /** The guest's body has grown by `bytes`, to `total`; it may be told to pause. */
  grow(guest: RoomGuest, bytes: number, total: number): void {
    this.#bytes += bytes
    if (total < LARGE_BYTES || this.#waiting.has(guest)) return
    this.#growing.add(guest)
    if (this.#hasRoom()) return
    this.#growing.delete(guest)
    this.#waiting.add(guest)
    guest.pause()
  }

  /** The guest's body of `total` bytes is received, or given up. */
  leave(guest: RoomGuest, total: number): void {
    this.#bytes -= total
    this.#growing.delete(guest)
    this.#waiting.delete(guest)
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

/** A body in the room. */
export interface RoomGuest {
  /** Nothing more is to be read until `resume`. */
  pause(): void
  resume(): void
}

const LARGE_BYTES = 1_048_576
