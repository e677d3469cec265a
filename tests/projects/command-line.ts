/**
 * `webloom <words>` many times in one process: to start one and load its modules takes ten times as long as what most commands
 * then do. For tests of what a command answers; those of signals, of standard input and of how a process ends start one.
 */

import { join } from 'node:path'
import { type ProcessResult, type StartedProcess, startProcess } from '@webloom/testkit'

const HOST = join(import.meta.dirname, 'command-line-host.ts')
/** For one line, and the first one's start. */
const LINE_MS_MAX = 60_000
/** The process is there as long as its tests, each of which has a limit of its own. */
const HOST_MS_MAX = 3_600_000

/** What the host is told to run. */
export interface Line {
  readonly words: readonly string[]
  readonly cwd: string
  /** Added to the environment, for this line alone. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What it writes to each stream when the line has ended, before the exit code and a line break. */
  readonly ends: { readonly stdout: string; readonly stderr: string }
}

const ENDS = { stdout: '\u0000end of stdout: ', stderr: '\u0000end of stderr: ' }
const [OUT_END, ERR_END] = [ENDS.stdout, ENDS.stderr].map((end) => new RegExp(`${end}(\\d+)\n$`))

/** One line after the other. What one has loaded the next one does not read again, changed or not. */
export class CommandLine implements AsyncDisposable {
  #host: StartedProcess | undefined
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `webloom <words>` in that folder. */
  run(
    words: readonly string[],
    { cwd, env = {} }: Pick<Line, 'cwd'> & Partial<Pick<Line, 'env'>>,
  ): Promise<ProcessResult> {
    const result = this.#last.then(() => this.#run({ words, cwd, env, ends: ENDS }))
    this.#last = result.catch(() => this.#end())
    return result
  }

  async #run(line: Line): Promise<ProcessResult> {
    this.#host ??= startProcess(process.execPath, [HOST], { timeoutMs: HOST_MS_MAX })
    const host = this.#host
    host.forget()
    host.write(`${JSON.stringify(line)}\n`)
    const [, code] = await host.waitForOutput(ERR_END!, LINE_MS_MAX)
    await host.waitForOutput(OUT_END!, LINE_MS_MAX)
    const [stdout, stderr] = [host.stdout.replace(OUT_END!, ''), host.stderr.replace(ERR_END!, '')]
    return { code: Number(code), signal: null, stdout, stderr }
  }

  /** What a line that did not end leaves is no part of the next one: that one begins another process. */
  async #end(): Promise<void> {
    await this.#host?.[Symbol.asyncDispose]()
    this.#host = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    await this.#end()
  }
}
