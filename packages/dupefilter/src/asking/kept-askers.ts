import { PassingSet } from '@webloom/core'

/** Askers are told to Redis with one call: each costs it a few µs. */
const MAX_ASKERS_PER_CALL = 500

export interface KeptAskersOptions {
  /** How often Redis is told: several times before an asker would go stale. */
  readonly everyMs: number
  /** Tells Redis that these askers are not stale. */
  readonly tell: (taggedAskers: readonly string[]) => Promise<unknown>
  /** Called when Redis could not be told; it is told again. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Askers whose links this process is about to queue. A queue may make it wait for longer than it takes an asker to go stale: then
 * others would be told that the links are new, and both would queue them.
 *
 * Most are kept for less than a millisecond. Only those are told to Redis that were kept at two ticks of the clock.
 */
export class KeptAskers {
  readonly #options: KeptAskersOptions
  readonly #kept = new PassingSet<{ readonly taggedAsker: string; isOld: boolean }>()
  #timer: NodeJS.Timeout | undefined
  #isTelling = false

  constructor(options: KeptAskersOptions) {
    this.#options = options
  }

  open(): void {
    this.#timer ??= setInterval(() => void this.#tick(), this.#options.everyMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#kept.clear()
  }

  /** Returns a function that ends it. */
  keep(taggedAsker: string): () => void {
    const one = { taggedAsker, isOld: false }
    this.#kept.add(one)
    return () => void this.#kept.delete(one)
  }

  async #tick(): Promise<void> {
    const old: string[] = []
    for (const one of this.#kept) {
      if (one.isOld) old.push(one.taggedAsker)
      one.isOld = true
    }
    if (this.#isTelling || old.length === 0) return
    this.#isTelling = true
    try {
      for (let at = 0; at < old.length; at += MAX_ASKERS_PER_CALL)
        await this.#options.tell(old.slice(at, at + MAX_ASKERS_PER_CALL))
    } catch (error) {
      this.#options.onFailure(error)
    } finally {
      this.#isTelling = false
    }
  }
}
