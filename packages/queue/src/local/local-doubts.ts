import type { QueuedRequest } from '@webloom/core'
import type { DelayedRequest, RequestStore, StoredRequest } from './request-store.ts'

/** Links in doubt of a crawl in one process. Nobody else asks about them, so none has to be lent out for a while. */
export class LocalDoubts<Held extends StoredRequest> {
  readonly #store: Pick<RequestStore<Held, DelayedRequest>, 'addInDoubt' | 'done'>
  readonly #held = new Map<string, Held>()

  constructor(store: Pick<RequestStore<Held, DelayedRequest>, 'addInDoubt' | 'done'>) {
    this.#store = store
  }

  get size(): number {
    return this.#held.size
  }

  /** From an earlier run. */
  restore(before: Iterable<Held>): void {
    for (const held of before) this.#held.set(held.id, held)
  }

  clear(): void {
    this.#held.clear()
  }

  /** The same id twice is one. */
  add(queued: QueuedRequest, slot: string): void {
    if (!this.#held.has(queued.id)) this.#held.set(queued.id, this.#store.addInDoubt(queued, slot))
  }

  /** Those that were taken longest ago. */
  take(max: number): QueuedRequest[] {
    const taken = [...this.#held].slice(0, max)
    for (const [id, held] of taken) {
      this.#held.delete(id)
      this.#held.set(id, held)
    }
    return taken.map(([id, { request }]) => ({ id, request }))
  }

  /** Nobody is to ask about it in this run. A JOBDIR has it again in the next one. */
  quarantine(id: string): boolean {
    return this.#held.delete(id)
  }

  /** False for one that was not in here. */
  end(id: string): boolean {
    const held = this.#held.get(id)
    if (!held) return false
    this.#held.delete(id)
    this.#store.done(held)
    return true
  }
}
