/** A map that forgets the value used longest ago when it holds more than `max`. */
export class Recent<Value> {
  // The first entry is the one used longest ago.
  readonly #values = new Map<string, Value>()
  readonly #max: number
  readonly #onForgotten: (value: Value) => void

  constructor(max: number, onForgotten: (value: Value) => void = () => {}) {
    this.#max = max
    this.#onForgotten = onForgotten
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size <= this.#max) return
    const [oldest, forgotten] = this.#values.entries().next().value!
    this.#values.delete(oldest)
    this.#onForgotten(forgotten)
  }

  /** Forgets all values and returns them. */
  clear(): Value[] {
    const values = [...this.#values.values()]
    this.#values.clear()
    return values
  }
}
