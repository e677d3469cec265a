import { WebloomError } from '@webloom/core'
import type { FeedOutput } from './feed-output.ts'
import { failed } from './output-errors.ts'

/** Standard output. It belongs to the process and is never closed here. */
export class StdoutOutput implements FeedOutput {
  readonly storage = 'StdoutFeedStorage'
  readonly #stream: NodeJS.WritableStream
  #failure: unknown

  constructor(stream: NodeJS.WritableStream = process.stdout) {
    this.#stream = stream
  }

  async open(): Promise<void> {
    if (!this.#stream.writable)
      throw new WebloomError(
        'WL_OUTPUT_UNWRITABLE',
        'Standard output cannot be written: it is closed. Write to a file.',
      )
    // Without a listener, a reader that goes away (`| head`) would end the process with a stack trace.
    this.#stream.on('error', this.#onError)
  }

  /** Writes each text whole, in the order of the calls, as a stream does. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#stream.write(text, (error) => {
        if (!error) return resolve()
        this.#onError(error)
        reject(this.#failure)
      })
    })
  }

  async close(): Promise<void> {
    this.#stream.off('error', this.#onError)
  }

  readonly #onError = (error: Error): void => {
    this.#failure ??= failed('to standard output', error)
  }
}
