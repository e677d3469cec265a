/** The value of a counter. */
export type StatValue = number | string | boolean | null

/** Collects what a crawl did, under Scrapy's keys (`downloader/request_count`, `finish_reason`, …). */
export interface StatsCollector {
  /** Adds `count` (default 1) to a number that starts at 0. */
  inc(key: string, count?: number): void
  /** Replaces the key's value. */
  set(key: string, value: StatValue): void
  /** Keeps the larger of the stored and the given number. */
  max(key: string, value: number): void
  /** Keeps the smaller of the stored and the given number. */
  min(key: string, value: number): void
  /** Returns undefined when the key was never set. */
  get(key: string): StatValue | undefined
  /** Returns every key and value, with the keys sorted. */
  snapshot(): Record<string, StatValue>
  /** Forgets every key. */
  clear(): void
}

/** Counters in this process. Extend it for a STATS_CLASS of your own. */
export class MemoryStatsCollector implements StatsCollector {
  readonly #stats = new Map<string, StatValue>()

  inc(key: string, count = 1): void {
    this.#stats.set(key, this.#number(key, 0) + count)
  }

  set(key: string, value: StatValue): void {
    this.#stats.set(key, value)
  }

  max(key: string, value: number): void {
    this.#stats.set(key, Math.max(this.#number(key, value), value))
  }

  min(key: string, value: number): void {
    this.#stats.set(key, Math.min(this.#number(key, value), value))
  }

  get(key: string): StatValue | undefined {
    return this.#stats.get(key)
  }

  snapshot(): Record<string, StatValue> {
    return Object.fromEntries([...this.#stats].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  clear(): void {
    this.#stats.clear()
  }

  #number(key: string, absent: number): number {
    const value = this.#stats.get(key)
    return typeof value === 'number' ? value : absent
  }
}
