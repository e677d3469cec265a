/**
 * Takes requests over that a scrapy-redis crawl has left in its queue.
 *
 *     look     all entries are read once: what cannot be taken over is told, and methods that the spider lacks end it here
 *     adopt    the crawl's record says that the next worker goes on with what it is given
 *     move     in steps of some hundred: queued here, then taken out there, then settled
 *
 * A step's requests are pushed under an asker that has the number of the step, which moves on in the script that takes its
 * entries out. So a kill anywhere in between, and another call, neither lose nor double a request.
 */

import { createHash, hash } from 'node:crypto'
import { decodeScrapyRequest, type QueuedRequest, type Request, WebloomError } from '@webloom/core'
import {
  ENTRY_BYTES_MAX,
  IMPORT_ASKER,
  type ScrapyEntry,
  type ScrapyQueueType,
  type ScrapyRedisQueue,
} from '@webloom/queue'
import type { CallbackNames } from './callback-names.ts'
import type { CrawlTarget } from './crawl-target.ts'

const MAX_ENTRIES_PER_STEP = 500
/** Problems that are told one by one; the others are counted. */
export const PROBLEMS_TOLD_MAX = 20

/** An entry that stays where it is. */
export interface ImportProblem {
  /** From 1, in the order in which they are read. */
  readonly entry: number
  readonly reason: string
}

export interface ScrapyImportOptions {
  readonly queue: ScrapyRedisQueue
  readonly type: ScrapyQueueType
  readonly target: CrawlTarget
  readonly names: CallbackNames
  /** Default: some hundred. */
  readonly entriesPerStep?: number
  readonly onProgress: (progress: { done: number; bad: number; part: number }) => void
}

export class ScrapyImport {
  readonly problems: ImportProblem[] = []
  /** Entries that stay. */
  bad = 0
  /** Entries that can be taken over, as they were looked at. */
  readable = 0
  /** Queued here and gone there. */
  moved = 0
  /** Queued here, and gone from there before they could be taken out: somebody else took them. */
  raced = 0
  readonly #options: ScrapyImportOptions
  readonly #step: number

  constructor(options: ScrapyImportOptions) {
    this.#options = options
    this.#step = options.entriesPerStep ?? MAX_ENTRIES_PER_STEP
  }

  /** Reads all and moves nothing. Throws WL_USAGE for methods that the spider does not have. */
  async look(): Promise<void> {
    const { queue, type, names } = this.#options
    const missing = new Map<string, number>()
    const total = await queue.size()
    for (let from = 0; ; ) {
      const entries = await queue.read(type, { from, count: this.#step })
      if (entries.length === 0) break
      entries.forEach((entry, n) => {
        const request = this.#decoded(entry, from + n + 1)
        if (!request) return
        this.readable++
        for (const name of names.missingIn(request)) missing.set(name, (missing.get(name) ?? 0) + 1)
      })
      from += entries.length
      this.#options.onProgress({ done: 0, bad: this.bad, part: total > 0 ? from / total / 2 : 0 })
    }
    if (missing.size > 0) throw names.refusal(missing)
  }

  async move(): Promise<void> {
    const { queue, type } = this.#options
    const { importId, step: first, stay: stayed } = await queue.beginImport()
    const total = await queue.size()
    let stay = stayed
    for (let step = first; ; ) {
      const entries = await queue.read(type, { from: stay, count: this.#step })
      if (entries.length === 0) break
      const taken = entries.flatMap(({ data }) => {
        const request = data && this.#readable(data)
        return request ? [{ data, request }] : []
      })
      stay += entries.length - taken.length
      if (taken.length > 0)
        await this.#moveStep(taken, `${IMPORT_ASKER}${importId}/${step}`, { step: step++, stay })
      this.#options.onProgress({
        done: this.moved,
        bad: this.bad,
        part: 0.5 + (this.moved + stay) / Math.max(1, total) / 2,
      })
    }
    await queue.endImport()
  }

  async #moveStep(
    taken: readonly { data: Buffer; request: Request }[],
    asker: string,
    progress: { step: number; stay: number },
  ): Promise<void> {
    const { queue, type, target } = this.#options
    if (!(await target.isDone(asker))) await target.push(this.#queued(taken, asker), asker)
    const entries = taken.map(({ data }) => data)
    const removed = await queue.remove(type, entries, progress)
    await target.settled(asker)
    this.moved += taken.length
    this.raced += taken.length - removed
  }

  /** Ids that are the same again when the step is done again. */
  #queued(taken: readonly { data: Buffer; request: Request }[], asker: string): QueuedRequest[] {
    const { fingerprinter } = this.#options.target
    const times = new Map<string, number>()
    return taken.map(({ data, request }) => {
      if (!request.dontFilter) return { id: fingerprinter.fingerprint(request), request }
      const entry = createHash('sha1').update(data).digest('hex')
      const ordinal = times.get(entry) ?? 0
      times.set(entry, ordinal + 1)
      return { id: hash('sha1', `${asker}#${entry}#${ordinal}`), request }
    })
  }

  #readable(data: Buffer): Request | undefined {
    try {
      return this.#options.names.renamed(decodeScrapyRequest(data))
    } catch (error) {
      if (isRefusal(error)) return undefined
      throw error
    }
  }

  /** Undefined for what cannot be taken over, which is noted. */
  #decoded({ data, bytes }: ScrapyEntry, entry: number): Request | undefined {
    try {
      if (data) return decodeScrapyRequest(data)
      this.#note({ entry, reason: `it has ${bytes} bytes; ${ENTRY_BYTES_MAX} are the most` })
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#note({ entry, reason: error.message })
    }
    return undefined
  }

  #note(problem: ImportProblem): void {
    this.bad++
    if (this.problems.length < PROBLEMS_TOLD_MAX) this.problems.push(problem)
  }
}

function isRefusal(error: unknown): error is WebloomError {
  return error instanceof WebloomError && error.code === 'WL_IMPORT_REFUSED'
}
