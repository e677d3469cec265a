import {
  type AskedPage,
  carryVisit,
  type DuePages,
  type FoundVisit,
  type KeptVisits,
  type QueuedRequest,
  type Visit,
  type VisitedPage,
  type VisitStore,
  type VisitTotals,
} from '@webloom/core'

/** Visits that a queue of this process keeps in its own steps. */
export interface LocalVisits extends VisitStore {
  /** As `record`, in the present step. */
  recordNow(pages: readonly VisitedPage[]): void
  /** Marks pages as in a line, in the present step. Returns the fingerprints of those that were due until now. */
  takeDue(due: DuePages): readonly string[]
}

/** Queues requests in one step, as far as `isTaken` says of their ids, called in that step, that they are to be queued. */
export type QueueTaken = (
  requests: readonly QueuedRequest[],
  isTaken: (id: string) => boolean,
) => Promise<readonly string[]>

/** The visits of a crawl in one process, beside its queue. */
export class KeptLocalVisits implements KeptVisits {
  readonly #visits: LocalVisits
  readonly #queue: QueueTaken

  constructor(visits: LocalVisits, queue: QueueTaken) {
    this.#visits = visits
    this.#queue = queue
  }

  async queueDue(due: DuePages): Promise<number> {
    for (const { request, fingerprint, visit } of due.pages) carryVisit(request, fingerprint, visit)
    // What cannot be read goes all the same.
    if (due.pages.length === 0) return this.#visits.takeDue(due).length
    const queued = due.pages.map(({ request, fingerprint }) => ({ id: fingerprint, request }))
    let taken: Set<string> | undefined
    const isTaken = (id: string) => {
      taken ??= new Set(this.#visits.takeDue(due))
      return taken.has(id)
    }
    return (await this.#queue(queued, isTaken)).length
  }

  record(pages: readonly VisitedPage[]): Promise<void> {
    return this.#visits.record(pages)
  }

  find(fingerprints: readonly string[]): Promise<readonly (FoundVisit | undefined)[]> {
    return this.#visits.find(fingerprints)
  }

  due(now: number, max: number): Promise<DuePages> {
    return this.#visits.due(now, max)
  }

  reschedule(pages: readonly AskedPage[], at: number): Promise<readonly string[]> {
    return this.#visits.reschedule(pages, at)
  }

  forget(fingerprints: readonly string[]): Promise<readonly string[]> {
    return this.#visits.forget(fingerprints)
  }

  sample(max: number): Promise<readonly Visit[]> {
    return this.#visits.sample(max)
  }

  totals(): Promise<VisitTotals> {
    return this.#visits.totals()
  }

  waiting(): AsyncIterable<readonly VisitedPage[]> {
    return this.#visits.waiting()
  }

  notes(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    return this.#visits.notes(names)
  }

  note(notes: ReadonlyMap<string, string>): Promise<void> {
    return this.#visits.note(notes)
  }

  clear(): Promise<void> {
    return this.#visits.clear()
  }
}
