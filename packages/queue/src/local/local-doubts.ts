import type { QueuedRequest } from '@webloom/core'
import type { DelayedRequest, RequestStore, StoredRequest } from './request-store.ts'

/** The links in doubt of a crawl in one process. No other worker asks about them, so `take` reserves none. */
export class LocalDoubts<Held extends StoredRequest> {
  readonly #store: Pick<RequestStore<Held, DelayedRequest>, 'addInDoubt' | 'done'>
  readonly #held = new Map<string, Held>()

  constructor(store: Pick<RequestStore<Held, DelayedRequest>, 'addInDoubt' | 'done'>) {
    this.#store = store
  }

  get size(): number {
    return this.#held.size
  }

  /** Adds the links in doubt of an earlier run. */
  restore(before: Iterable<Held>): void {
    for (const held of before) this.#held.set(held.id, held)
  }

  clear(): void {
    this.#held.clear()
  }

  /** Adds a link; of two with the same id only the first. */
  add(queued: QueuedRequest, slot: string): void {
    if (!this.#held.has(queued.id)) this.#held.set(queued.id, this.#store.addInDoubt(queued, slot))
  }

  /** Returns the links that were taken longest ago. */
  take(max: number): QueuedRequest[] {
    const taken = [...this.#held].slice(0, max)
    for (const [id, held] of taken) {
      this.#held.delete(id)
      this.#held.set(id, held)
    }
    return taken.map(([id, { request }]) => ({ id, request }))
  }

  /** Takes the link out for this run. A JOBDIR has it again in the next one. Returns false for an unknown id. */
  quarantine(id: string): boolean {
    return this.#held.delete(id)
  }

  /** The doubt is over. Returns false for an unknown id. */
  end(id: string): boolean {
    const held = this.#held.get(id)
    if (!held) return false
    this.#held.delete(id)
    this.#store.done(held)
    return true
  }
}
