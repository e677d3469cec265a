import type { DuePages, Visit, VisitedPage, VisitStore, VisitTotals } from '@webloom/core'

interface KnownPage extends VisitedPage {
  readonly isInALine: boolean
}

/**
 * The visits of a crawl of one process. What is due is found by a search: a crawl in memory ends with its process, and none is so long that
 * many pages come due.
 */
export class MemoryVisits implements VisitStore {
  readonly #pages = new Map<string, KnownPage>()

  async record(pages: readonly VisitedPage[]): Promise<void> {
    for (const page of pages) {
      const known = this.#pages.get(page.fingerprint)
      if (known?.visit.visitedAt === page.visit.visitedAt) continue
      this.#pages.set(page.fingerprint, { ...page, isInALine: false })
    }
  }

  async find(fingerprints: readonly string[]): Promise<readonly (Visit | undefined)[]> {
    return fingerprints.map((fingerprint) => this.#pages.get(fingerprint)?.visit)
  }

  async due(now: number, max: number): Promise<DuePages> {
    const pages = [...this.#pages.values()]
      .filter(({ isInALine, visit }) => !isInALine && visit.dueAt <= now)
      .sort((a, b) => a.visit.dueAt - b.visit.dueAt)
      .slice(0, max)
    return { pages, read: pages.length, token: '' }
  }

  async moved({ pages }: DuePages): Promise<readonly string[]> {
    const moved: string[] = []
    for (const { fingerprint, visit } of pages) {
      const known = this.#pages.get(fingerprint)
      if (!known || known.isInALine || known.visit.dueAt !== visit.dueAt) continue
      this.#pages.set(fingerprint, { ...known, isInALine: true })
      moved.push(fingerprint)
    }
    return moved
  }

  async forget(fingerprints: readonly string[]): Promise<readonly string[]> {
    return fingerprints.filter((fingerprint) => this.#pages.delete(fingerprint))
  }

  async sample(max: number): Promise<readonly Visit[]> {
    const pages = [...this.#pages.values()]
    const step = Math.max(1, pages.length / max)
    const from = Math.random() * step
    return Array.from(
      { length: Math.min(max, pages.length) },
      (_, n) => pages[Math.floor(from + n * step) % pages.length]!.visit,
    )
  }

  async totals(): Promise<VisitTotals> {
    let perHour = 0
    for (const { visit } of this.#pages.values()) perHour += visitsPerHour(visit)
    return { pages: this.#pages.size, perHour }
  }

  async clear(): Promise<void> {
    this.#pages.clear()
  }
}

const HOUR_MS = 3_600_000
const INTERVAL_MS_MIN = 1000

/** How many visits an hour a page asks for. */
export function visitsPerHour({ visitedAt, dueAt }: Visit): number {
  return HOUR_MS / Math.max(INTERVAL_MS_MIN, dueAt - visitedAt)
}
