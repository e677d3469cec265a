/**
 * One value for each priority in use, and the highest of them at hand.
 *
 * Two sorted arrays instead of a Map: there is one of these for every host, and hardly ever more than a few priorities
 * in it.
 */
export class ByPriority<T> {
  /** Ascending, so that the highest leaves without moving the others. */
  #priorities: number[] = []
  #values: T[] = []

  /** The highest priority in use. */
  get highest(): number | undefined {
    return this.#priorities.at(-1)
  }

  /** The value of the highest priority. */
  get first(): T | undefined {
    return this.#values.at(-1)
  }

  /** The value of that priority; made when it has none. */
  of(priority: number, make: () => T): T {
    const at = this.#placeOf(priority)
    if (this.#priorities[at] === priority) return this.#values[at]!
    const made = make()
    this.#priorities.splice(at, 0, priority)
    this.#values.splice(at, 0, made)
    return made
  }

  dropHighest(): void {
    this.#priorities.pop()
    this.#values.pop()
  }

  clear(): void {
    this.#priorities = []
    this.#values = []
  }

  /** Where the priority stands, or belongs. */
  #placeOf(priority: number): number {
    let [low, high] = [0, this.#priorities.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#priorities[middle]! < priority) low = middle + 1
      else high = middle
    }
    return low
  }
}
