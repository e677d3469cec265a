/**
 * The word that a Redis which has come back older is owed: no slot is this worker's any more. It goes with a renewal. Until Redis has heard it no
 * other command with a number is sent: that could be done by a Redis that has gone back to the same state once more, and hide that it has.
 */
export class OwedReset {
  #owed = 0
  #waiting: PromiseWithResolvers<void> | undefined
  #isClosed = false

  /** How often Redis was found older since it was told. */
  get owed(): number {
    return this.#owed
  }

  /** While commands wait: resolves when they may go; undefined: they may. */
  get told(): Promise<void> | undefined {
    return this.#waiting?.promise
  }

  /** Redis has been found older once more. */
  owe(): void {
    this.#owed++
    if (!this.#isClosed) this.#waiting ??= Promise.withResolvers()
  }

  /** Redis was told, as so much was owed. */
  done(owed: number): void {
    this.#owed -= owed
    if (this.#owed === 0) this.letGo()
  }

  /** Commands wait no longer, until Redis is found older once more: it refuses the word, and whoever waits is to be told the same. */
  letGo(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  /** Nothing waits any more: who leaves renews nothing, and gives back what he has. */
  close(): void {
    this.#isClosed = true
    this.letGo()
  }
}
