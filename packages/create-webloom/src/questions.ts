import { createInterface, type Interface } from 'node:readline/promises'
import { DEFAULT_TEMPLATE, type Template, templateNamed } from './templates.ts'
import { UsageError } from './usage-error.ts'

/** Ctrl-C, or the end of the input, in a question. */
export class Cancelled extends Error {}

/** Asks on a terminal. Each question is asked until its answer will do; Enter takes what stands in brackets. */
export class Questions implements Disposable {
  readonly #terminal: Interface
  readonly #output: NodeJS.WritableStream
  readonly #cancelled: Promise<never>

  constructor(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
    this.#output = output
    this.#terminal = createInterface({ input, output })
    // Of Ctrl-C and Ctrl-D alike readline says nothing to whoever waits for an answer.
    this.#terminal.once('SIGINT', () => this.#terminal.close())
    this.#cancelled = new Promise((_, reject) => {
      this.#terminal.once('close', () => reject(new Cancelled()))
    })
    this.#cancelled.catch(() => {})
  }

  /** @param check throws `UsageError` for a name that will not do */
  folder(preset: string, check: (answer: string) => unknown): Promise<string> {
    return this.#ask(`Name of the project (${preset}): `, (answer) => {
      const name = answer || preset
      check(name)
      return name
    })
  }

  /** Takes a name or a number. */
  template(all: readonly Template[]): Promise<Template> {
    const width = Math.max(...all.map(({ name }) => name.length))
    const lines = all.map(
      ({ name, description }, index) => `  ${index + 1}  ${name.padEnd(width)}  ${description}`,
    )
    this.#output.write(`\n${lines.join('\n')}\n\n`)
    return this.#ask(
      `Template, by name or number (${DEFAULT_TEMPLATE}): `,
      (answer) => all[Number(answer) - 1] ?? templateNamed(answer || DEFAULT_TEMPLATE, all),
    )
  }

  async #ask<T>(question: string, chosenBy: (answer: string) => T): Promise<T> {
    for (;;) {
      const answer = await Promise.race([this.#terminal.question(question), this.#cancelled])
      try {
        return chosenBy(answer.trim())
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        this.#output.write(`${error.message}\n`)
      }
    }
  }

  [Symbol.dispose](): void {
    this.#terminal.close()
  }
}
