import { type Lease, unlessAborted } from '@webloom/core'

/** A page whose links are on their way to the queue. */
interface Page {
  /** Resolves when they are there; made for who waits for that. */
  over?: PromiseWithResolvers<void>
}

/**
 * The pages whose links are on their way to the queue.
 *
 * A page may stand in the queue twice: another page asked about it as well when the one that had queued it was lost. If this
 * worker has both at once, the second waits with its links until the first is settled, and is then told that they were met.
 * Otherwise both would be told "new", as they ask under one name, and so would the links of their links.
 */
export class HandingOn {
  /** By id. */
  readonly #pages = new Map<string, Page>()

  /** Runs `step` when no other lease of the same page hands its links on. Rejects when the lease is lost before that. */
  async alone({ id, signal }: Lease, step: () => Promise<void>): Promise<void> {
    for (let other = this.#pages.get(id); other; other = this.#pages.get(id)) {
      other.over ??= Promise.withResolvers()
      await unlessAborted(signal, other.over.promise)
      signal.throwIfAborted()
    }
    const page: Page = {}
    this.#pages.set(id, page)
    try {
      await step()
    } finally {
      this.#pages.delete(id)
      page.over?.resolve()
    }
  }
}
