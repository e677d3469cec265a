import { type Lease, PassingMap, unlessAborted } from '@webloom/core'

/** A page whose links are on their way to the queue. */
interface Page {
  /** Resolves when they are there; made for who waits for that. */
  over?: PromiseWithResolvers<void>
}

/**
 * The pages whose links are on their way to the queue.
 *
 * A page may stand in the queue twice: another page asked about it as well when the one that had queued it was lost. If this
 * worker has both at once, the second waits with its links until the first is settled, and is then told that they were seen.
 * Otherwise both would be told "new", as they ask under one name, and so would the links of their links.
 */
export class HandingOn {
  /** By id. */
  readonly #pages = new PassingMap<string, Page>()

  /**
   * Notes that the page's links are on their way, until `end`. Returns a promise when another lease of the same page is handing its
   * links on: it resolves when this one is noted, and rejects when its lease is lost before that.
   */
  begin({ id, signal }: Lease): Promise<void> | undefined {
    if (this.#pages.has(id)) return this.#afterOthers(id, signal)
    this.#pages.set(id, {})
    return undefined
  }

  /** The page's links are queued, or will not be. */
  end({ id }: Lease): void {
    const page = this.#pages.get(id)
    this.#pages.delete(id)
    page?.over?.resolve()
  }

  async #afterOthers(id: string, signal: AbortSignal): Promise<void> {
    for (let other = this.#pages.get(id); other; other = this.#pages.get(id)) {
      other.over ??= Promise.withResolvers()
      await unlessAborted(signal, other.over.promise)
      signal.throwIfAborted()
    }
    this.#pages.set(id, {})
  }
}
