/**
 * What links say of pages that were visited: a date, or that a page is there again. Pages that are gone or that fail wait longer and longer. A link
 * on a page that has changed shows that somebody believes in such a page, so it is visited at once, and asked for as that link says; once in
 * RECRAWL_INTERVAL at the most, as lists lead to dead pages for months.
 */

import {
  type AskedPage,
  type Fingerprinter,
  type KeptVisits,
  type KnownHosts,
  pageHost,
  type Request,
  type StatsCollector,
} from '@webloom/core'
import { changedWithin } from '../sitemap-dates.ts'
import type { VisitPlanner } from '../visit-planner.ts'
import { type KnownPage, knownAmong } from './known-pages.ts'

export interface KnownLinksOptions {
  readonly visits: KeptVisits
  readonly fingerprinter: Fingerprinter
  readonly planner: VisitPlanner
  readonly hosts: KnownHosts
  readonly stats: StatsCollector
  /** How much earlier than at its hour a page may be visited, milliseconds. */
  readonly earlyMs: number
}

type KnownPages = ReadonlyMap<Request, KnownPage>

const MINUTE_MS = 60_000

export class KnownLinks {
  readonly #options: KnownLinksOptions

  constructor(options: KnownLinksOptions) {
    this.#options = options
  }

  /** Takes the dates off links, so that they do not weigh on those that are queued, and moves the pages of which they speak. */
  async readDates(links: readonly Request[]): Promise<void> {
    const dated = links.flatMap((request) => {
      if (!request.hasMeta || request.meta.lastmod === undefined) return []
      const { lastmod, ...meta } = request.meta
      request.meta = meta
      const said = changedWithin(lastmod, Date.now())
      return said ? [{ request, said }] : []
    })
    const { planner, hosts } = this.#options
    const { sitemapDates } = planner
    if (dated.length === 0 || !sitemapDates) return
    const known = await this.#known(dated.map(({ request }) => request))
    await hosts.meet([...known.keys()].map(({ url }) => pageHost(url)))
    const now = Date.now()
    const moved = dated.flatMap(({ request, said }) => {
      const { fingerprint, visit } = known.get(request) ?? {}
      if (fingerprint === undefined || !visit) return []
      const dueAt = sitemapDates.heard({ fingerprint, url: request.url }, visit, said, now)
      return dueAt === undefined ? [] : [{ fingerprint, request, dueAt, isSooner: dueAt < visit.dueAt }]
    })
    await this.#move(moved)
  }

  /** Called with the links of a page that has changed: makes pages due that are gone or fail. */
  async leadBack(links: readonly Request[]): Promise<void> {
    const { visits, stats } = this.#options
    const known = await this.#known(links.filter(isOfSchedule))
    const now = Date.now()
    const back = this.#troubledAmong(known, now)
    if (back.length === 0) return
    await visits.reschedule(back, now)
    stats.inc('recrawl/led_back_count', back.length)
  }

  #troubledAmong(known: KnownPages, now: number): AskedPage[] {
    const { planner, earlyMs } = this.#options
    const soon = now + earlyMs
    return [...known].flatMap(([request, { fingerprint, visit }]) => {
      const isTroubled = visit.failures > 0 || visit.goneAnswers > 0
      const waits = !visit.isInALine && visit.dueAt > soon && visit.visitedAt + planner.startMs <= soon
      return isTroubled && waits ? [{ fingerprint, request }] : []
    })
  }

  /** A call for each minute in which pages are due. */
  async #move(pages: readonly (AskedPage & { readonly dueAt: number; readonly isSooner: boolean })[]) {
    const { visits, stats } = this.#options
    const sooner = pages.filter(({ isSooner }) => isSooner).length
    if (sooner > 0) stats.inc('recrawl/lastmod_sooner_count', sooner)
    if (sooner < pages.length) stats.inc('recrawl/lastmod_later_count', pages.length - sooner)
    const byMinute = Map.groupBy(pages, ({ dueAt }) => Math.ceil(dueAt / MINUTE_MS))
    for (const [minute, some] of byMinute) await visits.reschedule(some, minute * MINUTE_MS)
  }

  #known(requests: readonly Request[]) {
    return knownAmong(requests, this.#options)
  }
}

/** A link that goes past the filter is followed anyway, and one with `recrawl: false` is none of the schedule. */
function isOfSchedule({ dontFilter, hasMeta, meta }: Request): boolean {
  return !dontFilter && !(hasMeta && meta.recrawl === false)
}
