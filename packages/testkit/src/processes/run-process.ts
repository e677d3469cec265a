import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ProcessOptions {
  readonly cwd?: string
  /** Added to this process's environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Written to its standard input, which then ends. Without it `runProcess` ends it at once, `startProcess` leaves it open. */
  readonly input?: string
  /** After this the process is killed and waiting for it rejects. Default 60 000. */
  readonly timeoutMs?: number
}

/** How a process ended: with an exit code or by a signal, and all it has written. */
export interface ProcessResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end. A code other than 0 is a result, not an error; no end within `timeoutMs` is one. */
export async function runProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<ProcessResult> {
  return startProcess(command, args, { ...options, input: options.input ?? '' }).exited
}

/** Starts a command, to talk with it while it runs: `await using worker = startProcess(…)` kills it at the end. */
export function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): StartedProcess {
  return new StartedProcess(command, args, options)
}

/** A command that runs. */
export class StartedProcess {
  /** Resolves when it has ended; rejects when it cannot start, and when it was killed for its `timeoutMs`. */
  readonly exited: Promise<ProcessResult>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #name: string
  /** Called whenever there is more to read, and at the end. */
  readonly #lookouts = new Set<() => void>()
  #stdout = ''
  #stderr = ''
  #ended = false
  #givenUp: string | undefined

  constructor(command: string, args: readonly string[], options: ProcessOptions) {
    this.#name = [command, ...args].join(' ')
    this.#child = spawn(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env } })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
      this.#wrote()
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
      this.#wrote()
    })
    // A process that ends without reading its input breaks the pipe; its exit code tells more than that error.
    this.#child.stdin.on('error', () => {})
    if (options.input !== undefined) this.#child.stdin.end(options.input)
    this.exited = this.#run(options.timeoutMs ?? TIMEOUT_MS)
    // Whoever only waits for output, or kills it, need not handle this as well.
    this.exited.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** What it has written so far. */
  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  /** Resolves with the first match in what it has written, to either stream; rejects when it ends or time is over. */
  waitForOutput(pattern: RegExp, timeoutMs = TIMEOUT_MS): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
    const fromMs = performance.now()
    const look = () => {
      const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr)
      if (match) resolve(match)
      else if (this.#ended)
        reject(this.#error(`ended without writing ${pattern}`, performance.now() - fromMs))
    }
    const timer = setTimeout(() => {
      reject(this.#error(`has not written ${pattern}`, performance.now() - fromMs))
    }, timeoutMs)
    this.#lookouts.add(look)
    look()
    return promise.finally(() => {
      clearTimeout(timer)
      this.#lookouts.delete(look)
    })
  }

  /** Of what it has written so far nothing is kept: what comes now is read as if it were all. */
  forget(): void {
    this.#stdout = ''
    this.#stderr = ''
  }

  /** Writes to its standard input. */
  write(text: string): void {
    this.#child.stdin.write(text)
  }

  endInput(): void {
    this.#child.stdin.end()
  }

  /** Sends a signal; false when it has ended already. Await `exited` to see it gone. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    return this.#child.kill(signal)
  }

  /** Kills it at once, and resolves when it is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.exited.catch(() => {})
  }

  async #run(timeoutMs: number): Promise<ProcessResult> {
    const fromMs = performance.now()
    const timer = setTimeout(() => this.#giveUp(`did not end within ${timeoutMs} ms`), timeoutMs)
    try {
      const { code, signal } = await ending(this.#child)
      if (this.#givenUp !== undefined)
        throw this.#error(`${this.#givenUp} and was killed`, performance.now() - fromMs)
      return { code, signal, stdout: this.#stdout, stderr: this.#stderr }
    } finally {
      clearTimeout(timer)
      this.#ended = true
      this.#look()
    }
  }

  #wrote(): void {
    if (this.#stdout.length + this.#stderr.length > OUTPUT_CHARS_MAX) {
      this.#giveUp(`has written more than ${OUTPUT_CHARS_MAX} characters`)
    }
    this.#look()
  }

  #giveUp(reason: string): void {
    this.#givenUp ??= reason
    this.kill('SIGKILL')
  }

  #look(): void {
    for (const look of this.#lookouts) look()
  }

  /** Its first line tells it all, as it may be all that a short report shows: what was waited for, how long, and what was written last. */
  #error(what: string, waitedMs: number): Error {
    const wrote = lastLine(this.#stderr) ?? lastLine(this.#stdout)
    const last = wrote === undefined ? 'it has written nothing' : `it wrote last: ${wrote}`
    return new Error(
      `a process ${what}, waited for ${Math.round(waitedMs)} ms; ${last}; it is ${this.#name}
--- stdout
${tail(this.#stdout)}
--- stderr
${tail(this.#stderr)}`,
    )
  }
}

const TIMEOUT_MS = 60_000
/** More than any test reads; a process that writes on and on is killed instead of filling the memory. */
const OUTPUT_CHARS_MAX = 64 * 2 ** 20
/** A grandchild can keep the pipes open after the process has ended; its output is not waited for any longer. */
const PIPES_TIMEOUT_MS = 1_000

const LAST_LINE_CHARS_MAX = 300

function lastLine(text: string): string | undefined {
  return text.trimEnd().split('\n').at(-1)?.slice(-LAST_LINE_CHARS_MAX) || undefined
}

function tail(text: string): string {
  return text.length > 4_000 ? `…${text.slice(-4_000)}` : text
}

async function ending(
  child: ChildProcessWithoutNullStreams,
): Promise<Pick<ProcessResult, 'code' | 'signal'>> {
  const exit = Promise.withResolvers<Pick<ProcessResult, 'code' | 'signal'>>()
  const closed = Promise.withResolvers<void>()
  child.once('error', exit.reject)
  child.once('exit', (code, signal) => exit.resolve({ code, signal }))
  child.once('close', () => closed.resolve())
  const result = await exit.promise
  await Promise.race([closed.promise, sleep(PIPES_TIMEOUT_MS, undefined, { ref: false })])
  return result
}
