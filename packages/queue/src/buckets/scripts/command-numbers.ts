/** The number of a command, for a Redis that must know whether it has forgotten an earlier one. */
export interface CommandNumber {
  readonly worker: string
  readonly number: number
  /** The highest number whose answer this worker had when the command was sent. */
  readonly answered: number
  /** The run that this worker takes part in; '' where there is no record of one. */
  readonly run: string
}

/** Redis has come back with an older state: it knows this worker's commands only up to `heard`, and has done nothing. */
export class WentBack extends Error {
  readonly heard: number

  constructor(heard: number) {
    super(`Redis has come back with an older state, up to this worker's command ${heard}`)
    this.heard = heard
  }
}

/**
 * Numbers a worker's commands to Redis. Redis notes the latest number in the step that runs the command, and each command
 * tells the latest one that was answered (`lua/buckets/steps/command.lua`). So the first command that would build on something
 * which Redis has lost finds that out, before any of it is done.
 */
export class CommandNumbers {
  readonly #worker: string
  /** Set when the queue is opened. */
  run = ''
  #number = 0
  #answered = 0

  constructor(worker: string) {
    this.#worker = worker
  }

  /** The next number: no command that was sent has it, or a higher one. */
  get coming(): number {
    return this.#number + 1
  }

  /** The highest number that was answered. */
  get answered(): number {
    return this.#answered
  }

  next(): CommandNumber {
    return { worker: this.#worker, number: ++this.#number, answered: this.#answered, run: this.run }
  }

  wasAnswered({ number }: CommandNumber): void {
    this.#answered = Math.max(this.#answered, number)
  }

  /** Returns false when the loss was known already: several commands may report the same one. */
  wentBack({ heard }: WentBack): boolean {
    if (heard >= this.#answered) return false
    this.#answered = heard
    return true
  }
}
