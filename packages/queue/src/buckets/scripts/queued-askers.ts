/**
 * Whose links this worker has queued lately, and by which of its messages: a Redis that comes back older tells the latest message that
 * it knows of, so this worker knows exactly what is lost of its own.
 */

/** How many are remembered: those of some ten seconds, in a fast crawl. What a Redis loses is a second, as a rule. */
const ASKERS_MAX = 10_000

export class QueuedAskers {
  #askers: string[] = []
  /** Of each asker the number of its message, or a higher one. */
  #numbers: number[] = []
  #listeners: ((askers: readonly string[]) => void)[] = []

  /** @param listener is told whose links are lost */
  listen(listener: (askers: readonly string[]) => void): void {
    this.#listeners.push(listener)
  }

  /** @param number of the message that was answered, or of a later one */
  note(asker: string, number: number): void {
    this.#askers.push(asker)
    this.#numbers.push(number)
    if (this.#askers.length <= 2 * ASKERS_MAX) return
    this.#askers = this.#askers.slice(-ASKERS_MAX)
    this.#numbers = this.#numbers.slice(-ASKERS_MAX)
  }

  /** Redis knows this worker's messages up to `heard`. */
  wentBack(heard: number): void {
    const lost = this.#askers.filter((_asker, n) => this.#numbers[n]! > heard)
    this.#askers = []
    this.#numbers = []
    if (lost.length > 0) for (const listener of this.#listeners) listener([...new Set(lost)])
  }
}
