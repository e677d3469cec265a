import {
  type Crawler,
  createFingerprinter,
  type DupeFilter,
  type DupeFilterDescription,
  type Fingerprinter,
  filterFingerprinterOf,
  type Request,
} from '@webloom/core'

/** One question of one owner. Entries of the same question are told apart from those of an earlier one. */
interface Claim {
  readonly owner: string
  readonly fingerprints: string[]
}

/**
 * A set of fingerprints in this process, as Scrapy's RFPDupeFilter keeps it without a JOBDIR.
 *
 * Owners are kept because the port asks for it: a callback may be run again before its page is committed. There is
 * no stale rule and no memory of settled owners: the process that holds this set also holds its queue, so no crash
 * can part "seen" from "queued".
 */
export class MemoryDupeFilter implements DupeFilter {
  readonly #fingerprinter: Fingerprinter
  readonly #seen = new Set<string>()
  readonly #pending = new Map<string, Claim>()
  readonly #claims = new Map<string, Claim[]>()

  constructor({ fingerprinter = createFingerprinter() }: { fingerprinter?: Fingerprinter } = {}) {
    this.#fingerprinter = fingerprinter
  }

  static fromCrawler({ settings, stats }: Crawler): MemoryDupeFilter {
    return new MemoryDupeFilter({ fingerprinter: filterFingerprinterOf(settings, 'scrapy', stats) })
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async clear(): Promise<void> {
    this.#seen.clear()
    this.#pending.clear()
    this.#claims.clear()
  }

  async requestSeen(request: Request, owner?: string): Promise<boolean> {
    if (owner !== undefined) return (await this.requestsSeen([request], owner))[0]!
    const fingerprint = this.#fingerprinter.fingerprint(request)
    if (this.#seen.has(fingerprint)) return true
    this.#seen.add(fingerprint)
    return false
  }

  async requestsSeen(requests: readonly Request[], owner: string): Promise<boolean[]> {
    const claim: Claim = { owner, fingerprints: [] }
    const answers = requests.map((request) => this.#seenBy(claim, this.#fingerprinter.fingerprint(request)))
    if (claim.fingerprints.length > 0) {
      const earlier = this.#claims.get(owner)
      if (earlier) earlier.push(claim)
      else this.#claims.set(owner, [claim])
    }
    return answers
  }

  async settled(owner: string): Promise<void> {
    for (const { fingerprints } of this.#claims.get(owner) ?? []) {
      for (const fingerprint of fingerprints) this.#pending.delete(fingerprint)
    }
    this.#claims.delete(owner)
  }

  async describe(): Promise<DupeFilterDescription> {
    return { name: 'memory', fingerprinter: this.#fingerprinter.name, count: this.#seen.size, owners: true }
  }

  async forget(request: Request): Promise<void> {
    const fingerprint = this.#fingerprinter.fingerprint(request)
    this.#seen.delete(fingerprint)
    this.#pending.delete(fingerprint)
  }

  #seenBy(claim: Claim, fingerprint: string): boolean {
    if (this.#seen.has(fingerprint)) {
      const holder = this.#pending.get(fingerprint)
      // The same claim means that the batch holds the request twice.
      if (holder === undefined || holder === claim || holder.owner !== claim.owner) return true
    } else {
      this.#seen.add(fingerprint)
    }
    this.#pending.set(fingerprint, claim)
    claim.fingerprints.push(fingerprint)
    return false
  }
}
