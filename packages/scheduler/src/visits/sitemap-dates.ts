/**
 * What sitemaps say of when pages changed (`lastmod`), until their next visits: it may bring these forward or put them off, and each visit shows
 * whether it was true. It is kept in this process: another worker that visits the page learns nothing by it.
 *
 *     visit now      the page has changed since its last visit; not sooner than is allowed. A host that has proved nothing yet is
 *                    believed for a few pages only: many write today's date beside each page
 *     wait longer    it has not changed until now, so it is looked at as long after now as it would have been after its last visit
 */

import { type DateRecord, HOUR_MS, type KnownHosts, pageHost, type Visit } from '@webloom/core'
import { changeProofs, lastmodAdvice, NO_LASTMOD, withLastmod } from './lastmod-trust.ts'

/** When a page changed last, in milliseconds since 1970: a moment, or a day of which it is not said when. */
export interface ChangedWithin {
  readonly fromMs: number
  readonly toMs: number
}

export interface SitemapDatesOptions {
  readonly hosts: KnownHosts
  readonly minHours: number
  readonly maxHours: number
}

const DAY_MS = 24 * HOUR_MS
const DAY_ALONE = /^\d{4}-\d\d-\d\d$/
const PAGES_MAX = 50_000
/** Pages of a host that are visited on its word before that has proved anything. */
const TRIALS_MAX = 10
const PROOFS_MIN = 10
/** Only pages that are due before long are put off: otherwise each look at a sitemap would write all of its pages anew. */
const PUT_OFF_SHARE = 1 / 2

export class SitemapDates {
  readonly #options: SitemapDatesOptions
  /** By fingerprint. */
  readonly #said = new Map<string, ChangedWithin>()
  readonly #trials = new Map<string, number>()

  constructor(options: SitemapDatesOptions) {
    this.#options = options
  }

  /** Resolves to when the page is due now that its sitemap says so; undefined when nothing follows from it. */
  heard(
    page: { readonly fingerprint: string; readonly url: string },
    visit: Visit,
    said: ChangedWithin,
    now: number,
  ): number | undefined {
    if (visit.contentHash === undefined || visit.failures > 0 || visit.goneAnswers > 0) return undefined
    this.#remember(page.fingerprint, said)
    const host = pageHost(page.url)
    const record = this.#options.hosts.of(host).lastmod ?? NO_LASTMOD
    const changed = claim(said, visit.visitedAt)
    if (changed === undefined) return undefined
    const advice = lastmodAdvice(record, changed)
    if (advice === 'visit now') return this.#broughtForward(host, record, visit, now)
    if (advice === 'wait longer') return this.#putOff(visit, now)
    return undefined
  }

  /**
   * Called with each visit of a page that is known: learns whether its date was true.
   *
   * @returns when the page changed, where its host's dates are evidence of that
   */
  visited(
    page: { readonly fingerprint: string; readonly url: string },
    previous: Visit,
    changed: boolean,
  ): { readonly changedAt: number; readonly record: DateRecord } | undefined {
    const said = this.#said.get(page.fingerprint)
    if (!said) return undefined
    this.#said.delete(page.fingerprint)
    const claimed = claim(said, previous.visitedAt)
    if (claimed === undefined) return undefined
    const { hosts } = this.#options
    const host = pageHost(page.url)
    const record = withLastmod(hosts.of(host).lastmod ?? NO_LASTMOD, claimed, changed)
    hosts.learn(host, { lastmod: record })
    return { changedAt: said.fromMs, record }
  }

  #broughtForward(host: string, record: DateRecord, visit: Visit, now: number): number | undefined {
    const dueAt = Math.max(now, visit.visitedAt + this.#options.minHours * HOUR_MS)
    if (dueAt >= visit.dueAt) return undefined
    if (changeProofs(record) >= PROOFS_MIN) return dueAt
    const trials = this.#trials.get(host) ?? 0
    if (trials >= TRIALS_MAX) return undefined
    this.#trials.set(host, trials + 1)
    return dueAt
  }

  #putOff({ visitedAt, dueAt }: Visit, now: number): number | undefined {
    const intervalMs = dueAt - visitedAt
    // What is due has gone into a line.
    if (dueAt <= now || dueAt - now > intervalMs * PUT_OFF_SHARE) return undefined
    const later = Math.min(now + intervalMs, visitedAt + this.#options.maxHours * HOUR_MS)
    return later > dueAt ? later : undefined
  }

  #remember(fingerprint: string, said: ChangedWithin): void {
    const [oldest] = this.#said.keys()
    if (oldest !== undefined && this.#said.size >= PAGES_MAX) this.#said.delete(oldest)
    this.#said.set(fingerprint, said)
  }
}

/** Reads a `lastmod`: a moment, or a day. Undefined for what is no date, or is still to come. */
export function changedWithin(lastmod: unknown, now: number): ChangedWithin | undefined {
  if (typeof lastmod !== 'string') return undefined
  const fromMs = Date.parse(lastmod.trim())
  if (Number.isNaN(fromMs) || fromMs > now) return undefined
  return { fromMs, toMs: DAY_ALONE.test(lastmod.trim()) ? fromMs + DAY_MS : fromMs }
}

/** Whether the page has changed since its last visit, as it says; undefined for a visit on the day of which it speaks. */
function claim({ fromMs, toMs }: ChangedWithin, visitedAt: number): boolean | undefined {
  if (fromMs > visitedAt) return true
  return toMs <= visitedAt ? false : undefined
}
