/** One worker process of several: how it is started, watched, and what it tells the process that has started it. */

import { type ChildProcess, fork } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { ErrorCode, Logger, StatValue } from '@webloom/core'
import type { CrawlSnapshot } from '../assembly/crawl.ts'

/** What a worker process tells before it ends. */
export interface WorkerEnd {
  readonly finishReason: string
  readonly stats: Readonly<Record<string, StatValue>>
}

/** What a worker process tells the process that has started it. */
export type WorkerWord =
  | 'alive'
  | WorkerEnd
  | { readonly snapshot: CrawlSnapshot }
  /** Why it does not crawl. */
  | { readonly refused: string; readonly code?: ErrorCode }

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

/** Says from now on, in a worker process, that it runs. */
export function tellAlive(): void {
  if (!process.send) return
  // Whoever has started it may be gone; it crawls on.
  const tell = () => process.connected && process.send!('alive' satisfies WorkerWord, undefined, {}, () => {})
  tell()
  setInterval(tell, ALIVE_EVERY_MS).unref()
}

/** Says, in a worker process that does not crawl, why. */
export function tellRefused(why: string, code: ErrorCode): void {
  if (process.connected) process.send?.({ refused: why, code } satisfies WorkerWord, undefined, {}, () => {})
}

/**
 * Says how it goes in a worker process, from when it is told that somebody watches. Ends with the process.
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

export interface WorkerProcessOptions {
  readonly program: string
  readonly argv: readonly string[]
  /** What its environment has besides ours. */
  readonly env?: Readonly<Record<string, string>>
  /** Its number among those of this machine. */
  readonly place: number
  /** WORKER_BLOCKED_MAX in milliseconds; 0: it is not killed for it. */
  readonly blockedMsMax: number
  readonly logger: Logger
  /** Absent: what it writes comes out as it is. */
  readonly view?: WorkersView
}

/** How a process has ended; without `end`: it died. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly end: WorkerEnd | undefined
  /** Why it has not crawled. */
  readonly refused: string | undefined
}

export function startWorkerProcess(options: WorkerProcessOptions): {
  readonly child: ChildProcess
  readonly ended: Promise<ProcessEnd>
} {
  const { program, argv, env, place, view } = options
  // Their standard error comes through here, so that none of them takes it for a terminal of its own. A group of their
  // own, as Ctrl-C reaches the whole group, and they would take our word for the second signal.
  const child = fork(program, argv, {
    stdio: ['ignore', view?.takesOutput ? 'pipe' : 'inherit', 'pipe', 'ipc'],
    detached: true,
    env: { ...LEAN_MALLOC, ...process.env, ...env },
  })
  if (view) {
    view.started(place, child)
    child.send(WATCHED, () => {})
  } else child.stderr?.pipe(process.stderr, { end: false })
  const watch = watchBlocked(child, options)
  let end: WorkerEnd | undefined
  let refused: string | undefined
  child.on('message', (word: WorkerWord) => {
    if (word === 'alive') return
    if ('refused' in word) refused = word.refused
    else if ('snapshot' in word) view?.snapshot(place, word.snapshot)
    else end = word
  })
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.on('error', () => {})
    child.on('close', (code, signal) => {
      clearInterval(watch)
      view?.ended(place, end?.stats)
      resolve({ code, signal, end, refused })
    })
  })
  return { child, ended }
}

/** Kills it when it hangs. What is silent is counted in our own rounds: none passes while we are stopped ourselves. */
function watchBlocked(
  child: ChildProcess,
  { blockedMsMax, logger }: Pick<WorkerProcessOptions, 'blockedMsMax' | 'logger'>,
): NodeJS.Timeout {
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

/** Returns how long a worker that died, began at `startedAt` and waited `lastMs` before that, waits until another takes its place. */
export function restartMsAfter(startedAt: number, lastMs: number): number {
  return performance.now() - startedAt < SOON_MS ? Math.min(lastMs * 2, RESTART_MS_MAX) : RESTART_MS_MIN
}

// A process that dies within this time died of its surroundings: trying again at once would only burn the machine.
const SOON_MS = 10_000
export const RESTART_MS_MIN = 500
const RESTART_MS_MAX = 30_000
