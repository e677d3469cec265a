/**
 * `webloom worker --processes N`: N processes of the same command, and another in the place of each that dies.
 *
 *     finished       the crawl is over, for all of them: none is started again
 *     left           it was over MEMUSAGE_LIMIT_MB: another takes its place at once
 *     refused        wrong settings, no Redis: the others would end the same way, so all end, with its exit code
 *     died           a signal, a crash: another takes its place, later each time if it dies again soon
 *     hangs          its event loop is blocked for longer than WORKER_BLOCKED_MAX, and others have its requests by now:
 *                    it is killed
 */

import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@webloom/core'
import { EXIT } from '../exit-codes.ts'
import {
  type ProcessEnd,
  RESTART_MS_MIN,
  restartMsAfter,
  startWorkerProcess,
  type WorkersView,
} from './worker-process.ts'

/** A worker that leaves for this reason has left work to others. */
const LEFT = 'memusage_exceeded'

export interface WorkerProcessesOptions {
  readonly count: number
  readonly program: string
  /** The arguments of the process in that place, counted from 1. */
  readonly argvOf: (place: number) => readonly string[]
  /** WORKER_BLOCKED_MAX in milliseconds; 0: none is killed for it. */
  readonly blockedMsMax: number
  readonly logger: Logger
  /** Absent: what they write comes out as it is. */
  readonly view?: WorkersView
}

/** Runs them until the crawl is over or a signal comes; returns the exit code. */
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
      const { code, signal, end } = await this.#runOne(place)
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
      restartMs = restartMsAfter(startedAt, restartMs)
      logger.warn(
        `worker ${place} died (${signal ?? `exit code ${code}`}); another takes its place in ${restartMs / 1000} s`,
      )
      await sleep(restartMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
    }
  }

  #end(): void {
    for (const child of this.#running) child.kill('SIGTERM')
  }

  /** What failed tells more than what monitors found. */
  #ended(code: number): void {
    const weight = (one: number) => (one === EXIT.alerts ? 0.5 : one)
    if (weight(code) >= weight(this.#exitCode ?? EXIT.finished)) this.#exitCode = code
  }

  async #runOne(place: number): Promise<ProcessEnd> {
    const { program, argvOf, blockedMsMax, logger, view } = this.#options
    const argv = argvOf(place)
    const { child, ended } = startWorkerProcess({
      ...{ program, argv, place, blockedMsMax, logger },
      ...(view && { view }),
    })
    this.#running.add(child)
    const end = await ended
    this.#running.delete(child)
    return end
  }
}
