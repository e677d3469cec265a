/**
 * Reads start() ahead while what it yielded before is being queued, so that its elements travel together: as many as have
 * come meanwhile, and never a wait for more. A start() that is slow hands each one over at once; one that is quick is a batch,
 * or a megabyte of bodies, ahead at the most.
 */

import { Request } from '@webloom/core'
import type { StartElement } from '../scraping/scraper.ts'
import { eventLoopTurn } from './event-loop-turn.ts'

const BODY_BYTES_MAX = 1024 * 1024
const MAX_ELEMENTS_PER_TICK = 64

export class StartReader {
  readonly #elements: AsyncIterable<StartElement>
  readonly #stopping: AbortSignal
  readonly #batchMax: number
  #ahead: StartElement[] = []
  #bodyBytes = 0
  #end: { readonly error?: unknown } | undefined
  #isClosed = false
  #onNews = () => {}
  #onRoom = () => {}

  /**
   * @param parts `cursor`: how many elements are passed over; `batchMax`: how many may be ahead; `stopping` ends the reading,
   *   and lets go whoever waits for it
   */
  constructor(
    elements: AsyncIterable<StartElement>,
    { cursor, batchMax, stopping }: { cursor: number; batchMax: number; stopping: AbortSignal },
  ) {
    this.#elements = elements
    this.#stopping = stopping
    this.#batchMax = batchMax
    stopping.addEventListener('abort', this.#stop)
    void this.#read(cursor)
  }

  /**
   * The next elements, all that are there; none when there are no more, or the reading is to stop. Throws what start() threw,
   * when all that came before has been taken.
   */
  async take(): Promise<readonly StartElement[]> {
    while (this.#ahead.length === 0 && !this.#end && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#onNews = resolve
      })
    }
    if (this.#isOver) return []
    const taken = this.#ahead.splice(0)
    if (taken.length === 0 && this.#end && 'error' in this.#end) throw this.#end.error
    this.#bodyBytes = 0
    this.#onRoom()
    return taken
  }

  /** Nothing more is read; the generator is told when it yields next. */
  close(): void {
    this.#isClosed = true
    this.#stopping.removeEventListener('abort', this.#stop)
    this.#stop()
  }

  readonly #stop = (): void => {
    this.#onNews()
    this.#onRoom()
  }

  get #isOver(): boolean {
    return this.#isClosed || this.#stopping.aborted
  }

  async #read(cursor: number): Promise<void> {
    let ordinal = 0
    try {
      for await (const element of this.#elements) {
        if (this.#isOver) return
        // With everything in memory no step of the crawl leaves the microtasks: timers and signals must have their turn.
        if (ordinal % MAX_ELEMENTS_PER_TICK === 0) await eventLoopTurn()
        if (ordinal++ >= cursor) await this.#keep(element)
      }
      this.#end = {}
    } catch (error) {
      this.#end = { error }
    }
    this.#onNews()
  }

  /** Resolves when there is room for another. */
  async #keep(element: StartElement): Promise<void> {
    this.#ahead.push(element)
    this.#bodyBytes += bodyBytes(element)
    this.#onNews()
    while (!this.#isOver && (this.#ahead.length >= this.#batchMax || this.#bodyBytes >= BODY_BYTES_MAX)) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve
      })
    }
  }
}

function bodyBytes(element: StartElement): number {
  return element instanceof Request ? (element.body?.length ?? 0) : 0
}
