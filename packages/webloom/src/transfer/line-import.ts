/**
 * Queues the lines of `webloom export`: a request a line, in its JSON form.
 *
 * They are queued in parts of some hundred lines. A part is known by all that stands in the file up to its end, so that the
 * same file given again after a crash goes on where it was.
 */

import { hash } from 'node:crypto'
import {
  checkedRequestJson,
  type QueuedRequest,
  type Request,
  requestFromJson,
  WebloomError,
} from '@webloom/core'
import { IMPORT_ASKER } from '@webloom/queue'
import type { SeedInput } from '../seeds/seed-input.ts'
import type { SeedLine } from '../seeds/seed-lines.ts'
import type { CallbackNames } from './callback-names.ts'
import type { CrawlTarget } from './crawl-target.ts'
import { PROBLEMS_TOLD_MAX } from './scrapy-import.ts'

const MAX_LINES_PER_PART = 500

export interface LineImportOptions {
  readonly input: SeedInput
  readonly target: CrawlTarget
  readonly names: CallbackNames
  readonly onProgress: (done: number, bad: number) => void
}

export class LineImport {
  readonly problems: { place: string; reason: string }[] = []
  bad = 0
  readable = 0
  moved = 0
  /** Queued by an earlier import of the same file. */
  before = 0
  readonly #options: LineImportOptions
  #lines: { text: string; request: Request }[] = []
  #chain = ''

  constructor(options: LineImportOptions) {
    this.#options = options
  }

  /** @param how `begin`: called before the first request is queued */
  async run({ isDry, begin }: { isDry: boolean; begin: () => Promise<void> }): Promise<void> {
    const { input, onProgress } = this.#options
    let hasBegun = isDry
    const part = async () => {
      if (!hasBegun) await begin()
      hasBegun = true
      await this.#push(isDry)
    }
    for await (const lines of input.lines) {
      for (const line of lines) {
        this.#take(line)
        if (this.#lines.length >= MAX_LINES_PER_PART) await part()
      }
      onProgress(this.moved, this.bad)
    }
    if (this.#lines.length > 0) await part()
  }

  #take({ number, text, problem }: SeedLine): void {
    const { input, names } = this.#options
    try {
      if (problem !== undefined) throw new WebloomError('WL_IMPORT_REFUSED', problem)
      const request = names.renamed(requestFromLine(text))
      const [missing] = names.missingIn(request)
      if (missing !== undefined) throw names.refusal(new Map([[missing, 1]]))
      this.#lines.push({ text, request })
      this.readable++
    } catch (error) {
      if (!(error instanceof WebloomError)) throw error
      this.bad++
      if (this.problems.length < PROBLEMS_TOLD_MAX)
        this.problems.push({ place: input.placeOf(number), reason: error.message })
    }
  }

  async #push(isDry: boolean): Promise<void> {
    const lines = this.#lines
    this.#lines = []
    this.#chain = hash('sha1', [this.#chain, ...lines.map(({ text }) => text)].join('\n'))
    if (isDry) return
    const { target } = this.#options
    const asker = `${IMPORT_ASKER}${this.#chain}`
    if (!(await target.isDone(asker))) {
      await target.push(
        lines.map(({ request }, n) => this.#queued(request, `${asker}#${n}`)),
        asker,
      )
      await target.settled(asker)
      this.moved += lines.length
    } else this.before += lines.length
  }

  #queued(request: Request, place: string): QueuedRequest {
    const { fingerprinter } = this.#options.target
    return { id: request.dontFilter ? hash('sha1', place) : fingerprinter.fingerprint(request), request }
  }
}

function requestFromLine(text: string): Request {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new WebloomError('WL_IMPORT_REFUSED', `it is not JSON: ${(error as Error).message}`)
  }
  return requestFromJson(checkedRequestJson(json))
}
