/** Random numbers that a seed repeats. */
export class SeededChance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to 1, without 1; mulberry32. */
  next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  is(probability: number): boolean {
    return this.next() < probability
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!
  }

  /** Some of them, in their order. */
  some<T>(all: Iterable<T>, probability = 0.5): T[] {
    return [...all].filter(() => this.is(probability))
  }
}
