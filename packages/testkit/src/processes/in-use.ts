/**
 * What a test has opened: closed at the end of the block, the last first. `await using inUse = new InUse()`. It is the part of
 * `AsyncDisposableStack` that our tests need, which Node 22 has not.
 */
export class InUse implements AsyncDisposable {
  #closings: (() => unknown)[] = []

  /** Closes the thing at the end. Gives it back. */
  use<T extends AsyncDisposable | Disposable>(thing: T): T {
    this.defer(() => (Symbol.asyncDispose in thing ? thing[Symbol.asyncDispose]() : thing[Symbol.dispose]()))
    return thing
  }

  /** Calls `close` at the end. */
  defer(close: () => unknown): void {
    this.#closings.push(close)
  }

  /** Hands all of it to a new owner: this one closes nothing any more. */
  move(): InUse {
    const owner = new InUse()
    owner.#closings = this.#closings
    this.#closings = []
    return owner
  }

  /** Closes all, also when one cannot be closed. Its error, or all errors together, are thrown when the others are closed. */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (let closing = this.#closings.pop(); closing; closing = this.#closings.pop()) {
      try {
        await closing()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, 'several could not be closed')
    if (errors.length === 1) throw errors[0]
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
