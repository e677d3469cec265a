/** Wakes those who wait for something to change. Waiting has a deadline; missing a change only costs that long. */
export class Pulse {
  #count = 0
  #waiting: (() => void)[] = []

  /** How often it has fired: whoever remembers it can tell whether something changed meanwhile. */
  get count(): number {
    return this.#count
  }

  fire(): void {
    this.#count++
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  /** Resolves at the next fire, or after `deadlineMs`. */
  next(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const deadline = setTimeout(resolve, deadlineMs)
      this.#waiting.push(() => {
        clearTimeout(deadline)
        resolve()
      })
    })
  }
}
