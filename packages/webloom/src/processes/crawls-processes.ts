/**
 * The worker processes of a machine that serves several crawls: each crawl has its share of them (`fairShares`).
 *
 *     a crawl wants workers    its share is started
 *     more crawls want them    some of those that have several leave (SIGTERM), never the last one of a crawl
 *     its worker ended         when the crawl still wants one, another takes its place
 *     its worker died          another takes its place, later each time if it dies again soon
 *     its worker was refused   wrong settings: the other crawls go on, and this one is tried again after a minute, if it still wants a worker
 */

import type { ChildProcess } from 'node:child_process'
import { hostname } from 'node:os'
import type { Logger } from '@webloom/core'
import { EXIT } from '../exit-codes.ts'
import { fairShares } from './fair-shares.ts'
import {
  type ProcessEnd,
  RESTART_MS_MIN,
  restartMsAfter,
  startWorkerProcess,
  type WorkerProcessOptions,
} from './worker-process.ts'

export interface ServedCrawl {
  /** Tells it from all others. */
  readonly key: string
  readonly spider: string
  /** What its worker is started for: when that is another, what was refused is tried at once. */
  readonly asked: string
}

export interface CrawlsProcessesOptions<C extends ServedCrawl> {
  /** How many processes there are, when no more crawls want workers. */
  readonly places: number
  readonly program: string
  /** The arguments of a process for that crawl, and what its environment has more; places are counted from 1. */
  readonly startedWith: (crawl: C, place: number) => Pick<WorkerProcessOptions, 'argv' | 'env'>
  readonly blockedMsMax: number
  /** Called when a worker has refused its crawl, with the reason. */
  readonly onRefused: (crawl: C, why: string) => void
  readonly logger: Logger
}

/** What was wrong with its settings may have been mended by then. */
const REFUSED_MS = 60_000

interface Served {
  readonly running: Set<ChildProcess>
  readonly leaving: Set<ChildProcess>
  restartMs: number
  notBefore: number
  /** Of the latest refusal. */
  refused: string | undefined
  /** When the last death was that made others wait. Processes that were started before it die of the same. */
  diedAt: number
}

export class CrawlsProcesses<C extends ServedCrawl> {
  readonly #options: CrawlsProcessesOptions<C>
  readonly #served = new Map<string, Served>()
  readonly #places = new Set<number>()
  readonly #ended = new Set<Promise<void>>()
  #isStopping = false

  constructor(options: CrawlsProcessesOptions<C>) {
    this.#options = options
  }

  /** Starts and ends processes so that these crawls have their shares. Those of other crawls end by themselves. */
  serve(wanted: readonly C[]): void {
    if (this.#isStopping) return
    const shares = fairShares(
      wanted.map(({ key }) => key),
      this.#options.places,
      hostname(),
    )
    for (const crawl of wanted) this.#adjust(crawl, shares.get(crawl.key)!)
  }

  /** Tells all to leave; a second call makes them end at once. Resolves when they have. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const { running } of this.#served.values()) for (const child of running) child.kill('SIGTERM')
    while (this.#ended.size > 0) await Promise.all(this.#ended)
  }

  #adjust(crawl: C, share: number): void {
    const served = this.#servedOf(crawl)
    const staying = [...served.running].filter((child) => !served.leaving.has(child))
    for (const child of staying.slice(share)) {
      served.leaving.add(child)
      child.kill('SIGTERM')
    }
    if (served.refused !== undefined && served.refused !== crawl.asked) {
      served.refused = undefined
      served.notBefore = 0
    }
    if (performance.now() < served.notBefore) return
    for (let n = staying.length; n < share; n++) this.#start(crawl, served)
  }

  #servedOf({ key }: C): Served {
    const known = this.#served.get(key)
    if (known) return known
    const served = { running: new Set<ChildProcess>(), leaving: new Set<ChildProcess>() }
    const made: Served = { ...served, restartMs: RESTART_MS_MIN, notBefore: 0, refused: undefined, diedAt: 0 }
    this.#served.set(key, made)
    return made
  }

  #start(crawl: C, served: Served): void {
    const { program, startedWith, blockedMsMax, logger } = this.#options
    const place = this.#freePlace()
    const startedAt = performance.now()
    const { child, ended } = startWorkerProcess({
      ...{ program, place, blockedMsMax, logger },
      ...startedWith(crawl, place),
    })
    served.running.add(child)
    const end = ended.then((how) => {
      served.running.delete(child)
      served.leaving.delete(child)
      this.#places.delete(place)
      this.#ended.delete(end)
      this.#after(crawl, served, how, startedAt)
    })
    this.#ended.add(end)
  }

  #after(crawl: C, served: Served, { code, signal, end, refused }: ProcessEnd, startedAt: number): void {
    const { logger, onRefused } = this.#options
    const { spider } = crawl
    if (this.#isStopping || end !== undefined) {
      // The crawl says whether it wants another one.
      served.restartMs = RESTART_MS_MIN
      served.notBefore = performance.now() + RESTART_MS_MIN
    } else if (code === EXIT.usage) {
      logger.error(
        `${spider} cannot be crawled: its worker has said why. It is tried again in ${REFUSED_MS / 1000} s`,
      )
      served.notBefore = performance.now() + REFUSED_MS
      served.refused = crawl.asked
      onRefused(crawl, refused ?? 'its worker has said why in its log')
    } else {
      if (startedAt >= served.diedAt) {
        served.restartMs = restartMsAfter(startedAt, served.restartMs)
        served.diedAt = performance.now()
        served.notBefore = served.diedAt + served.restartMs
      }
      logger.warn(
        `a worker of ${spider} died (${signal ?? `exit code ${code}`}); another takes its place in ${served.restartMs / 1000} s`,
      )
    }
  }

  #freePlace(): number {
    let place = 1
    while (this.#places.has(place)) place++
    this.#places.add(place)
    return place
  }
}
