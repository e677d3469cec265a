import { PassingMap } from './passing-map.ts'

interface Weighed<Value> {
  readonly value: Value
  readonly bytes: number
}

/** What an entry takes beside the characters of its key, and beside what its value refers to. Measured: 100 to 120. */
export const ENTRY_BYTES = 128

/**
 * A map that forgets the values used longest ago when its values weigh more than `bytesMax`, or are more than `valuesMax`.
 * The newest one always stays.
 */
export class RecentBytes<Key, Value> {
  // The first entry is the one used longest ago.
  readonly #values = new PassingMap<Key, Weighed<Value>>()
  readonly #bytesMax: number
  readonly #valuesMax: number
  readonly #onForgotten: (key: Key, value: Value) => void
  #bytes = 0
  // Its entry is the last one already. To move that again costs a microsecond, as a small Map is often made anew for it.
  #newest: Key | undefined

  constructor(
    bytesMax: number,
    onForgotten: (key: Key, value: Value) => void = () => {},
    valuesMax = Number.POSITIVE_INFINITY,
  ) {
    this.#bytesMax = bytesMax
    this.#valuesMax = valuesMax
    this.#onForgotten = onForgotten
  }

  /** What the values weigh together. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#values.size
  }

  get(key: Key): Value | undefined {
    const known = this.#values.get(key)
    if (known && key !== this.#newest) {
      this.#values.delete(key)
      this.#values.set(key, known)
      this.#newest = key
    }
    return known?.value
  }

  /** The same, but no use of it: for who looks first, and asks for it only then. To move an entry costs four times as much. */
  peek(key: Key): Value | undefined {
    return this.#values.get(key)?.value
  }

  set(key: Key, value: Value, bytes: number): void {
    this.delete(key)
    this.#values.set(key, { value, bytes })
    this.#newest = key
    this.#bytes += bytes
    while ((this.#bytes > this.#bytesMax || this.#values.size > this.#valuesMax) && this.#values.size > 1) {
      const [oldest, forgotten] = this.#values[Symbol.iterator]().next().value!
      this.delete(oldest)
      this.#onForgotten(oldest, forgotten.value)
    }
  }

  /** All entries, the one that was used longest ago first. A look at them is no use of them. */
  *entries(): Generator<[key: Key, value: Value]> {
    for (const [key, { value }] of this.#values) yield [key, value]
  }

  delete(key: Key): void {
    const known = this.#values.get(key)
    if (!known) return
    this.#values.delete(key)
    if (key === this.#newest) this.#newest = undefined
    this.#bytes -= known.bytes
  }
}
