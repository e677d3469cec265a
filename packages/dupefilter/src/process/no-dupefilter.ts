import type { DupeFilter, DupeFilterDescription, Request } from '@webloom/core'

/** Remembers nothing, as Scrapy's BaseDupeFilter: each link is fetched each time it is found. */
export class NoDupeFilter implements DupeFilter {
  readonly letsAllPass = true

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async clear(): Promise<void> {}

  async requestSeen(): Promise<boolean> {
    return false
  }

  async requestsSeen(requests: readonly Request[]): Promise<boolean[]> {
    return requests.map(() => false)
  }

  async settled(): Promise<void> {}

  async describe(): Promise<DupeFilterDescription> {
    return { name: 'none', fingerprinter: 'none', count: 0, owners: true }
  }

  async forget(): Promise<void> {}
}
