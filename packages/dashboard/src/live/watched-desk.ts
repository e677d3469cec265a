/**
 * A crawl that several people look at: what was asked a moment ago is not asked again, so that ten dashboards cost a crawl's Redis
 * what one costs.
 */

import type {
  CrawlDesk,
  CrawlDesks,
  CrawlStatus,
  CrawlSummary,
  HistorySample,
  ScheduledRunsSeen,
} from '@webloom/core'

/** Pages move once a second. */
const FRESH_MS = 900
/** Looking at a filter may read its memory, key by key; samples come every ten seconds. */
const SLOW_FRESH_MS = 5000

interface Asked {
  readonly answer: Promise<unknown>
  freshUntil: number
}

/** Answers that are still fresh, or on their way. */
class Recent {
  readonly #known = new Map<string, Asked>()

  ask<T>(name: string, freshMs: number, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name)
    if (known && performance.now() < known.freshUntil) return known.answer as Promise<T>
    this.#forgetStale()
    const answer = ask()
    const asked: Asked = { answer, freshUntil: performance.now() + freshMs }
    this.#known.set(name, asked)
    // A Redis that is back is seen at once.
    answer.catch(() => {
      asked.freshUntil = Math.min(asked.freshUntil, performance.now() + FRESH_MS)
    })
    return answer
  }

  forget(): void {
    this.#known.clear()
  }

  /** There are as many names as there are spans of samples, and each has its own. */
  #forgetStale(): void {
    const now = performance.now()
    for (const [name, { freshUntil }] of this.#known) if (freshUntil <= now) this.#known.delete(name)
  }
}

/** One crawl. What costs little and what nobody shares is asked of `desk` itself. */
export class WatchedDesk {
  readonly desk: CrawlDesk
  readonly #recent = new Recent()
  #cpu: readonly CpuLook[] = []

  constructor(desk: CrawlDesk) {
    this.desk = desk
  }

  status(): Promise<CrawlStatus> {
    return this.#recent.ask('status', FRESH_MS, async () => {
      const status = await this.desk.status()
      this.#cpu = [...this.#cpu, cpuLookOf(status)].slice(-CPU_LOOKS_MAX)
      return status
    })
  }

  /** One of the desk's views by its name; undefined where the crawl has none. */
  async view<Name extends ViewName>(
    name: Name,
  ): Promise<Awaited<ReturnType<NonNullable<CrawlDesk[Name]>>> | undefined> {
    const { desk } = this
    if (!desk[name]) return undefined
    const freshMs = name === 'hosts' ? FRESH_MS : SLOW_FRESH_MS
    // Called as a method: a desk is a class.
    return this.#recent.ask(name, freshMs, () => (desk[name] as () => Promise<never>).call(desk))
  }

  /** The last `minutes`; none where the crawl keeps no samples. */
  async history(minutes: number): Promise<readonly HistorySample[]> {
    const { desk } = this
    if (!desk.history) return []
    return this.#recent.ask(`history/${minutes}`, SLOW_FRESH_MS, () =>
      desk.history!(Date.now() - minutes * 60_000),
    )
  }

  /** What is asked next is asked anew: the crawl was told something. */
  forget(): void {
    this.#recent.forget()
  }

  /** The share of one processor that a server took over the last looks; undefined until there are two a second apart. */
  redisShare(shown: string): number | undefined {
    const [first, last] = [this.#cpu[0], this.#cpu.at(-1)]
    const passed = (last?.atMs ?? 0) - (first?.atMs ?? 0)
    const used = (last?.seconds.get(shown) ?? Number.NaN) - (first?.seconds.get(shown) ?? Number.NaN)
    return passed >= 1000 && used >= 0 ? (1000 * used) / passed : undefined
  }
}

type ViewName = 'hosts' | 'scale' | 'filter' | 'items' | 'settings' | 'failures' | 'runs'

interface CpuLook {
  readonly atMs: number
  readonly seconds: ReadonlyMap<string, number>
}

/** Half a minute of looks, one a second. */
const CPU_LOOKS_MAX = 30

function cpuLookOf({ servers, readAt }: CrawlStatus): CpuLook {
  return {
    atMs: Date.parse(readAt),
    seconds: new Map(servers.map(({ shown, cpuSeconds }) => [shown, cpuSeconds])),
  }
}

/** All crawls. */
export class WatchedDesks {
  readonly #desks: CrawlDesks
  readonly #watched = new Map<string, WatchedDesk>()
  readonly #recent = new Recent()

  constructor(desks: CrawlDesks) {
    this.#desks = desks
  }

  crawls(): Promise<readonly CrawlSummary[]> {
    return this.#recent.ask('crawls', FRESH_MS, () => this.#desks.crawls())
  }

  /** True when any server of crawls answers. */
  answers(): Promise<boolean> {
    return this.#recent.ask('answers', FRESH_MS, async () => (await this.#desks.answers?.()) ?? false)
  }

  /** None where no schedule is kept. */
  async scheduledRuns(): Promise<readonly ScheduledRunsSeen[]> {
    return this.#recent.ask(
      'scheduledRuns',
      FRESH_MS,
      async () => (await this.#desks.scheduledRuns?.()) ?? [],
    )
  }

  /** A crawl was told something: whoever has told it wants to see that. */
  told(id: string): void {
    this.#recent.forget()
    this.#watched.get(id)?.forget()
  }

  async desk(id: string): Promise<WatchedDesk | undefined> {
    const desk = await this.#desks.desk(id)
    if (!desk) return undefined
    const known = this.#watched.get(id)
    if (known?.desk === desk) return known
    const watched = new WatchedDesk(desk)
    this.#watched.set(id, watched)
    return watched
  }
}
