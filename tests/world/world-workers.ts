/** Worker processes, kept from one world to the next: a killed one is replaced, the others crawl again. */

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { WorldCrawl, WorldNews, WorldOrder } from './world-worker.ts'

const PROGRAM = join(import.meta.dirname, 'world-worker.ts')
/** What one process has compiled the next one reads. */
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/webloom-tests')
/** Of a worker's log. */
const LOG_CHARS_MAX = 200_000

/** How a worker's crawl ended: by its `finish_reason`, by an error, or with its process. */
export type WorkerEnd = { readonly reason: string } | { readonly failed: string } | { readonly killed: true }

/** A stretch of this process's `performance.now()`. */
export interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

export class WorldWorker {
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<void>()
  #ended = Promise.withResolvers<WorkerEnd>()
  #isGone = false
  #log = ''
  #still: Span[] = []

  constructor() {
    this.#child = fork(PROGRAM, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // What is built is run, but for what puts a crawl together: from their sources our packages take twice as long to load.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: COMPILED },
    })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-LOG_CHARS_MAX)
    })
    this.#child.on('message', (news: WorldNews) => this.#hear(news))
    this.#child.on('error', () => {}) // 'exit' follows.
    this.#child.on('exit', () => {
      this.#isGone = true
      this.#ready.resolve()
      this.#ended.resolve({ killed: true })
    })
  }

  /** Resolves when it can be told something. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get isGone(): boolean {
    return this.#isGone
  }

  get log(): string {
    return this.#log
  }

  /** When it could not run although it should have: the machine was busy, or it was stopped. */
  get stoodStill(): readonly Span[] {
    return this.#still
  }

  crawl(crawl: WorldCrawl): Promise<WorkerEnd> {
    this.#log = ''
    this.#still = []
    this.#ended = Promise.withResolvers()
    if (this.#isGone) this.#ended.resolve({ killed: true })
    this.#tell({ do: 'crawl', crawl })
    return this.#ended.promise
  }

  jump(ms: number): void {
    this.#tell({ do: 'jump', ms })
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGUSR2'): void {
    if (!this.#isGone) this.#child.kill(signal)
  }

  #tell(order: WorldOrder): void {
    if (this.#child.connected) this.#child.send(order)
  }

  #hear(news: WorldNews): void {
    if (news.says === 'ready') this.#ready.resolve()
    else if (news.says === 'ended') this.#ended.resolve({ reason: news.reason })
    else if (news.says === 'failed') this.#ended.resolve({ failed: news.why })
    else {
      const { timeOrigin } = performance
      this.#still.push({ fromMs: news.fromMs - timeOrigin, untilMs: news.untilMs - timeOrigin })
    }
  }
}

/** Those that are free. */
export class WorkerPool implements AsyncDisposable {
  readonly #free: WorldWorker[] = []
  readonly #all = new Set<WorldWorker>()

  /** So many, ready to crawl. */
  async take(count: number): Promise<WorldWorker[]> {
    const taken = this.#free.splice(0, count).filter(({ isGone }) => !isGone)
    while (taken.length < count) taken.push(this.#start())
    await Promise.all(taken.map(({ ready }) => ready))
    return taken
  }

  /** For the next world: those that live and were not left in the middle of a crawl. */
  giveBack(workers: readonly WorldWorker[]): void {
    for (const worker of workers) {
      if (!worker.isGone) this.#free.push(worker)
      else this.#all.delete(worker)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#all) worker.signal('SIGKILL')
  }

  #start(): WorldWorker {
    const worker = new WorldWorker()
    this.#all.add(worker)
    return worker
  }
}
