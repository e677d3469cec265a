/**
 * `webloom <words>` in processes that run one line after the other, several at once: a process that has run a crawl before spends a
 * third of what one of its own does on the next one. For workers of a cluster; those whose end as a process counts, and the soaks,
 * start one of their own.
 */

import { constants } from 'node:os'
import { join } from 'node:path'
import { type ProcessResult, type StartedProcess, startProcess } from '@webloom/testkit'
import { CLI } from './project-folder.ts'

const HOST = join(import.meta.dirname, 'command-line-host.ts')
const WEBLOOM = join(import.meta.dirname, '../../packages/webloom')
/** The process is there as long as its tests, each of which has a limit of its own. */
const HOST_MS_MAX = 3_600_000
/** Those that wait for the next line. Each has some 150 MB. */
const FREE_MAX = 6

/** What the host is told to run. */
export interface Line {
  readonly words: readonly string[]
  readonly cwd: string
  /** Added to the environment, for this line alone. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the protocol's times. */
  readonly factor: number
  /** What it writes to each stream when the line has ended, before the exit code and a line break. */
  readonly ends: { readonly stdout: string; readonly stderr: string }
}

const ENDS = { stdout: '\u0000end of stdout: ', stderr: '\u0000end of stderr: ' }
const [OUT_END, ERR_END] = [ENDS.stdout, ENDS.stderr].map((end) => new RegExp(`${end}(\\d+)\n`)) as [
  RegExp,
  RegExp,
]
/** What a crawl has left behind may still say something. */
const before = (end: RegExp, text: string) => text.slice(0, end.exec(text)?.index)

/** A command that runs, in a process of its own or in a host. */
export type Running = Pick<
  StartedProcess,
  'pid' | 'stdout' | 'stderr' | 'exited' | 'waitForOutput' | 'kill' | typeof Symbol.asyncDispose
>

export interface LineOptions {
  readonly cwd: string
  /** How often files of the folder were written anew. */
  readonly release?: number
  readonly env?: Line['env']
  readonly factor?: number
  /** After this the host is killed and waiting for the line rejects. */
  readonly timeoutMs: number
}

/** A process that runs lines, one at a time. */
export class CommandHost {
  readonly #process: StartedProcess
  /** What it has loaded in these it does not read again. */
  readonly #releases = new Map<string, number>()

  /** @param webloom the folder of the package whose commands it runs. Default: the repository's */
  constructor(webloom = WEBLOOM) {
    this.#process = startProcess(process.execPath, [HOST, webloom], { timeoutMs: HOST_MS_MAX })
  }

  /** Whether it would run what the folder has now. */
  isGoodFor({ cwd, release = 0 }: LineOptions): boolean {
    return (this.#releases.get(cwd) ?? release) === release
  }

  run(
    words: readonly string[],
    { cwd, release = 0, env = {}, factor = 1, timeoutMs }: LineOptions,
  ): HostedLine {
    this.#releases.set(cwd, release)
    return new HostedLine(this.#process, { words, cwd, env, factor, ends: ENDS }, timeoutMs)
  }

  close(): Promise<void> {
    return this.#process[Symbol.asyncDispose]()
  }
}

/** A line that a host runs: to whoever started it a process, which ends when the line does. */
export class HostedLine implements Running {
  readonly exited: Promise<ProcessResult>
  readonly #host: StartedProcess
  #result: ProcessResult | undefined
  #hasEnded = false
  readonly #signals: NodeJS.Signals[] = []

  constructor(host: StartedProcess, line: Line, timeoutMs: number) {
    this.#host = host
    host.forget()
    host.write(`${JSON.stringify(line)}\n`)
    this.exited = this.#run(timeoutMs)
    this.exited.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#host.pid
  }

  get stdout(): string {
    return this.#result?.stdout ?? before(OUT_END, this.#host.stdout)
  }

  get stderr(): string {
    return this.#result?.stderr ?? before(ERR_END, this.#host.stderr)
  }

  /** It has ended, and its process can run another one. A signal that came too late for it would strike that. */
  get leavesItsHost(): boolean {
    const [signal, ...more] = this.#signals
    const isTaken = signal === undefined || this.#result?.code === 128 + constants.signals[signal]
    return this.#hasEnded && isTaken && more.length === 0
  }

  async waitForOutput(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray> {
    const ended = this.exited.then(() => undefined)
    // What the host writes later is of another line.
    const match = this.#result
      ? undefined
      : await Promise.race([this.#host.waitForOutput(pattern, timeoutMs), ended])
    const found = match ?? pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
    if (found) return found
    throw new Error(
      `a line ended without writing ${pattern}\n--- stdout\n${this.stdout}\n--- stderr\n${this.stderr}`,
    )
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    if (this.#result) return false
    this.#signals.push(signal)
    return this.#host.kill(signal)
  }

  /** Kills it where it runs, and resolves when it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.exited.catch(() => {})
  }

  async #run(timeoutMs: number): Promise<ProcessResult> {
    try {
      const [, code] = await this.#host.waitForOutput(ERR_END, timeoutMs)
      await this.#host.waitForOutput(OUT_END, timeoutMs)
      this.#hasEnded = true
      this.#result = { code: Number(code), signal: null, stdout: this.stdout, stderr: this.stderr }
    } catch (error) {
      const isHanging = this.#host.kill('SIGKILL')
      this.#result = await this.#host.exited
      if (isHanging) throw error
    }
    return this.#result
  }
}

/** As many hosts as lines run at once. */
export class CommandHosts {
  readonly #free: CommandHost[] = []

  /** What a spider's file keeps for itself is there again when that folder's next line finds the same process. */
  start(words: readonly string[], options: LineOptions): Running {
    const host = this.take(options)
    const line = host.run(words, options)
    const giveBack = () => (line.leavesItsHost ? this.giveBack(host) : void host.close())
    void line.exited.then(giveBack, giveBack)
    return line
  }

  /** One that is the caller's until it is given back. */
  take(options: LineOptions): CommandHost {
    const at = this.#free.findLastIndex((host) => host.isGoodFor(options))
    return at < 0 ? new CommandHost() : this.#free.splice(at, 1)[0]!
  }

  giveBack(host: CommandHost): void {
    if (this.#free.length < FREE_MAX) this.#free.push(host)
    else void host.close()
  }
}

/** For all files that share this process. */
export const hosts = new CommandHosts()
/** The soaks start each command as a user does. */
export const HAS_HOSTS = process.env.TESTS_OWN_PROCESSES !== 'true'

/** `webloom <words>` in a host, or in the soaks as a user's shell starts it, with the protocol's own times. */
export function startWebloom(words: readonly string[], options: LineOptions): Running {
  return HAS_HOSTS ? hosts.start(words, options) : startProcess(process.execPath, [CLI, ...words], options)
}
