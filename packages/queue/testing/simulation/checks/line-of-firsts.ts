/** Whether requests of a slot that were pushed together, and are as urgent as each other, go in the order in which they were pushed. */

import type { BucketLease } from '../../../src/frontier/held-turn.ts'

export class LineOfFirsts {
  /** Of each request that was pushed at the beginning, where it stood. */
  readonly #places: ReadonlyMap<string, number>
  readonly #passed = new Map<string, number>()
  readonly #handedOut = new Set<string>()

  constructor(ids: readonly string[]) {
    this.#places = new Map(ids.map((id, place) => [id, place]))
  }

  /**
   * Called as a request is handed out. Throws when one that was pushed after it was handed out before. Those of a hot slot are not judged: its lanes are
   * with several workers.
   */
  handedOut({ id, slot, priority, turn }: BucketLease): void {
    const place = this.#places.get(id)
    if (place === undefined || this.#handedOut.has(id)) return
    this.#handedOut.add(id)
    if (!turn.isBucket) return
    const line = `${slot} ${priority}`
    const passed = this.#passed.get(line) ?? -1
    if (place < passed)
      throw new Error(`${id}, number ${place}, is handed out after number ${passed} of ${slot}`)
    this.#passed.set(line, place)
  }
}
