/**
 * What is known of very many sites, or hosts, in 20 bytes each. A Map of them would take 200 and more.
 *
 *     slot   | 64 bits of the name's SHA-1   | answer | ask again at | kept until |     times in seconds
 *
 * A site lies in one of the WINDOW slots from the one that its hash names. A slot once used is never emptied, only
 * overwritten, so the first unused slot ends a search. The table doubles when it is two thirds full, or a window is, up to
 * its bound. From then on a site that finds no room takes the slot of the one in its window that is to be asked again soonest.
 *
 * Two sites with the same 64 bits would be taken for one. Among a million sites that happens once in 37 million crawls, and
 * to find a partner for a given site takes 2 ** 64 tries.
 */

import { hash } from 'node:crypto'

/** What is known of one site. Times are seconds since 1970. */
export interface SiteAnswer {
  /** A number from 1 to 2 ** 32 - 1, whose meaning is the caller's. */
  readonly answer: number
  readonly askAgainAtS: number
  readonly untilS: number
}

export const BYTES_PER_SITE = 20
const FIELDS = BYTES_PER_SITE / 4
const [HIGH, LOW, ANSWER, ASK_AGAIN, UNTIL] = [0, 1, 2, 3, 4] as const
const WINDOW = 64
const FULL = 2 / 3
const SITES_AT_FIRST_MAX = 1024

export class SiteTable {
  readonly #sitesMax: number
  readonly #onForgotten: (site: SiteAnswer) => void
  #slots: Uint32Array
  #used = 0

  /** @param onForgotten told of each site that is forgotten before its time, as there is no room */
  constructor(bytesMax: number, onForgotten: (site: SiteAnswer) => void = () => {}) {
    this.#onForgotten = onForgotten
    this.#sitesMax = Math.max(WINDOW, Math.floor(bytesMax / BYTES_PER_SITE))
    let sites = this.#sitesMax
    while (sites > SITES_AT_FIRST_MAX) sites = Math.ceil(sites / 2)
    this.#slots = new Uint32Array(sites * FIELDS)
  }

  /** The memory that the table takes now. */
  get bytes(): number {
    return this.#slots.byteLength
  }

  /** @param name an origin, or what else names the site to the caller */
  get(name: string): SiteAnswer | undefined {
    const [high, low] = keyOf(name)
    const at = this.#find(high, low)
    return at === undefined ? undefined : this.#read(at)
  }

  set(name: string, { answer, askAgainAtS, untilS }: SiteAnswer, nowS: number): void {
    const [high, low] = keyOf(name)
    if (this.#used >= this.#sites * FULL) this.#grow(nowS)
    while (this.#freeSlot(low, nowS) === undefined && this.#grow(nowS)) {}
    const at = this.#find(high, low) ?? this.#freeSlot(low, nowS) ?? this.#takenSlot(low)
    if (!this.#isOf(at, high, low)) this.#forget(at, nowS)
    this.#slots.set([high, low, answer, askAgainAtS, untilS], at)
  }

  delete(name: string): void {
    const [high, low] = keyOf(name)
    const at = this.#find(high, low)
    if (at !== undefined) this.#slots[at + UNTIL] = 0
  }

  /** Makes a slot ready for another site. */
  #forget(at: number, nowS: number): void {
    if (this.#slots[at + ANSWER] === 0) this.#used++
    else if (this.#slots[at + UNTIL]! > nowS) this.#onForgotten(this.#read(at))
  }

  get #sites(): number {
    return this.#slots.length / FIELDS
  }

  #find(high: number, low: number): number | undefined {
    for (let step = 0; step < WINDOW; step++) {
      const at = this.#slotAt(low, step)
      if (this.#slots[at + ANSWER] === 0) return undefined
      if (this.#isOf(at, high, low)) return at
    }
    return undefined
  }

  /** Returns the first slot of the window that is unused, or whose entry is over. */
  #freeSlot(low: number, nowS: number): number | undefined {
    for (let step = 0; step < WINDOW; step++) {
      const at = this.#slotAt(low, step)
      if (this.#slots[at + ANSWER] === 0 || this.#slots[at + UNTIL]! <= nowS) return at
    }
    return undefined
  }

  /** Returns the slot of the site that is to be asked again soonest. */
  #takenSlot(low: number): number {
    let soonest = this.#slotAt(low, 0)
    for (let step = 1; step < WINDOW; step++) {
      const at = this.#slotAt(low, step)
      if (this.#slots[at + ASK_AGAIN]! < this.#slots[soonest + ASK_AGAIN]!) soonest = at
    }
    return soonest
  }

  #slotAt(low: number, step: number): number {
    return ((low + step) % this.#sites) * FIELDS
  }

  #isOf(at: number, high: number, low: number): boolean {
    return this.#slots[at + HIGH] === high && this.#slots[at + LOW] === low
  }

  #read(at: number): SiteAnswer {
    const slots = this.#slots
    return { answer: slots[at + ANSWER]!, askAgainAtS: slots[at + ASK_AGAIN]!, untilS: slots[at + UNTIL]! }
  }

  /** Returns false when the table has reached its bound. */
  #grow(nowS: number): boolean {
    const sites = Math.min(this.#sitesMax, this.#sites * 2)
    if (sites === this.#sites) return false
    const old = this.#slots
    this.#slots = new Uint32Array(sites * FIELDS)
    this.#used = 0
    for (let from = 0; from < old.length; from += FIELDS) {
      if (old[from + ANSWER] === 0 || old[from + UNTIL]! <= nowS) continue
      const low = old[from + LOW]!
      const at = this.#freeSlot(low, nowS) ?? this.#takenSlot(low)
      this.#forget(at, nowS)
      this.#slots.set(old.subarray(from, from + FIELDS), at)
    }
    return true
  }
}

function keyOf(origin: string): readonly [number, number] {
  const digest = hash('sha1', origin, 'buffer')
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)]
}
