import { type ItemFeed, type Response, type StatsCollector, withDeadline } from '@webloom/core'
import type { ItemFormat } from './formats/item-format.ts'
import type { LostItems } from './lost-items.ts'
import type { FeedOutput } from './storages/feed-output.ts'
import { madeTooLate, openedTooLate } from './storages/output-errors.ts'
import type { OutputLock } from './storages/output-lock.ts'

export interface FeedOptions {
  readonly uri: string
  readonly format: ItemFormat
  /** The items that the format could not write. */
  readonly losses: LostItems
  readonly output: FeedOutput
  /** Returns whether an item goes to this feed. Absent: all do. */
  readonly accepts?: ((item: unknown) => boolean) | undefined
  /** Held for an output that only one process may write. */
  readonly lock?: OutputLock | undefined
  /** FEED_STORE_EMPTY: true when a crawl without items leaves an output. */
  readonly storeEmpty: boolean
  /** True when the crawl can be resumed unless it has finished. */
  readonly resumable?: boolean
  /** COMPONENT_TIMEOUT in milliseconds: the longest that opening and closing may take. */
  readonly timeoutMs: number
  readonly stats?: StatsCollector | undefined
}

// The engine's reason for a crawl that did not start.
const NOT_OPENED = 'not_opened'

// The only reason after which a crawl is not resumed.
const FINISHED = 'finished'

/** Writes items: a format makes text of them, and an output takes the text. */
export class Feed implements ItemFeed {
  readonly uri: string
  readonly #options: FeedOptions
  #isOpen = false
  #isEmpty = true
  #hasFailed = false

  constructor(options: FeedOptions) {
    this.uri = options.uri
    this.#options = options
  }

  async open(): Promise<void> {
    const { uri, format, output, lock, timeoutMs } = this.#options
    await lock?.take()
    try {
      const opening = output.open((file, size) => format.resume(file, size))
      await withDeadline(timeoutMs, opening, () => openedTooLate(uri, timeoutMs))
    } catch (error) {
      await lock?.release()
      throw error
    }
    this.#isOpen = true
  }

  async write(items: readonly unknown[], response: Response | null = null): Promise<void> {
    // Nothing is awaited before the output has the text, so the order of the calls is the order in the file.
    const { accepts, format, losses, output, stats } = this.#options
    const accepted = accepts ? items.filter(accepts) : items
    let text = ''
    const lost = losses.while(response, () => {
      text = format.text(accepted)
    })
    if (text === '') return
    this.#isEmpty = false
    await this.#noted(() => output.write(text))
    stats?.inc('feedexport/written_count', accepted.length - lost)
  }

  /** @param reason the crawl's finish_reason; a crawl that did not start neither creates nor empties a file */
  async close(reason?: string): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    const { output, lock, resumable, stats } = this.#options
    try {
      if (reason === NOT_OPENED)
        return await this.#inTime((signal) => output.close(false, resumable === true, signal))
      const goesOn = resumable === true && reason !== FINISHED
      await this.#noted(() => this.#inTime((signal) => this.#complete(goesOn, signal)))
    } finally {
      const outcome = this.#hasFailed ? 'failed_count' : 'success_count'
      if (reason !== NOT_OPENED) stats?.inc(`feedexport/${outcome}/${output.storage}`)
      await lock?.release()
    }
  }

  /** An output that is not made in time is given up, even if its storage would still make it: the process ends. */
  async #inTime(close: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { uri, output, resumable, timeoutMs } = this.#options
    const giveUp = new AbortController()
    const late = () => {
      const error = madeTooLate(uri, timeoutMs, { spoolPath: output.spoolPath, resumable })
      giveUp.abort(error)
      return error
    }
    await withDeadline(timeoutMs, close(giveUp.signal), late)
  }

  async #complete(goesOn: boolean, signal: AbortSignal): Promise<void> {
    const { format, output, storeEmpty } = this.#options
    const isWanted = storeEmpty || !this.#isEmpty
    const end = format.end()
    // write() has thrown the error. An output with a gap gets no end, as that would make it look complete.
    if (this.#hasFailed) return output.close(false)
    try {
      if (isWanted && end !== '') await output.write(end)
    } finally {
      await output.close(isWanted, goesOn, signal)
    }
  }

  async #noted(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }
}
