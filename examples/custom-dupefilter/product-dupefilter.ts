import { fingerprint, type Request } from 'webloom'

/** A shop lists a product under many addresses, /shoes/p-123.html and /sale/p-123.html: it is met once. */
export class ProductDupeFilter {
  readonly #met = new Set<string>()
  /** Who was told "new" for what is not queued yet: asked by the same owner again, it is new again. */
  readonly #holders = new Map<string, string>()

  async requestsSeen(requests: readonly Request[], owner: string): Promise<boolean[]> {
    const asked = new Set<string>()
    return requests.map((request) => {
      const product = /\/p-\d+\b/.exec(request.url)?.[0] ?? fingerprint(request)
      const isSeen = asked.has(product) || (this.#met.has(product) && this.#holders.get(product) !== owner)
      asked.add(product)
      if (!isSeen) this.#holders.set(product, owner)
      this.#met.add(product)
      return isSeen
    })
  }
  async requestSeen(request: Request, owner = 'nobody'): Promise<boolean> {
    const [isSeen] = await this.requestsSeen([request], owner)
    if (owner === 'nobody') await this.settled(owner)
    return isSeen!
  }
  async settled(owner: string): Promise<void> {
    for (const [product, holder] of this.#holders) if (holder === owner) this.#holders.delete(product)
  }
  clear = async () => this.#met.clear()
  describe = async () => ({ name: 'products', fingerprinter: 'product', count: this.#met.size, owners: true })
}
