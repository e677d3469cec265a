/** Things that wait for their moment, earliest first; those of the same moment in the order they came. */
export class TimeHeap<T> {
  readonly #entries: { atMs: number; sequence: number; value: T }[] = []
  #sequence = 0

  get size(): number {
    return this.#entries.length
  }

  /** Moment of the earliest, or undefined when there is none. */
  get nextAtMs(): number | undefined {
    return this.#entries[0]?.atMs
  }

  add(atMs: number, value: T): void {
    const entries = this.#entries
    entries.push({ atMs, sequence: this.#sequence++, value })
    let at = entries.length - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#before(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  /** Removes and returns the earliest whose moment has come, or undefined. */
  takeDue(nowMs: number): T | undefined {
    const first = this.#entries[0]
    if (first === undefined || first.atMs > nowMs) return undefined
    const last = this.#entries.pop()!
    if (this.#entries.length > 0) {
      this.#entries[0] = last
      this.#sink()
    }
    return first.value
  }

  /** Returns those whose moment comes by then, in no order. */
  until(atMs: number): Iterable<T> {
    return this.#until(atMs, 0)
  }

  /** In no order. */
  *values(): Iterable<T> {
    for (const { value } of this.#entries) yield value
  }

  clear(): void {
    this.#entries.length = 0
  }

  *#until(atMs: number, from: number): Iterable<T> {
    const entry = this.#entries[from]
    if (!entry || entry.atMs > atMs) return
    yield entry.value
    yield* this.#until(atMs, 2 * from + 1)
    yield* this.#until(atMs, 2 * from + 2)
  }

  #sink(): void {
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= this.#entries.length) return
      const right = left + 1
      const child = right < this.#entries.length && this.#before(right, left) ? right : left
      if (!this.#before(child, at)) return
      this.#swap(at, child)
      at = child
    }
  }

  #before(a: number, b: number): boolean {
    const [one, other] = [this.#entries[a]!, this.#entries[b]!]
    return one.atMs !== other.atMs ? one.atMs < other.atMs : one.sequence < other.sequence
  }

  #swap(a: number, b: number): void {
    const kept = this.#entries[a]!
    this.#entries[a] = this.#entries[b]!
    this.#entries[b] = kept
  }
}
