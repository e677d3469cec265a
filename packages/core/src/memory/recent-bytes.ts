import { ownCopy } from '@webloom/url'
import { PassingMap } from './passing-map.ts'

interface Weighed<Key, Value> {
  /** Not a slice: V8 keeps the whole text that one was cut from, and nobody counts its bytes. */
  readonly key: Key
  readonly value: Value
  readonly bytes: number
}

/** What an entry takes beside the characters of its key, and beside what its value refers to. Measured: 100 to 120. */
export const ENTRY_BYTES = 128

/**
 * Of a large map some of the oldest values are forgotten at once. To find its first entry V8 passes all that were deleted before it, which
 * for each value that came to a full map took 10 µs of 10 000 values, and 100 of 100 000.
 */
const FORGOTTEN_TOGETHER = 1 / 64

/**
 * A map that forgets the values used longest ago when its values weigh more than `bytesMax`, or are more than `valuesMax`: as many as
 * that takes, and of a large map a few more. The newest one always stays.
 */
export class RecentBytes<Key extends string | number, Value> {
  // The first entry is the one used longest ago.
  readonly #values = new PassingMap<Key, Weighed<Key, Value>>()
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
      this.#values.set(known.key, known)
      this.#newest = known.key
    }
    return known?.value
  }

  /** The same, but no use of it: for who looks first, and asks for it only then. To move an entry costs four times as much. */
  peek(key: Key): Value | undefined {
    return this.#values.get(key)?.value
  }

  set(key: Key, value: Value, bytes: number): void {
    const own = this.#values.get(key)?.key ?? inOwnMemory(key)
    this.delete(own)
    this.#values.set(own, { key: own, value, bytes })
    this.#newest = own
    this.#bytes += bytes
    if (this.#isOver) this.#forgetOldest()
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

  get #isOver(): boolean {
    return this.#bytes > this.#bytesMax || this.#values.size > this.#valuesMax
  }

  #forgetOldest(): void {
    const least = this.#values.size * FORGOTTEN_TOGETHER
    const forgotten: [key: Key, value: Value][] = []
    for (const [key, { value }] of this.#values) {
      if (this.#values.size === 1 || (!this.#isOver && forgotten.length + 1 > least)) break
      this.delete(key)
      forgotten.push([key, value])
    }
    for (const [key, value] of forgotten) this.#onForgotten(key, value)
  }
}

function inOwnMemory<Key extends string | number>(key: Key): Key {
  return typeof key === 'string' ? (ownCopy(key) as Key & string) : key
}
