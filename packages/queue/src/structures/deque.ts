// Below this, moving the rest of the array costs more than the memory it gives back.
const COMPACT_MIN = 1024

/** A line with two ends; all steps take constant time on average. */
export class Deque<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    // A list that grows has room for 17 at once, 152 bytes: many of these never hold more than one.
    if (this.#items.length === 0) this.#items = [item]
    else this.#items.push(item)
  }

  unshift(item: T): void {
    if (this.#head > 0) this.#items[--this.#head] = item
    else this.#items.unshift(item)
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head >= COMPACT_MIN && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  pop(): T | undefined {
    return this.length === 0 ? undefined : this.#items.pop()
  }
}
