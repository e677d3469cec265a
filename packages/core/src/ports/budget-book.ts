/**
 * What a crawl may still spend: pages, bytes and minutes, of a run and of a day, of all hosts together and of each. All processes of a crawl
 * share one book. Whoever is about to send a request asks it, and the page is spent in the step that answers: so no more leave than there
 * are, however many ask, and one that was spent and never left (its worker was killed) is not given back.
 *
 * **Bytes** are known when a page has come. So no request leaves once they are spent, and those that were under way then come on top.
 *
 * **Minutes** are those of the clock in which a request left. While nothing is asked for, none is spent.
 */

import type { Awaitable } from '../waiting/awaitable.ts'

/** A run or a day, of all hosts together or of each by itself. */
export type BudgetWindow = 'crawl' | 'day' | 'host' | 'hostDay'

export const BUDGET_WINDOWS = ['crawl', 'day', 'host', 'hostDay'] as const satisfies readonly BudgetWindow[]

/** What is spent. */
export type BudgetKind = 'pages' | 'bytes' | 'minutes'

export const BUDGET_KINDS = ['pages', 'bytes', 'minutes'] as const satisfies readonly BudgetKind[]

/** The most of each; what is absent has no bound. */
export type BudgetLimits = Readonly<
  Partial<Record<BudgetWindow, Readonly<Partial<Record<BudgetKind, number>>>>>
>

/** What happens when a budget is spent: the crawl ends; a request waits until the next day; or is dropped. */
export type BudgetEnd = 'stop' | 'wait' | 'drop'

/** What is said of budgets beside their limits. */
export interface BudgetTerms {
  /** What happens when a budget of that window is spent. */
  readonly after: Readonly<Record<BudgetWindow, BudgetEnd>>
  /** By whose clock days begin. */
  readonly tz: string
}

export interface BudgetPlan extends BudgetTerms {
  readonly limits: BudgetLimits
}

/** A request that is about to leave, or bytes that have come. */
export interface BudgetAsk {
  /** The name of its host, without a port. */
  readonly host: string
  /** The day that it is, in the crawl's time zone: `2026-11-27`. */
  readonly day: string
  /** 1: a request for a page is about to leave. 0: bytes have come, and nothing is asked for. */
  readonly pages: 0 | 1
  /** With `pages: 0`: a request that is for no page, such as robots.txt, is about to leave. It is answered as one for a page, and spends nothing. */
  readonly besidesPages?: boolean
  /** Have come since the last ask. They are spent whatever the answer is. */
  readonly bytes: number
}

/** Why a request may not leave: the first budget that is spent. */
export interface BudgetSpent {
  /** Whose budget it is. */
  readonly window: BudgetWindow
  /** What of it is spent. */
  readonly kind: BudgetKind
}

/** Keeps what a crawl has spent, for all its processes. */
export interface BudgetBook {
  /** Resolves to an answer for each, in order; undefined: the request may leave. */
  spend(asks: readonly BudgetAsk[]): Awaitable<readonly (BudgetSpent | undefined)[]>
}

/** What was spent of one window. */
export interface Spent {
  readonly pages: number
  readonly bytes: number
  readonly minutes: number
  /** The minute in which the latest request left, counted from 1970. */
  readonly minute: number
}

export const NOTHING_SPENT: Spent = { pages: 0, bytes: 0, minutes: 0, minute: 0 }

/** Returns which budget of a window is spent, so that no other request may leave in this minute. */
export function spentKind(
  limits: NonNullable<BudgetLimits[BudgetWindow]>,
  { pages, bytes, minutes, minute }: Spent,
  minuteNow: number,
): BudgetKind | undefined {
  if (pages >= (limits.pages ?? Infinity)) return 'pages'
  if (bytes >= (limits.bytes ?? Infinity)) return 'bytes'
  return minute < minuteNow && minutes >= (limits.minutes ?? Infinity) ? 'minutes' : undefined
}

/** The same with one request more that leaves. */
export function withPage(spent: Spent, minuteNow: number): Spent {
  // By a clock that is behind that of another process it is still that one's minute.
  const isAnother = spent.minute < minuteNow
  return {
    ...spent,
    pages: spent.pages + 1,
    minutes: spent.minutes + (isAnother ? 1 : 0),
    minute: Math.max(spent.minute, minuteNow),
  }
}

/** Where one process keeps what was spent. `place` names a window of a run, a day or a host. */
export interface SpentStore {
  read(place: string): Spent
  write(place: string, spent: Spent): void
}

/** Answers one ask by a store that no other process writes to. */
export function spendIn(
  store: SpentStore,
  limits: BudgetLimits,
  { host, day, pages, bytes, besidesPages = false }: BudgetAsk,
  nowMs: number,
): BudgetSpent | undefined {
  const minute = Math.floor(nowMs / 60_000)
  const places: Readonly<Record<BudgetWindow, string>> = {
    crawl: 'run',
    day,
    host: `run ${host}`,
    hostDay: `${day} ${host}`,
  }
  const open = BUDGET_WINDOWS.flatMap((window) => {
    const limit = limits[window]
    return limit ? [{ window, limit, place: places[window] }] : []
  })
  if (bytes > 0)
    for (const { place } of open) {
      const spent = store.read(place)
      store.write(place, { ...spent, bytes: spent.bytes + bytes })
    }
  if (pages === 0 && !besidesPages) return undefined
  for (const { window, limit, place } of open) {
    const kind = spentKind(limit, store.read(place), minute)
    if (kind) return { window, kind }
  }
  if (pages === 1) for (const { place } of open) store.write(place, withPage(store.read(place), minute))
  return undefined
}
