import { PassingMap } from '@webloom/core'
import { ByPriority } from './by-priority.ts'
import { Deque } from './deque.ts'

interface Place<T> {
  readonly item: T
  readonly priority: number
}

/** Things that take turns, those of the highest priority first. Each stands in it once. */
export class PriorityRing<T> {
  readonly #rings = new ByPriority<Deque<Place<T>>>()
  /** Entries of the rings that are not in here are void. */
  readonly #places = new PassingMap<T, Place<T>>()

  get size(): number {
    return this.#places.size
  }

  has(item: T): boolean {
    return this.#places.has(item)
  }

  /** All of them, in no order. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#places.keys()
  }

  /** Puts it at the end of that priority's ring; where it stands there already, it keeps its place. */
  add(item: T, priority: number): void {
    if (this.#places.get(item)?.priority === priority) return
    const place = { item, priority }
    this.#places.set(item, place)
    this.#rings.of(priority, () => new Deque()).push(place)
  }

  remove(item: T): void {
    this.#places.delete(item)
  }

  /** Takes out the next one. */
  next(): T | undefined {
    for (let ring = this.#rings.first; ring; ring = this.#rings.first) {
      for (let place = ring.shift(); place; place = ring.shift()) {
        if (this.#places.get(place.item) !== place) continue
        this.#places.delete(place.item)
        return place.item
      }
      this.#rings.dropHighest()
    }
    return undefined
  }
}
