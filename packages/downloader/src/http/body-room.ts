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
  readonly #growing = new Set<RoomGuest>()
  readonly #waiting = new Set<RoomGuest>()

  /** @param bytesMax 0: no bound */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax > 0 ? bytesMax : Number.POSITIVE_INFINITY
  }

  /** Notes that the guest's body has grown by `bytes` to `total`. May pause the guest. */
  grow(guest: RoomGuest, bytes: number, total: number): void {
    this.#bytes += bytes
    if (total < LARGE_BYTES || this.#waiting.has(guest)) return
    this.#growing.add(guest)
    if (this.#hasRoom()) return
    this.#growing.delete(guest)
    this.#waiting.add(guest)
    guest.pause()
  }

  /** Notes that the guest's body of `total` bytes was received or given up, and resumes guests that now have room. */
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

/** A body that is being received into the room. */
export interface RoomGuest {
  /** Stops reading until `resume` is called. */
  pause(): void
  resume(): void
}

const LARGE_BYTES = 1_048_576
