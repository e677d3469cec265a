/**
 * Renews a worker's locks in Redis while a callback blocks its event loop: a parse that takes twelve seconds, a loop that never
 * awaits. A lock lasts six seconds, and while the loop is blocked not even a timer of the main thread runs.
 *
 *     main thread  renews its locks itself, every two seconds       ── and tells, twice a second ──►  thread
 *                  blocked: tells nothing                                                             renews them
 *                  goes on: renews, and is told by Redis what it has lost                             rests
 *
 * So main thread and keeper thread both can renew, with the same scripts and arguments, and never do at the same time. A keeper
 * thread alone would be one path less. But then a crawl that is never blocked would depend on a second thread, a second
 * connection, and answers that come back from there. Here no answer comes back. If the thread cannot start, a blocked worker
 * loses its locks, as it would without the thread, and nothing else is lost. At rest the thread has no connection, and has not
 * even loaded ioredis: it costs the process 13 MB instead of 25.
 *
 * The main thread tells of a lock when it is taken, before any callback can see its request, and of a lock that has ended with
 * the next message. The scripts renew only locks that are still this worker's, so a thread that knows of too many, or wakes too
 * late, does no harm.
 *
 * After WORKER_BLOCKED_MAX the thread stops, and the worker counts as lost: a callback whose loop never ends must not keep its
 * hosts for ever. In a process that is stopped (SIGSTOP) no thread runs, and other workers take its requests over.
 *
 * Not chosen: asking the operating system for a child process, which weighs four times as much; longer locks, with which a
 * killed worker would be missed later.
 */

import { Worker } from 'node:worker_threads'
import {
  type Crawler,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type RedisOptions,
  silentLogger,
} from '@webloom/core'

/** How locks are renewed: by one script, whose own arguments stand before those of all its locks. */
export interface Renewal {
  readonly lua: string
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
}

/** The locks that one script renews. */
export interface KeptLocks {
  /** @param args what the script must know of this lock */
  keep(id: string, args: readonly (string | number)[]): void
  drop(id: string): void
}

/** For a queue without a keeper. */
export const KEPT_BY_NOBODY: KeptLocks = { keep() {}, drop() {} }

/** A lock: its renewal (by number), its id, and its arguments; null when it has ended. */
export type LockChange = readonly [number, string, readonly (string | number)[] | null]

/** What the main thread tells the keeper thread. An empty message says that the main thread runs. */
export interface LockNews {
  readonly renewals: readonly Renewal[]
  readonly changes: readonly LockChange[]
}

export interface LockThreadOptions {
  readonly redis: RedisOptions
  readonly blockedMsMax: number
  readonly times: ProtocolTimes['keeper']
}

export interface LockKeeperOptions {
  /** How the queue's Redis is reached. */
  readonly redis: RedisOptions
  /** WORKER_BLOCKED_MAX in milliseconds; 0: nothing is kept. */
  readonly blockedMsMax: number
  readonly logger?: Logger
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

export class LockKeeper {
  readonly #options: LockKeeperOptions
  readonly #logger: Logger
  readonly #times: ProtocolTimes['keeper']
  #renewalCount = 0
  #renewals: Renewal[] = []
  #changes: LockChange[] = []
  #isTelling = false
  #thread: Worker | undefined
  #telling: NodeJS.Timeout | undefined
  #toldAtMs = 0
  #isClosed = false

  constructor(options: LockKeeperOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.#times = (options.times ?? PROTOCOL_TIMES).keeper
  }

  static fromCrawler({ settings, logger, times }: Crawler, redis: RedisOptions): LockKeeper {
    const blockedMsMax = settings.getMs('WORKER_BLOCKED_MAX')
    return new this({ redis, blockedMsMax, logger, ...(times && { times }) })
  }

  /** The thread starts when the first lock is kept. */
  locks(renewal: Renewal): KeptLocks {
    if (this.#options.blockedMsMax === 0) return KEPT_BY_NOBODY
    const number = this.#renewalCount++
    this.#renewals.push(renewal)
    return {
      keep: (id, args) => {
        this.#change([number, id, args])
        this.#tellSoon()
      },
      // The next message is early enough.
      drop: (id) => this.#change([number, id, null]),
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#telling)
    await this.#thread?.terminate()
  }

  #change(change: LockChange): void {
    if (!this.#isClosed) this.#changes.push(change)
  }

  /** Tells in a microtask: of all locks that begin together at once, and before any promise that waits for them goes on. */
  #tellSoon(): void {
    if (this.#isClosed || this.#isTelling) return
    this.#thread ??= this.#start()
    this.#isTelling = true
    queueMicrotask(() => this.#tell())
  }

  #tell(): void {
    this.#isTelling = false
    this.#thread!.postMessage({ renewals: this.#renewals, changes: this.#changes } satisfies LockNews)
    this.#renewals = []
    this.#changes = []
  }

  #start(): Worker {
    const { redis, blockedMsMax } = this.#options
    const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const thread = new Worker(new URL(`./lock-keeper-thread.${suffix}`, import.meta.url), {
      name: 'webloom-locks',
      workerData: { redis, blockedMsMax, times: this.#times } satisfies LockThreadOptions,
      // The thread needs none of the loaders and inspectors with which the process was started.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64 },
    })
    thread.on('message', (reason: string) => this.#onFailure(reason))
    thread.on('error', (error) => this.#onFailure(error.message))
    // Last, as listeners hold a reference. The process may end while the thread runs.
    thread.unref()
    this.#toldAtMs = performance.now()
    this.#telling = setInterval(() => this.#pulse(), this.#times.tellEveryMs).unref()
    return thread
  }

  #pulse(): void {
    const nowMs = performance.now()
    const blockedMs = nowMs - this.#toldAtMs - this.#times.tellEveryMs
    this.#toldAtMs = nowMs
    if (blockedMs > this.#times.blockedToldMs) this.#onBlocked(blockedMs)
    this.#tell()
  }

  #onBlocked(blockedMs: number): void {
    const mostS = this.#options.blockedMsMax / 1000
    this.#logger.warn(
      `nothing else of this worker ran for ${(blockedMs / 1000).toFixed(1)} s: a callback has blocked the event loop (or the process was stopped). ` +
        `Its requests are kept for WORKER_BLOCKED_MAX (${mostS} s) at most. Move long work into a worker thread, or await something between its parts`,
    )
  }

  #onFailure(reason: string): void {
    if (this.#isClosed) return
    this.#logger.warn(
      { reason },
      'locks could not be kept while the event loop was blocked; other workers may have taken requests over',
    )
  }
}
