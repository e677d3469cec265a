/**
 * `webloom worker --processes N`: N processes of the same command, and another in the place of each that dies.
 *
 *     finished       the crawl is over, for all of them: none is started again
 *     left           it was over MEMUSAGE_LIMIT_MB: another takes its place at once
 *     refused        wrong settings, no Redis: the others would end the same way, so all end, with its exit code
 *     died           a signal, a crash: another takes its place, later each time if it dies again soon
 */

import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@webloom/core'
import { EXIT } from './exit-codes.ts'

/** What a worker process tells before it ends. */
export interface WorkerEnd {
  readonly finishReason: string
}

/** A worker that leaves for this reason has left work to others. */
const LEFT = 'memusage_exceeded'

// A process that dies within this time died of its surroundings: trying again at once would only burn the machine.
const SOON_MS = 10_000
const RESTART_MS_MIN = 500
const RESTART_MS_MAX = 30_000

export interface WorkerProcessesOptions {
  readonly count: number
  /** The program and its arguments, those of one process. */
  readonly program: string
  readonly argv: readonly string[]
  readonly logger: Logger
}

/** Runs them until the crawl is over or a signal comes; answers the exit code. */
export async function runWorkerProcesses(options: WorkerProcessesOptions): Promise<number> {
  return new WorkerProcesses(options).run()
}

class WorkerProcesses {
  readonly #options: WorkerProcessesOptions
  readonly #running = new Set<ChildProcess>()
  readonly #stopping = new AbortController()
  #exitCode: number | undefined

  constructor(options: WorkerProcessesOptions) {
    this.#options = options
  }

  async run(): Promise<number> {
    const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
      this.#exitCode = signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated
      this.#stopping.abort()
      // A second one reaches them, too, and ends them at once.
      this.#end()
    }
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
    try {
      await Promise.all(Array.from({ length: this.#options.count }, (_, place) => this.#keep(place + 1)))
      return this.#exitCode ?? EXIT.finished
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    }
  }

  /** Keeps one place filled. */
  async #keep(place: number): Promise<void> {
    const { logger } = this.#options
    let restartMs = RESTART_MS_MIN
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now()
      const { code, signal, end } = await this.#runOne()
      if (this.#stopping.signal.aborted) return
      if (end?.finishReason === LEFT) {
        logger.info(`worker ${place} was over MEMUSAGE_LIMIT_MB and has left; another takes its place`)
        continue
      }
      if (end !== undefined) return this.#ended(code ?? EXIT.finished)
      if (code === EXIT.usage || code === EXIT.redisUnreachable) {
        this.#ended(code)
        this.#stopping.abort()
        return this.#end()
      }
      restartMs =
        performance.now() - startedAt < SOON_MS ? Math.min(restartMs * 2, RESTART_MS_MAX) : RESTART_MS_MIN
      logger.warn(
        `worker ${place} died (${signal ?? `exit code ${code}`}); another takes its place in ${restartMs / 1000} s`,
      )
      await sleep(restartMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
    }
  }

  #end(): void {
    for (const child of this.#running) child.kill('SIGTERM')
  }

  #ended(code: number): void {
    this.#exitCode = Math.max(this.#exitCode ?? 0, code)
  }

  #runOne(): Promise<{ code: number | null; signal: NodeJS.Signals | null; end: WorkerEnd | undefined }> {
    const { program, argv } = this.#options
    // Their standard error comes through here, so that none of them takes it for a terminal of its own. A group of their
    // own, as Ctrl-C reaches the whole group, and they would take our word for the second signal.
    const child = fork(program, argv, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'], detached: true })
    this.#running.add(child)
    child.stderr?.pipe(process.stderr, { end: false })
    let end: WorkerEnd | undefined
    child.on('message', (message) => {
      end = message as WorkerEnd
    })
    return new Promise((resolve) => {
      child.on('error', () => {})
      child.on('close', (code, signal) => {
        this.#running.delete(child)
        resolve({ code, signal, end })
      })
    })
  }
}
