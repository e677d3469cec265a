import {
  type Crawler,
  type DupeFilterDescription,
  filterFingerprinterOf,
  fingerprinterShown,
  type Request,
} from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { ProcessDupeFilter } from './process-dupefilter.ts'

/** A set of fingerprints in this process, as Scrapy's RFPDupeFilter without a JOBDIR. */
export class MemoryDupeFilter extends ProcessDupeFilter {
  readonly #seen = new Set<string>()

  static fromCrawler({ settings, stats }: Crawler): MemoryDupeFilter {
    return new this({ fingerprinter: filterFingerprinterOf(settings, 'scrapy', stats) })
  }

  async describe(): Promise<DupeFilterDescription> {
    return { name: 'memory', ...fingerprinterShown(this.fingerprinter), count: this.#seen.size, owners: true }
  }

  async forget(request: Request): Promise<void> {
    const asked = askedAbout(request, this.fingerprinter)
    this.#seen.delete(asked.fingerprint)
    this.letGo(asked)
  }

  protected isRecorded({ fingerprint }: Asked): boolean {
    return this.#seen.has(fingerprint)
  }

  protected record({ fingerprint }: Asked): void {
    this.#seen.add(fingerprint)
  }

  protected forgetAll(): void {
    this.#seen.clear()
  }
}
