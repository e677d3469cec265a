/**
 * What all filters in the memory of this process share: which asker was told "new".
 *
 * Askers are kept because the port asks for it: a callback may run again before its page is committed. No asker goes stale,
 * and settled askers are not remembered: the process that holds the filter also holds its queue, so no crash can separate
 * "seen" from "queued".
 */

import {
  createFingerprinter,
  type DupeFilter,
  type DupeFilterDescription,
  type Fingerprinter,
  PassingMap,
  type Request,
  type Seen,
} from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'

/** One question of one asker. A new question makes a new claim, so that its entries differ from those of an earlier one. */
interface Claim {
  readonly asker: string
  readonly fingerprints: string[]
}

/**
 * Holds links that were recorded for a page that went back, as not every filter can delete them. They are new for the next
 * asker.
 */
const NOBODY: Claim = { asker: '', fingerprints: [] }

/** The options of each filter in this process. */
export interface ProcessDupeFilterOptions {
  /** Says which requests are equal. Default: by Scrapy's rules. */
  readonly fingerprinter?: Fingerprinter
}

/** A filter in this process with askers. Classes that extend it decide how requests are kept. */
export abstract class ProcessDupeFilter implements DupeFilter {
  protected readonly fingerprinter: Fingerprinter
  readonly #pending = new PassingMap<string, Claim>()
  readonly #claims = new PassingMap<string, Claim[]>()
  /** Marks URLs that are recorded and settled. Most links are asked about again, and the mark saves two look-ups. */
  #settledMark = {}

  constructor({ fingerprinter = createFingerprinter() }: ProcessDupeFilterOptions = {}) {
    this.fingerprinter = fingerprinter
  }

  protected abstract isRecorded(asked: Asked): boolean
  protected abstract record(asked: Asked): void
  protected abstract forgetAll(): void
  abstract describe(): Promise<DupeFilterDescription>

  /** Called before a question. An error that it throws is the question's error. */
  protected prepare(): void {}

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async clear(): Promise<void> {
    this.forgetAll()
    this.#pending.clear()
    this.#claims.clear()
    this.#settledMark = {}
  }

  async requestSeen(request: Request, asker?: string): Promise<boolean> {
    if (asker !== undefined) return (await this.requestsSeen([request], asker))[0] !== false
    this.prepare()
    const asked = askedAbout(request, this.fingerprinter)
    if (!this.isRecorded(asked)) this.record(asked)
    else if (this.#pending.get(asked.fingerprint) === NOBODY) this.#pending.delete(asked.fingerprint)
    else return true
    return false
  }

  async has(request: Request): Promise<boolean> {
    const asked = askedAbout(request, this.fingerprinter)
    return this.isRecorded(asked) && this.#pending.get(asked.fingerprint) !== NOBODY
  }

  async requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]> {
    if (requests.length > 0) this.prepare()
    const claim: Claim = { asker, fingerprints: [] }
    const answers = requests.map((request) => this.#seenBy(claim, askedAbout(request, this.fingerprinter)))
    if (claim.fingerprints.length > 0) {
      const earlier = this.#claims.get(asker)
      if (earlier) earlier.push(claim)
      else this.#claims.set(asker, [claim])
    }
    return answers
  }

  async settled(asker: string): Promise<void> {
    for (const claim of this.#claims.get(asker) ?? []) {
      for (const fingerprint of claim.fingerprints) {
        // A link that was forgotten meanwhile, and then met by another page, belongs to that page.
        if (this.#pending.get(fingerprint)?.asker === asker) this.#pending.delete(fingerprint)
      }
    }
    this.#claims.delete(asker)
  }

  async givenBack(asker: string): Promise<void> {
    for (const claim of this.#claims.get(asker) ?? []) {
      for (const fingerprint of claim.fingerprints) {
        if (this.#pending.get(fingerprint) === claim) this.#pending.set(fingerprint, NOBODY)
      }
    }
    this.#claims.delete(asker)
  }

  /** Forgets the request: its first asker is not told "new" again. */
  protected letGo({ fingerprint }: Asked): void {
    this.#pending.delete(fingerprint)
    this.#settledMark = {}
  }

  #seenBy(claim: Claim, asked: Asked): Seen {
    const { fingerprint, request } = asked
    const known = this.fingerprinter.known?.(request)
    if (known?.isMarkedBy(this.#settledMark)) return true
    if (this.isRecorded(asked)) {
      const pending = this.#pending.get(fingerprint)
      if (pending === undefined) known?.mark(this.#settledMark)
      // The same claim means that the batch holds the request twice.
      if (pending === undefined || pending === claim) return true
      if (pending !== NOBODY && pending.asker !== claim.asker) return 'in doubt'
    } else {
      this.record(asked)
    }
    this.#pending.set(fingerprint, claim)
    claim.fingerprints.push(fingerprint)
    return false
  }
}
