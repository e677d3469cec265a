/**
 * Reads start() ahead while its earlier elements are being queued, so that elements travel together: as many as have come
 * meanwhile, without a wait for more. The elements of a slow start() go on one at a time; a quick start() is at most a
 * batch, or a megabyte of bodies, ahead.
 */

import { Request, thrownBy } from '@webloom/core'
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
   * @param parts `cursor`: how many elements are skipped; `batchMax`: how many may be read ahead; `stopping` ends the
   *   reading and resolves every wait for it
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
   * Resolves to all elements that have come; to none when there are no more, or when the reading is to stop. Rejects with
   * the error of start() when all earlier elements were taken.
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

  /** Stops the reading; the generator is ended at its next yield. */
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
        // With everything in memory the crawl never leaves the microtasks, so timers and signals are let in now and then.
        if (ordinal % MAX_ELEMENTS_PER_TICK === 0) await eventLoopTurn()
        if (ordinal++ >= cursor) await this.#keep(element)
      }
      this.#end = {}
    } catch (error) {
      this.#end = { error: thrownBy(error, 'start()') }
    }
    this.#onNews()
  }

  /** Keeps the element and resolves when there is room for another. */
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
