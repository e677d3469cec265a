/**
 * One value for each priority in use, and the highest of them at hand.
 *
 * There is one of these for every host, and hardly ever more than one priority in it. So the highest stands by itself, and
 * lists are made only for others: two sorted arrays instead of a Map.
 */
export class ByPriority<T> {
  #highest: number | undefined
  #first: T | undefined
  #lower: LowerPriorities<T> | undefined

  /** The highest priority in use. */
  get highest(): number | undefined {
    return this.#highest
  }

  /** The value of the highest priority. */
  get first(): T | undefined {
    return this.#first
  }

  /** The value of that priority; made when it has none. */
  of(priority: number, make: () => T): T {
    if (this.#highest === priority) return this.#first!
    if (this.#highest !== undefined && priority < this.#highest) {
      this.#lower ??= new LowerPriorities()
      return this.#lower.of(priority, make)
    }
    const made = make()
    if (this.#highest !== undefined) {
      this.#lower ??= new LowerPriorities()
      this.#lower.push(this.#highest, this.#first!)
    }
    this.#highest = priority
    this.#first = made
    return made
  }

  dropHighest(): void {
    const [priority, value] = this.#lower?.pop() ?? []
    this.#highest = priority
    this.#first = value
  }

  clear(): void {
    this.#highest = undefined
    this.#first = undefined
    this.#lower = undefined
  }
}

/** In ascending order, so that the highest leaves without moving the others. */
class LowerPriorities<T> {
  readonly #priorities: number[] = []
  readonly #values: T[] = []

  of(priority: number, make: () => T): T {
    const at = this.#placeOf(priority)
    if (this.#priorities[at] === priority) return this.#values[at]!
    const made = make()
    this.#priorities.splice(at, 0, priority)
    this.#values.splice(at, 0, made)
    return made
  }

  /** Adds a value of a priority above all others. */
  push(priority: number, value: T): void {
    this.#priorities.push(priority)
    this.#values.push(value)
  }

  /** Removes and returns the highest. */
  pop(): readonly [priority: number, value: T] | undefined {
    const priority = this.#priorities.pop()
    return priority === undefined ? undefined : [priority, this.#values.pop()!]
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
