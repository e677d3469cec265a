import {
  type AskedPage,
  carryVisit,
  type DuePages,
  type KeptVisits,
  type QueuedRequest,
  type Request,
  type VisitedPage,
} from '@webloom/core'
import { movesOf } from './moved-pages.ts'

/** Visits that a queue of this process keeps in its own steps. */
export interface LocalVisits extends KeptVisits {
  /** Called once, by the queue beside which they lie. */
  lieBeside(queue: QueueTaken): void
  /** As `record`, in the present step. */
  recordNow(pages: readonly VisitedPage[]): void
}

/** Queues requests in one step, as far as `isTaken` says of their ids, called in that step, that they are to be queued. */
export type QueueTaken = (
  requests: readonly QueuedRequest[],
  isTaken: (id: string) => boolean,
) => Promise<readonly string[]>

/** Pages that are looked at when a run begins. */
const LOOKED_AT_MAX = 1000

function isMovedBy(fingerprint: (request: Request) => string | undefined) {
  return (page: AskedPage): boolean => (fingerprint(page.request) ?? page.fingerprint) !== page.fingerprint
}

/** What local visits have in common: pages that are due go into the lines of the queue beside them. */
export abstract class DuePagesInOneStep {
  #queue: QueueTaken | undefined

  lieBeside(queue: QueueTaken): void {
    this.#queue = queue
  }

  /** Marks pages as in a line, in the present step. Returns the fingerprints of those that were due until now. */
  abstract takeDue(due: DuePages): readonly string[]

  /** Returns the page that is kept under a fingerprint, also when it is in a line. */
  abstract pageAt(fingerprint: string): AskedPage | undefined

  /** Gives pages other fingerprints, all in one step; those that get none are forgotten. They are due, or in a line, as before. */
  abstract rename(moves: ReadonlyMap<string, string | undefined>): void

  /** Yields pages that are kept, in a line or not, some hundred at a time: all, or, with a number, about so many anywhere among them. */
  abstract kept(max?: number): AsyncIterable<readonly AskedPage[]>

  async moveAll(
    fingerprint: (request: Request) => string | undefined,
    signal?: AbortSignal,
  ): Promise<number> {
    const moved: string[] = []
    for await (const pages of this.kept()) {
      signal?.throwIfAborted()
      moved.push(...pages.filter(isMovedBy(fingerprint)).map((page) => page.fingerprint))
    }
    return this.move(moved, fingerprint).size
  }

  async someMoved(fingerprint: (request: Request) => string | undefined): Promise<boolean> {
    for await (const pages of this.kept(LOOKED_AT_MAX)) if (pages.some(isMovedBy(fingerprint))) return true
    return false
  }

  move(
    fingerprints: readonly string[],
    fingerprint: (request: Request) => string | undefined,
  ): ReadonlyMap<string, string | undefined> {
    const moves = movesOf(fingerprints, { fingerprint, pageAt: (name) => this.pageAt(name) })
    if (moves.size > 0) this.rename(moves)
    return moves
  }

  async queueDue(due: DuePages): Promise<number> {
    if (!this.#queue) throw new Error('these visits lie beside no queue')
    for (const { request, fingerprint, visit } of due.pages) carryVisit(request, fingerprint, visit)
    // What cannot be read goes all the same.
    if (due.pages.length === 0) return this.takeDue(due).length
    const queued = due.pages.map(({ request, fingerprint }) => ({ id: fingerprint, request }))
    let taken: Set<string> | undefined
    const isTaken = (id: string) => {
      taken ??= new Set(this.takeDue(due))
      // Of two requests of one page, one is queued.
      return taken.delete(id)
    }
    return (await this.#queue(queued, isTaken)).length
  }
}
