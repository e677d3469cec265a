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

import { type ChildProcess, fork } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, StatValue } from '@webloom/core'
import type { CrawlSnapshot } from '../assembly/crawl.ts'
import { EXIT } from '../exit-codes.ts'

/** What a worker process tells before it ends. */
export interface WorkerEnd {
  readonly finishReason: string
  readonly stats: Readonly<Record<string, StatValue>>
}

/** What a worker process tells the process that has started it. */
export type WorkerWord = 'alive' | WorkerEnd | { readonly snapshot: CrawlSnapshot }

/** What is said to a worker process: somebody watches, and wants to know how it goes. */
const WATCHED = 'watched'
// As often as a person sees that something moves.
const SNAPSHOT_EVERY_MS = 500

const ALIVE_EVERY_MS = 2000
/** A lock that was renewed last at WORKER_BLOCKED_MAX is good for six seconds more. */
const LOCK_MS = 6000

/**
 * How glibc hands memory back: large bodies by the page, and two pools for all threads. Without it a process keeps what large
 * pages took once. The Dockerfile sets the same; a process cannot set it for itself.
 */
export const LEAN_MALLOC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** In a worker process: says from now on that it runs. */
export function tellAlive(): void {
  if (!process.send) return
  // Whoever has started it may be gone; it crawls on.
  const tell = () => process.connected && process.send!('alive' satisfies WorkerWord, undefined, {}, () => {})
  tell()
  setInterval(tell, ALIVE_EVERY_MS).unref()
}

/**
 * In a worker process: says how it goes, from when it is told that somebody watches. Ends with the process.
 */
export function tellProgress(snapshot: () => Promise<CrawlSnapshot>): void {
  if (!process.send) return
  const tell = async () => {
    const seen = await snapshot().catch(() => undefined)
    if (seen && process.connected)
      process.send!({ snapshot: seen } satisfies WorkerWord, undefined, {}, () => {})
  }
  let isTelling = false
  process.on('message', (word) => {
    if (word !== WATCHED) return
    setInterval(() => {
      // A queue that is slow to count is asked again only when it has answered.
      if (isTelling) return
      isTelling = true
      void tell().finally(() => {
        isTelling = false
      })
    }, SNAPSHOT_EVERY_MS).unref()
  })
}

/** A worker that leaves for this reason has left work to others. */
const LEFT = 'memusage_exceeded'

// A process that dies within this time died of its surroundings: trying again at once would only burn the machine.
const SOON_MS = 10_000
const RESTART_MS_MIN = 500
const RESTART_MS_MAX = 30_000

/** For a person at a terminal: what the processes write and tell comes here, and goes on from here. */
export interface WorkersView {
  /** Whether it takes standard output, too; else that is the processes' own. */
  readonly takesOutput: boolean
  /** One that was started. */
  started(place: number, output: { readonly stdout: Readable | null; readonly stderr: Readable | null }): void
  snapshot(place: number, snapshot: CrawlSnapshot): void
  /** Without stats: it died. */
  ended(place: number, stats?: WorkerEnd['stats']): void
}

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

  /** What failed tells more than what monitors found. */
  #ended(code: number): void {
    const weight = (one: number) => (one === EXIT.alerts ? 0.5 : one)
    if (weight(code) >= weight(this.#exitCode ?? EXIT.finished)) this.#exitCode = code
  }

  #runOne(
    place: number,
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null; end: WorkerEnd | undefined }> {
    const { program, argvOf, view } = this.#options
    // Their standard error comes through here, so that none of them takes it for a terminal of its own. A group of their
    // own, as Ctrl-C reaches the whole group, and they would take our word for the second signal.
    const child = fork(program, argvOf(place), {
      stdio: ['ignore', view?.takesOutput ? 'pipe' : 'inherit', 'pipe', 'ipc'],
      detached: true,
      env: { ...LEAN_MALLOC, ...process.env },
    })
    this.#running.add(child)
    if (view) {
      view.started(place, child)
      child.send(WATCHED, () => {})
    } else child.stderr?.pipe(process.stderr, { end: false })
    const watch = this.#watch(child)
    let end: WorkerEnd | undefined
    child.on('message', (word: WorkerWord) => {
      if (word === 'alive') return
      if ('snapshot' in word) view?.snapshot(place, word.snapshot)
      else end = word
    })
    return new Promise((resolve) => {
      child.on('error', () => {})
      child.on('close', (code, signal) => {
        clearInterval(watch)
        this.#running.delete(child)
        view?.ended(place, end?.stats)
        resolve({ code, signal, end })
      })
    })
  }

  /** Kills it when it hangs. What is silent is counted in our own rounds: none passes while we are stopped ourselves. */
  #watch(child: ChildProcess): NodeJS.Timeout {
    const { blockedMsMax, logger } = this.#options
    // It may take its time to start.
    let silentMs = Number.NEGATIVE_INFINITY
    child.on('message', () => {
      silentMs = 0
    })
    return setInterval(() => {
      silentMs += ALIVE_EVERY_MS
      if (blockedMsMax === 0 || silentMs <= blockedMsMax + LOCK_MS) return
      logger.warn(`process ${child.pid} is blocked for longer than WORKER_BLOCKED_MAX; it is killed`)
      child.kill('SIGKILL')
    }, ALIVE_EVERY_MS)
  }
}
