/**
 * The word that a Redis which has come back older is owed: no slot is this worker's any more. It goes with a renewal. Until Redis has heard it no
 * message is sent: that could be done by a Redis that has gone back to the same state once more, and hide that it has.
 */
export class OwedReset {
  #owed = 0
  #waiting: PromiseWithResolvers<void> | undefined

  /** How often Redis was found older since it was told. */
  get owed(): number {
    return this.#owed
  }

  /** While messages wait: resolves when they may go; undefined: they may. */
  get told(): Promise<void> | undefined {
    return this.#waiting?.promise
  }

  /** Redis has been found older once more. */
  owe(): void {
    this.#owed++
    this.#waiting ??= Promise.withResolvers()
  }

  /** Redis was told, as so much was owed. */
  done(owed: number): void {
    this.#owed -= owed
    if (this.#owed === 0) this.letGo()
  }

  /** Messages wait no longer: Redis refuses the word, which a message should find out, too, or the queue closes. */
  letGo(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
