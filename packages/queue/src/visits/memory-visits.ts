import {
  type AskedPage,
  type DuePages,
  type FoundVisit,
  HOUR_MS,
  type Visit,
  type VisitedPage,
  type VisitTotals,
} from '@webloom/core'
import { TimeHeap } from '../structures/time-heap.ts'
import { DuePagesInOneStep, type LocalVisits } from './local-visits.ts'

interface KnownPage extends VisitedPage {
  readonly isInALine: boolean
}

/**
 * The visits of a crawl of one process. An entry of the heap counts while its visit is the page's last: a page that was visited since has
 * another entry.
 */
export class MemoryVisits extends DuePagesInOneStep implements LocalVisits {
  readonly #pages = new Map<string, KnownPage>()
  readonly #notes = new Map<string, string>()
  readonly #wheel = new TimeHeap<VisitedPage>()
  /** Entries that were handed out as due, in order: a few, whatever the number of those whose moment has come. */
  #come: VisitedPage[] = []

  async record(pages: readonly VisitedPage[]): Promise<void> {
    this.recordNow(pages)
  }

  recordNow(pages: readonly VisitedPage[]): void {
    for (const page of pages) {
      const known = this.#pages.get(page.fingerprint)
      if (known && isSameVisit(known.visit, page.visit)) continue
      this.#keep(page)
    }
  }

  async find(fingerprints: readonly string[]): Promise<readonly (FoundVisit | undefined)[]> {
    return fingerprints.map((fingerprint) => {
      const page = this.#pages.get(fingerprint)
      return page && { ...page.visit, isInALine: page.isInALine }
    })
  }

  async due(now: number, max: number): Promise<DuePages> {
    this.#come = this.#come.filter((page) => this.#isDue(page))
    while (this.#come.length < max) {
      const page = this.#wheel.takeDue(now)
      if (!page) break
      if (this.#isDue(page)) this.#come.push(page)
    }
    const pages = this.#come.slice(0, max)
    return { pages, read: pages.length, token: '' }
  }

  override takeDue({ pages }: DuePages): readonly string[] {
    const taken = pages.filter((page) => this.#isDue(page))
    for (const page of taken) this.#pages.set(page.fingerprint, { ...page, isInALine: true })
    return taken.map(({ fingerprint }) => fingerprint)
  }

  async reschedule(pages: readonly AskedPage[], at: number): Promise<readonly string[]> {
    const known = pages.filter(({ fingerprint }) => this.#pages.has(fingerprint))
    for (const { fingerprint, request } of known) {
      const page = this.#pages.get(fingerprint)!
      if (!page.isInALine) this.#keep({ fingerprint, request, visit: { ...page.visit, dueAt: at } })
    }
    return known.map(({ fingerprint }) => fingerprint)
  }

  async askAnew(pages: readonly AskedPage[]): Promise<readonly string[]> {
    const waiting = pages.filter(({ fingerprint }) => this.#pages.get(fingerprint)?.isInALine === false)
    for (const { fingerprint, request } of waiting) {
      // Another object: what the wheel has of it counts no longer.
      const visit = { ...this.#pages.get(fingerprint)!.visit }
      this.#keep({ fingerprint, request, visit })
    }
    return waiting.map(({ fingerprint }) => fingerprint)
  }

  override pageAt(fingerprint: string): AskedPage | undefined {
    return this.#pages.get(fingerprint)
  }

  override async *kept(): AsyncGenerator<readonly AskedPage[]> {
    yield [...this.#pages.values()]
  }

  override rename(moves: ReadonlyMap<string, string | undefined>): void {
    const pages = [...moves].map(([before, now]) => ({ page: this.#pages.get(before), now }))
    for (const before of moves.keys()) this.#pages.delete(before)
    for (const { page, now } of pages) {
      if (!page || now === undefined) continue
      const moved = { ...page, fingerprint: now }
      if (page.isInALine) this.#pages.set(now, moved)
      else this.#keep(moved)
    }
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

  async *waiting(): AsyncGenerator<readonly VisitedPage[]> {
    yield [...this.#pages.values()].filter(({ isInALine }) => !isInALine)
  }

  async notes(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    return names.map((name) => this.#notes.get(name))
  }

  async note(notes: ReadonlyMap<string, string>): Promise<void> {
    for (const [name, text] of notes) this.#notes.set(name, text)
  }

  async clear(): Promise<void> {
    this.#pages.clear()
    this.#notes.clear()
    this.#wheel.clear()
    this.#come = []
  }

  #keep(page: VisitedPage): void {
    this.#pages.set(page.fingerprint, { ...page, isInALine: false })
    this.#wheel.add(page.visit.dueAt, page)
  }

  #isDue({ fingerprint, visit }: VisitedPage): boolean {
    const known = this.#pages.get(fingerprint)
    return known !== undefined && !known.isInALine && known.visit === visit
  }
}

function isSameVisit(one: Visit, other: Visit): boolean {
  return (['visitedAt', 'dueAt', 'visits', 'failures', 'goneAnswers'] as const).every(
    (key) => one[key] === other[key],
  )
}

const INTERVAL_MS_MIN = 1000

/** Returns how many visits an hour a page asks for. */
export function visitsPerHour({ visitedAt, dueAt }: Visit): number {
  return HOUR_MS / Math.max(INTERVAL_MS_MIN, dueAt - visitedAt)
}
