import { fingerprint, type Request } from 'webloom'
import type { Seen } from 'webloom/ports'

/** A shop lists a product under many addresses, /shoes/p-123.html and /sale/p-123.html: it is met once. */
export class ProductDupeFilter {
  readonly #met = new Set<string>()
  /** Who was told "new" for what is not queued yet: asked by the same asker again, it is new again. */
  readonly #holders = new Map<string, string>()

  async requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]> {
    const asked = new Set<string>()
    return requests.map((request) => {
      const product = /\/p-\d+\b/.exec(request.url)?.[0] ?? fingerprint(request)
      const holder = this.#holders.get(product)
      if (asked.has(product) || (this.#met.has(product) && holder === undefined)) return true
      // Another page has it, and may not queue it: asked about again, it is seen, or new.
      if (holder !== undefined && holder !== asker) return 'in doubt'
      asked.add(product)
      this.#holders.set(product, asker)
      this.#met.add(product)
      return false
    })
  }
  async requestSeen(request: Request, asker = 'nobody'): Promise<boolean> {
    const [isSeen] = await this.requestsSeen([request], asker)
    if (asker === 'nobody') await this.settled(asker)
    return isSeen !== false
  }
  async settled(asker: string): Promise<void> {
    for (const [product, holder] of this.#holders) if (holder === asker) this.#holders.delete(product)
  }
  async givenBack(asker: string): Promise<void> {
    for (const [product, holder] of this.#holders) if (holder === asker) this.#met.delete(product)
    await this.settled(asker)
  }
  async clear(): Promise<void> {
    this.#met.clear()
    this.#holders.clear()
  }
  describe = async () => ({ name: 'products', fingerprinter: 'product', count: this.#met.size, owners: true })
}
