/**
 * A Map and a Set for what comes and goes: requests in flight, connections, askers of the moment.
 *
 * V8 keeps the entries of a Map in a table. When deleted entries fill it, they go to a new table, and the old one points to the
 * new one, for iterators that are under way. A table that has become old by a collection is garbage that only the next large
 * collection finds; until then what it points to counts as used. So one old table makes the next one old with all its entries,
 * and that the next, for as long as the process runs: whatever is put into such a Map, for however short a time, ends among
 * the old objects. A Map that is made anew has a table that no other one points to.
 */

/** So many entries are deleted before a Map is made anew, and at least as many as there are in it: each is copied once or so. */
const DELETED_MIN = 64
/** In a larger Map an entry stays for long, and is old when it goes. */
const COPIED_MAX = 4096

/**
 * Use it for entries that live for less than a second or so, in a map that lives for long.
 *
 * An iteration that is under way while an entry is added may show entries that are deleted meanwhile, and may not show that one.
 */
export class PassingMap<Key, Value> {
  #map = new Map<Key, Value>()
  #deleted = 0

  get size(): number {
    return this.#map.size
  }

  has(key: Key): boolean {
    return this.#map.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key)
  }

  set(key: Key, value: Value): void {
    const { size } = this.#map
    if (this.#deleted >= DELETED_MIN && this.#deleted >= size) {
      if (size <= COPIED_MAX) this.#map = new Map(this.#map)
      this.#deleted = 0
    }
    this.#map.set(key, value)
  }

  delete(key: Key): boolean {
    const wasIn = this.#map.delete(key)
    if (wasIn) this.#deleted++
    return wasIn
  }

  clear(): void {
    // What has held nothing since it was made need not be made anew.
    if (this.#map.size + this.#deleted === 0) return
    this.#map = new Map()
    this.#deleted = 0
  }

  keys(): MapIterator<Key> {
    return this.#map.keys()
  }

  values(): MapIterator<Value> {
    return this.#map.values()
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#map.entries()
  }
}

/** The same for a Set. */
export class PassingSet<T> {
  #set = new Set<T>()
  #deleted = 0

  get size(): number {
    return this.#set.size
  }

  has(one: T): boolean {
    return this.#set.has(one)
  }

  add(one: T): void {
    const { size } = this.#set
    if (this.#deleted >= DELETED_MIN && this.#deleted >= size) {
      if (size <= COPIED_MAX) this.#set = new Set(this.#set)
      this.#deleted = 0
    }
    this.#set.add(one)
  }

  delete(one: T): boolean {
    const wasIn = this.#set.delete(one)
    if (wasIn) this.#deleted++
    return wasIn
  }

  clear(): void {
    if (this.#set.size + this.#deleted === 0) return
    this.#set = new Set()
    this.#deleted = 0
  }

  [Symbol.iterator](): SetIterator<T> {
    return this.#set.values()
  }
}
