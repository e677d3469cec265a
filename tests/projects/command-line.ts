/**
 * `webloom <words>` many times in one process: to start one and load its modules takes ten times as long as what most commands
 * then do. For tests of what a command answers; those of signals, of standard input and of how a process ends start one. The
 * process is one of those that workers run in, and theirs again afterwards.
 */

import type { ProcessResult } from '@webloom/testkit'
import { CommandHost, hosts, type LineOptions } from './command-hosts.ts'

/** For one line, and the first one's start. */
const LINE_MS_MAX = 60_000

/** One line after the other. What one has loaded the next one does not read again, changed or not. */
export class CommandLine implements AsyncDisposable {
  readonly #webloom: string | undefined
  #host: CommandHost | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** @param webloom the folder of another package `webloom`, as it is installed somewhere. Default: the repository's */
  constructor(webloom?: string) {
    this.#webloom = webloom
  }

  /** Runs `webloom <words>` in that folder. */
  run(words: readonly string[], options: Omit<LineOptions, 'timeoutMs'>): Promise<ProcessResult> {
    const result = this.#last.then(() => this.#run(words, { ...options, timeoutMs: LINE_MS_MAX }))
    this.#last = result.catch(() => this.#end())
    return result
  }

  async #run(words: readonly string[], options: LineOptions): Promise<ProcessResult> {
    if (this.#host?.isGoodFor(options) === false) this.#giveBack()
    this.#host ??= this.#webloom === undefined ? hosts.take(options) : new CommandHost(this.#webloom)
    const line = this.#host.run(words, options)
    const result = await line.exited
    if (line.leavesItsHost) return result
    throw new Error(
      `the process of the command line ended with ${result.signal ?? result.code}\n${result.stderr}`,
    )
  }

  /** What a line that did not end leaves is no part of the next one: that one begins another process. */
  async #end(): Promise<void> {
    await this.#host?.close()
    this.#host = undefined
  }

  /** Another package is of no use to others. */
  #giveBack(): void {
    if (this.#host && this.#webloom === undefined) hosts.giveBack(this.#host)
    else void this.#host?.close()
    this.#host = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    this.#giveBack()
  }
}
