/**
 * When the pages of a crawl are visited again (RECRAWL). What pages need to know of each other is learned from a sample of them, and kept as a
 * note beside their visits: the plan is the crawl's, not a worker's. All workers read it, and who finds that a step is due makes it. Two that
 * make the same step at once write the same moment, so it counts once. The next run goes on with the plan.
 */

import { hash } from 'node:crypto'
import {
  type ChangeEvidence,
  HOUR_MS,
  type KnownHosts,
  pageHost,
  type Visit,
  type VisitMade,
  type VisitOutcome,
  type VisitRules,
  type VisitStore,
} from '@webloom/core'
import { AdaptivePlan, type PlanState } from './intervals/adaptive-plan.ts'
import { EVEN_SHARES, RATES } from './intervals/rate-mix.ts'
import {
  failedMaxHours,
  hoursAfterFailure,
  hoursAfterGone,
  type TroubleBounds,
} from './intervals/troubled-interval.ts'
import { datesAreEvidence, NO_LASTMOD, withLastmod } from './lastmod-trust.ts'
import { type VisitPlan, visitMade } from './next-visit.ts'
import { SitemapDates } from './sitemap-dates.ts'

export interface VisitPlannerOptions {
  readonly store: Pick<VisitStore, 'sample' | 'totals' | 'notes' | 'note'>
  /** RECRAWL: `fixed`, all pages are visited each so many hours; `adaptive`, by what was seen of each. */
  readonly kind: 'fixed' | 'adaptive'
  /** RECRAWL_INTERVAL: hours between two visits, or their mean. */
  readonly meanHours: number
  /** RECRAWL_INTERVAL_MIN and RECRAWL_INTERVAL_MAX. */
  readonly minHours: number
  readonly maxHours: number
  /** How far their dates proved true. */
  readonly hosts: KnownHosts
}

const PLAN_NOTE = 'plan'
const SAMPLE_MAX = 1024
/** The plan is balanced so often in the time in which each page is visited once. */
export const BALANCES_PER_ROUND = 50
const BALANCE_MS_MIN = 10_000
/** Clocks of several machines differ by less. */
const AHEAD_MS_MAX = 24 * HOUR_MS
/** Of a crawl that did not run meanwhile, no more are made up: the pages' intervals do not follow before they are visited. */
const MAX_BALANCES_PER_LOOK = 10
/** How often pages change is learned with each so many of them, as a change of intervals shows later than that. */
const BALANCES_PER_LESSON = 5

export class VisitPlanner implements VisitRules {
  readonly #options: VisitPlannerOptions
  readonly #adaptive: AdaptivePlan | undefined
  readonly #plan: VisitPlan
  readonly #bounds: TroubleBounds
  /** Of RECRAWL=adaptive: what else says when pages change. */
  readonly sitemapDates: SitemapDates | undefined
  #balancedAt = 0

  constructor(options: VisitPlannerOptions) {
    this.#options = options
    const { kind, meanHours, minHours, maxHours } = options
    this.#adaptive = kind === 'adaptive' ? new AdaptivePlan({ meanHours, minHours, maxHours }) : undefined
    this.sitemapDates = this.#adaptive && new SitemapDates({ hosts: options.hosts, minHours, maxHours })
    this.#bounds = { meanHours, maxHours, failedMaxHours: failedMaxHours(kind, options) }
    this.#plan = this.#adaptive ?? { intervalHours: () => meanHours }
  }

  /** The shortest time between two visits of a page that can be fetched, milliseconds. */
  get shortestMs(): number {
    const { kind, meanHours, minHours } = this.#options
    return (kind === 'fixed' ? meanHours : minHours) * HOUR_MS
  }

  /** How long start pages wait at the most, milliseconds. */
  get startMs(): number {
    return this.#options.meanHours * HOUR_MS
  }

  /** How long a page that fails is left alone at the most, hours. */
  get failedMaxHours(): number {
    return this.#bounds.failedMaxHours
  }

  /** The longest that a page waits after such a visit, hours: what was planned by other settings may wait longer. */
  longestHours({ failures, goneAnswers }: Visit): number {
    const { kind, meanHours, maxHours } = this.#options
    if (goneAnswers > 0) return hoursAfterGone(goneAnswers, this.#bounds)
    if (failures > 0) return hoursAfterFailure(failures, this.#bounds)
    return kind === 'fixed' ? meanHours : maxHours
  }

  visited(
    page: { readonly fingerprint: string; readonly url: string },
    previous: Visit | undefined,
    outcome: VisitOutcome,
  ): VisitMade {
    return visitMade(previous, this.#dated(page, previous, outcome), {
      plan: this.#plan,
      bounds: this.#bounds,
      phase: phaseOf(page.fingerprint),
    })
  }

  /** Takes over the crawl's plan, and adapts it to what all pages have shown when that is due. Called as often as one likes. */
  async balance(now = Date.now()): Promise<void> {
    const adaptive = this.#adaptive
    const everyMs = Math.max(BALANCE_MS_MIN, (this.#options.meanHours * HOUR_MS) / BALANCES_PER_ROUND)
    if (!adaptive || now - this.#balancedAt < everyMs) return
    this.#balancedAt = now
    const { store } = this.#options
    const [text] = await store.notes([PLAN_NOTE])
    const note = noteFrom(text)
    if (note) adaptive.goOnWith(note)
    // A worker whose clock is ahead makes the steps, and the others none. But a clock that is wrong by days would keep all from theirs.
    const last = note && note.at <= now + AHEAD_MS_MAX ? note.at : now - everyMs
    const due = Math.floor((now - last) / everyMs)
    if (due < 1) return
    const [sample, { pages, perHour }] = await Promise.all([store.sample(SAMPLE_MAX), store.totals()])
    if (pages === 0) return
    makeSteps(adaptive, { due, sample, pages, perHour })
    const { price, mix } = adaptive.state
    const written = { price, mix: mix.map(shortly), at: last + due * everyMs }
    await store.note(new Map([[PLAN_NOTE, JSON.stringify(written)]]))
  }

  /** Adds when the page changed last, as far as its host's dates proved true: that of its sitemap, or its own. */
  #dated(
    page: { readonly fingerprint: string; readonly url: string },
    previous: Visit | undefined,
    outcome: VisitOutcome,
  ): VisitOutcome {
    const { kind, lastModifiedAt, contentHash } = outcome
    if (previous?.contentHash === undefined || (kind !== 'page' && kind !== 'same')) return outcome
    const changed = kind === 'page' && contentHash !== previous.contentHash
    const listed = this.sitemapDates?.visited(page, previous, changed)
    if (kind === 'page' && lastModifiedAt !== undefined)
      return this.#datedByItself(page.url, previous, { ...outcome, lastModifiedAt }, changed)
    return listed && changed && datesAreEvidence(listed.record)
      ? { ...outcome, changedAt: listed.changedAt }
      : outcome
  }

  #datedByItself(
    url: string,
    previous: Visit,
    outcome: VisitOutcome & { readonly lastModifiedAt: number },
    changed: boolean,
  ): VisitOutcome {
    const { lastModifiedAt } = outcome
    const { hosts } = this.#options
    const host = pageHost(url)
    const before = hosts.of(host).lastModified ?? NO_LASTMOD
    const record = withLastmod(before, lastModifiedAt > previous.visitedAt, changed)
    hosts.learn(host, { lastModified: record })
    return datesAreEvidence(record) ? { ...outcome, changedAt: lastModifiedAt } : outcome
  }
}

interface StepsDue {
  readonly due: number
  readonly sample: readonly { readonly evidence: ChangeEvidence }[]
  readonly pages: number
  readonly perHour: number
}

/** Makes the steps that are due, by what some pages have shown and by how many visits all of them ask for. */
export function makeSteps(plan: AdaptivePlan, { due, sample, pages, perHour }: StepsDue): void {
  const steps = Math.min(due, MAX_BALANCES_PER_LOOK)
  const evidence = sample.map((page) => page.evidence)
  for (let n = 0; n < Math.ceil(steps / BALANCES_PER_LESSON); n++) plan.learn(evidence)
  for (let n = 0; n < steps; n++) plan.balance(pages, perHour)
}

/** Undefined where there is none, or one that nobody can read: the plan is then learned anew. */
function noteFrom(text: string | undefined): (PlanState & { readonly at: number }) | undefined {
  const { price, mix, at } = fieldsOf(text)
  if (!isAmount(price) || !isAmount(at)) return undefined
  const isMix = Array.isArray(mix) && mix.length === RATES.length && mix.every(isAmount)
  return { price, at, mix: isMix ? (mix as number[]) : EVEN_SHARES }
}

function fieldsOf(text = ''): Readonly<Record<string, unknown>> {
  try {
    const note: unknown = JSON.parse(text)
    return typeof note === 'object' && note !== null ? { ...note } : {}
  } catch {
    return {}
  }
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function shortly(share: number): number {
  return Number(share.toPrecision(4))
}

/** A number in [0, 1) that is always the same for a page. */
function phaseOf(fingerprint: string): number {
  return Number.parseInt(hash('sha1', fingerprint).slice(0, 8), 16) / 2 ** 32
}
