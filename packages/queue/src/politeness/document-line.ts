/**
 * The documents that pages in browsers open wait here for their hosts' delays, one line for each slot.
 *
 *     a page asks ─► last in its slot's line ─► the slot may be asked ─► the document may leave ─► it is seen to leave, or answered
 *                    └──────────────────── the queue hands nothing out meanwhile ────────────────────────────────────────────────┘
 *
 * A request that is handed out leaves at a moment of its own, so a document waits until it has. But a request may itself wait for a
 * browser that the document's page has: such a one stands by, and asks here before it leaves.
 *
 * The clock belongs to the queue, so what leaves here and what the queue hands out keep the same delay.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DocumentClock,
  type DocumentPace,
  type LeavingDocument,
  PassingMap,
  Request,
} from '@webloom/core'
import type { HostSlots } from './host-slots.ts'

/** A lease, as far as its documents need it. */
export interface DocumentLease {
  readonly slot: string
  readonly request: Request
  readonly hasStarted: boolean
  isStandingBy: boolean
}

export interface DocumentLineOptions {
  readonly clock: DocumentClock
  readonly slots: HostSlots
  /** Called when requests of a slot may be handed out that could not before, or no longer. */
  readonly onChange: (slot: string) => void
  /** Returns where the documents of a slot wait. Default: here. */
  readonly lineOf?: (slot: string) => DocumentLine
}

// A request that is handed out leaves within some milliseconds. The slot's pace may change while it is waited for, too.
const LOOK_AGAIN_MS = 20

const AT_ONCE: LeavingDocument = { left() {}, over() {} }

export class DocumentLine {
  readonly #options: DocumentLineOptions
  /** By slot, when the last of its line is seen to have left. */
  readonly #last = new PassingMap<string, Promise<void>>()

  constructor(options: DocumentLineOptions) {
    this.#options = options
  }

  /** The pace of a page's documents. */
  of(lease: DocumentLease): DocumentPace {
    if (!lease.hasStarted && !lease.isStandingBy) {
      lease.isStandingBy = true
      this.#options.clock.standsBy(lease.slot, true)
    }
    const lineOf = this.#options.lineOf ?? (() => this)
    return {
      mayLeave: async (url, signal) => {
        const slot = await this.#slotOf(lease, url)
        return lineOf(slot).#mayLeave(slot, signal)
      },
    }
  }

  /** Must be called before the clock hears that the lease has started or ended. */
  leaves(lease: DocumentLease): void {
    if (!lease.isStandingBy) return
    lease.isStandingBy = false
    this.#options.clock.standsBy(lease.slot, false)
  }

  async #mayLeave(slot: string, signal: AbortSignal): Promise<LeavingDocument> {
    const { clock } = this.#options
    signal.throwIfAborted()
    if (!clock.isPaced(slot)) return AT_ONCE
    const before = this.#last.get(slot)
    const over = this.#standsInLine(slot)
    try {
      await before
      await this.#turn(slot, signal)
    } catch (error) {
      over()
      throw error
    }
    clock.documentLeft(slot, performance.now())
    signal.addEventListener('abort', over, { once: true })
    return {
      left() {
        clock.documentLeft(slot, performance.now())
        over()
      },
      over,
    }
  }

  /** Until the function that is returned is called, the slot is handed out to nobody, and the next document waits. */
  #standsInLine(slot: string): () => void {
    const { clock, onChange } = this.#options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(slot, promise)
    clock.documentWaits(slot, true)
    onChange(slot)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      clock.documentWaits(slot, false)
      if (this.#last.get(slot) === promise) this.#last.delete(slot)
      resolve()
      onChange(slot)
    }
  }

  async #turn(slot: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const waitMs = this.#options.clock.documentWaitMs(slot, performance.now())
      if (waitMs <= 0) return
      await sleep(Math.min(waitMs, LOOK_AGAIN_MS), undefined, { signal })
    }
  }

  /** A page's own host is in the line of its request. */
  async #slotOf({ slot, request }: DocumentLease, url: string): Promise<string> {
    if (URL.parse(url)?.hostname === URL.parse(request.url)?.hostname) return slot
    const document = new Request(url)
    await this.#options.slots.prepare([{ request: document }])
    return this.#options.slots.slotOf(document)
  }
}
