/**
 * When the pages of a crawl are visited again (RECRAWL). What pages need to know of each other is learned from a sample of them, and kept as a
 * note beside their visits, so that the next run goes on with it.
 */

import { hash } from 'node:crypto'
import {
  type KnownHosts,
  pageHost,
  type Visit,
  type VisitMade,
  type VisitOutcome,
  type VisitRules,
  type VisitStore,
} from '@webloom/core'
import { AdaptivePlan } from './adaptive-plan.ts'
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

const HOUR_MS = 3_600_000
const PLAN_NOTE = 'plan'
const SAMPLE_MAX = 1024
/** The plan is balanced so often in the time in which each page is visited once. */
const BALANCES_PER_ROUND = 50
const BALANCE_MS_MIN = 10_000
/** Of a crawl that did not run meanwhile, no more are made up: the pages' intervals do not follow before they are visited. */
const BALANCES_AT_ONCE = 10

export class VisitPlanner implements VisitRules {
  readonly #options: VisitPlannerOptions
  readonly #adaptive: AdaptivePlan | undefined
  readonly #plan: VisitPlan
  /** Of RECRAWL=adaptive: what else says when pages change. */
  readonly sitemapDates: SitemapDates | undefined
  #balancedAt = 0

  constructor(options: VisitPlannerOptions) {
    this.#options = options
    const { kind, meanHours, minHours, maxHours } = options
    this.#adaptive = kind === 'adaptive' ? new AdaptivePlan({ meanHours, minHours, maxHours }) : undefined
    this.sitemapDates = this.#adaptive && new SitemapDates({ hosts: options.hosts, minHours, maxHours })
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

  visited(
    page: { readonly fingerprint: string; readonly url: string },
    previous: Visit | undefined,
    outcome: VisitOutcome,
  ): VisitMade {
    return visitMade(previous, this.#dated(page, previous, outcome), {
      plan: this.#plan,
      bounds: { maxHours: this.#options.maxHours },
      place: placeOf(page.fingerprint),
    })
  }

  /** Adapts the plan to what all pages have shown, when it is time to. Called as often as one likes. */
  async balance(now = Date.now()): Promise<void> {
    const adaptive = this.#adaptive
    const everyMs = Math.max(BALANCE_MS_MIN, (this.#options.meanHours * HOUR_MS) / BALANCES_PER_ROUND)
    if (!adaptive || now - this.#balancedAt < everyMs) return
    const isFirst = this.#balancedAt === 0
    this.#balancedAt = now
    const { store } = this.#options
    const [note] = await store.notes([PLAN_NOTE])
    const { price, at } = noteFrom(note)
    if (isFirst && price !== undefined) adaptive.price = price
    const [sample, { pages, perHour }] = await Promise.all([store.sample(SAMPLE_MAX), store.totals()])
    if (pages === 0) return
    adaptive.learn(sample.map(({ evidence }) => evidence))
    const missed = at === undefined ? 1 : Math.floor((now - at) / everyMs)
    for (let n = 0; n < Math.min(missed, BALANCES_AT_ONCE); n++) adaptive.balance(pages, perHour)
    await store.note(new Map([[PLAN_NOTE, JSON.stringify({ price: adaptive.price, at: now })]]))
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

function noteFrom(text: string | undefined): { readonly price?: number; readonly at?: number } {
  if (text === undefined) return {}
  const { price, at } = JSON.parse(text) as { price?: unknown; at?: unknown }
  return typeof price === 'number' && price > 0 && typeof at === 'number' ? { price, at } : {}
}

/** A number in [0, 1) that is always the same for a page. */
function placeOf(fingerprint: string): number {
  return Number.parseInt(hash('sha1', fingerprint).slice(0, 8), 16) / 2 ** 32
}
