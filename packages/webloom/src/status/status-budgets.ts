/** What `webloom status` tells of budgets: what is spent of what may be, and what waits until when. */

import {
  BUDGET_KINDS,
  type BudgetEnd,
  type BudgetKind,
  type BudgetLimits,
  type BudgetPlan,
  type Moment,
  type Spent,
} from '@webloom/core'
import { budgetDay, budgetPlanOf } from '@webloom/downloader'
import { notedBudgets, readSpentBudgets, type WindowSpent } from '@webloom/queue'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { byteSize, counted, grouped, row } from '../terminal/figures.ts'
import { commandName } from '../terminal/resume-line.ts'

/** One window of BUDGETS as it stands. */
export interface BudgetSeen extends WindowSpent {
  readonly limits: NonNullable<BudgetLimits[WindowSpent['window']]>
  /** What happens when it is spent. */
  readonly after: BudgetEnd
  /** When what waits may go on: the next day's beginning; null where nothing waits. */
  readonly until: Moment | null
  /** The line that lets it go on today, to be typed; null where nothing waits. */
  readonly renew: string | null
  readonly tz: string
}

/** How many hosts at their limit are printed; `--json` has more. */
const LISTED_MAX = 10

/** Resolves to what the crawl's workers were given, perhaps by `-s` or a schedule; before they have asked, to what the project has. */
export async function budgetsOf(crawl: CrawlFromOutside): Promise<BudgetPlan | undefined> {
  return (await notedBudgets(crawl.redis, crawl.keys)) ?? budgetPlanOf(crawl.crawler.settings)
}

/** Reads budgets in the order in which a request is refused by them; empty where BUDGETS sets none. */
export async function readBudgets(crawl: CrawlFromOutside, nowMs = Date.now()): Promise<BudgetSeen[]> {
  const plan = await budgetsOf(crawl)
  if (!plan) return []
  const { day, endsAtMs } = budgetDay(plan.tz, nowMs)
  const all = await readSpentBudgets(crawl.redis, crawl.keys, plan.limits, { day, nowMs })
  return all.map((seen) => {
    const waits = plan.after[seen.window] === 'wait' && (seen.kind !== null || seen.hosts.length > 0)
    return {
      ...seen,
      limits: plan.limits[seen.window]!,
      after: plan.after[seen.window],
      until: waits ? new Date(endsAtMs).toISOString() : null,
      renew: waits ? `${commandName()} budgets renew ${crawl.typed}` : null,
      tz: plan.tz,
    }
  })
}

export function budgetLines({ budgets }: { readonly budgets: readonly BudgetSeen[] }): string[] {
  if (budgets.length === 0) return []
  const renew = budgets.find((one) => one.renew !== null)?.renew
  return [
    row('budgets', 'what is spent, of what may be'),
    ...budgets.flatMap(windowLines),
    ...(renew === undefined ? [] : [`    to go on today:  ${renew}`]),
  ]
}

/** What `webloom budgets renew` came to. */
export interface Renewal {
  /** As `crawl "shop"`. */
  readonly crawl: string
  readonly day: string
  /** The one that was meant; undefined: all. */
  readonly host: string | undefined
  /** How many requests no longer count; 0 where only each host's are counted; undefined: nothing was spent. */
  readonly pages: number | undefined
  /** Undefined: nobody knows what the crawl may spend. */
  readonly plan: BudgetPlan | undefined
  /** As they stood before it. */
  readonly before: readonly BudgetSeen[]
}

/** Returns the sentence that tells what no longer counts, and what happens now. */
export function renewalText({ crawl, day, host, pages, plan, before }: Renewal): string {
  if (pages === undefined) {
    const hasDay = !plan || plan.limits.day !== undefined || plan.limits.hostDay !== undefined
    return hasDay
      ? `nothing to renew: ${crawl} has spent nothing on ${day}`
      : `nothing to renew: a renewal is of what was spent in a day, and BUDGETS of ${crawl} has neither day nor hostDay`
  }
  const of = host === undefined ? '' : ` of ${host}`
  const what =
    pages === 0
      ? `what was spent${of} on ${day} no longer counts`
      : `${counted(pages, 'page')}${of} of ${day} no longer count`
  const waits = !plan || before.some(({ renew }) => renew !== null)
  const isSpent = before.some(({ kind, hosts }) => kind !== null || hosts.length > 0)
  return `renewed: ${what} for ${crawl}. ${waits ? WAITS : isSpent ? ENDED : 'None of its budgets was spent, so nothing waits for that'}`
}

const WAITS =
  'Hosts that wait go on within five minutes, the first 3,000 of each worker; others follow, ten a second'

const ENDED =
  'What was spent has ended the crawl, or had requests dropped (BUDGETS says stop or drop), so nothing waits for that: the next run may spend it anew'

function windowLines(seen: BudgetSeen): string[] {
  const { window, spent, kind, hosts, hasMoreHosts } = seen
  const ends = endWords(seen)
  if (spent)
    return [line(window, `${shares(seen, spent)}${kind === null ? '' : ` · ${kind} spent: ${ends}`}`)]
  const shown = hosts.slice(0, LISTED_MAX)
  const more = hasMoreHosts || hosts.length > shown.length
  const each = line(window, `each host ${allowed(seen)}`)
  if (hosts.length === 0) return [more ? `${each} · none found at its limit, among those looked at` : each]
  return [
    `${each} · at their limit, ${ends}:`,
    ...shown.map((one) => `      ${one.host}   ${shares(seen, one.spent)}`),
    ...(more ? ['      and more'] : []),
  ]
}

function line(window: string, words: string): string {
  return `    ${window.padEnd(7)}   ${words}`
}

function shares({ limits }: BudgetSeen, spent: Spent): string {
  return kindsOf(limits)
    .map((kind) => `${kind} ${figure(kind, spent[kind])} of ${figure(kind, limits[kind]!)}`)
    .join(' · ')
}

function allowed({ limits }: BudgetSeen): string {
  return kindsOf(limits)
    .map((kind) => `${kind} ${figure(kind, limits[kind]!)}`)
    .join(' · ')
}

function kindsOf(limits: BudgetSeen['limits']): BudgetKind[] {
  return BUDGET_KINDS.filter((kind) => limits[kind] !== undefined)
}

function figure(kind: BudgetKind, value: number): string {
  return kind === 'bytes' ? byteSize(value) : grouped(value)
}

function endWords({ after, until, tz }: BudgetSeen): string {
  if (after === 'stop') return 'the crawl ends'
  if (after === 'drop' || until === null) return 'other requests are dropped'
  return `requests wait until ${new Date(until).toLocaleString('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle: 'short' })} ${tz}`
}
