/**
 * What is true of a crawl that is over, by the site's own log and by Redis itself, never by the workers' counters.
 *
 * Guarantee 1 says what may be fetched twice: the pages that a lost worker held, and the new links of those that it had
 * just handed on; for a Redis that went back, what its lost second held. So each fault that struck allows certain pages
 * one fetch more, and any page that was fetched more often than all of them together allow is a fault of ours. A page that
 * stands in the queue twice for such a reason, and is with two workers at one moment, may give its links twice.
 */

import type { Hit } from '@webloom/testkit'
import { lengthOf } from './world-machine.ts'
import type { Fault, WorldPlan } from './world-plan.ts'
import { type Remains, remainsOf, someOf, stateOf } from './world-remains.ts'
import type { WorldServers } from './world-servers.ts'
import type { Site } from './world-site.ts'
import type { Span, WorkerEnd } from './world-workers.ts'

/** A fault that has struck. */
export interface Struck {
  readonly fault: Fault
  /** Whoever sent the command of its point. */
  readonly worker: string
  readonly fromMs: number
  untilMs: number
  failed?: Error
}

export interface WorldVerdict {
  /** Empty when all is well. */
  readonly wrong: readonly string[]
  /** Pages that were never fetched, or too often. */
  readonly blamed: readonly string[]
  /** When the first of them was fetched and by whom, and the pages that link to it. */
  readonly hits: readonly string[]
  readonly pages: number
  readonly repeats: number
  /** How many fetches more the faults allowed. */
  readonly allowed: number
  readonly struck: readonly string[]
  /** Faults whose point never came. */
  readonly missed: readonly string[]
}

export interface Evidence {
  readonly plan: WorldPlan
  readonly site: Site
  readonly servers: WorldServers
  readonly struck: readonly Struck[]
  readonly missed: readonly Fault[]
  readonly isStuck: boolean
  readonly ends: readonly { readonly name: string; readonly end: WorkerEnd | undefined }[]
  /** When a worker could not run, or its commands could not pass: the machine was busy, or it was stopped. */
  readonly stoodStill: readonly { readonly name: string; readonly spans: readonly Span[] }[]
}

/** Of a worker that stood still: what it was about to ask for when it was stopped may reach the site so much after it goes on. */
const WAKING_MS = 250

/** How long what is judged may take, with the plan's times of the protocol. */
function timesOf({ factor }: WorldPlan) {
  return {
    /** How long after a page was fetched its worker may still hold it, or have handed its links on only just now. */
    handingOnMs: 1000 * factor + 250,
    /** After Redis is back: two renewals, in which what is nobody's is found, and what was taken before may still be fetched. */
    foundMs: 4000 * factor + 500,
    lockMs: 6000 * factor,
    /** What was queued so short a time before the queue's Redis began another run may have been lost with the run before. */
    lostCommitMs: 20_000 * factor,
  }
}

export async function judged(evidence: Evidence): Promise<WorldVerdict> {
  const { struck, missed, isStuck } = evidence
  const { web, visited } = evidence.site
  const hits = [...web.hits, ...(visited?.hits ?? [])].filter(({ status }) => status < 500)
  const counts = countsOf(hits)
  const allowance = allowanceOf(evidence, hits)
  const tooOften = [...counts].filter(([url, count]) => count > 1 + (allowance.get(url) ?? 0))
  // A visit that Redis has lost whole says so, and ends with an error.
  const isVisited = visited && visited.hits.length > 0 && !hasLostItsBeginning(evidence, 'others')
  const linked = [...web.linked(), ...(isVisited ? visited.linked() : [])]
  const missing = isStuck ? [] : linked.filter((url) => !counts.has(url))
  const wrong = [
    ...(isStuck
      ? [`it never ends: ${counts.size} of ${web.linked().size} pages; ${await stateOf(evidence.servers)}`]
      : []),
    ...struck
      .filter(({ failed }) => failed)
      .map(({ fault, failed }) => `${fault.kind} failed: ${failed!.message}`),
    ...evidence.ends.flatMap((one) => badEnd(one, evidence)),
    ...(missing.length > 0 ? [`${missing.length} pages were never fetched: ${someOf(missing)}`] : []),
    ...(tooOften.length > 0
      ? [
          `${tooOften.length} pages were fetched too often: ${someOf(tooOften.map(([url, n]) => `${url} ${n}`))}`,
        ]
      : []),
    ...(isStuck ? [] : await remainsOf(remaining(evidence))),
  ]
  const blamed = [...missing, ...tooOften.map(([url]) => url)]
  return {
    wrong,
    blamed,
    hits: blamed.slice(0, 1).flatMap((url) => hitsAround(url, evidence, hits)),
    pages: counts.size,
    repeats: [...counts.values()].reduce((sum, count) => sum + count - 1, 0),
    allowed: [...allowance.values()].reduce((sum, more) => sum + more, 0),
    struck: struck.map(shown),
    missed: missed.map(({ kind, at }) => `${kind} at ${at.name} ${at.nth}`),
  }
}

function hitsAround(url: string, { site }: Evidence, hits: readonly Hit[]): string[] {
  return hits
    .filter((hit) => hit.url === url || site.linksOf(hit.url).includes(url))
    .map(({ url: page, atMs, endedAtMs, headers }) => {
      const span = `${Math.round(atMs)} to ${endedAtMs === undefined ? 'never' : Math.round(endedAtMs)} ms`
      return `${page === url ? 'fetched' : `linked from ${page}`}: ${span}, by ${headers['user-agent']}`
    })
}

function countsOf(hits: readonly Hit[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { url } of hits) counts.set(url, (counts.get(url) ?? 0) + 1)
  return counts
}

/** By page, how many fetches more the faults allow. */
function allowanceOf(
  { plan, site, struck, stoodStill }: Evidence,
  hits: readonly Hit[],
): Map<string, number> {
  const { handingOnMs, foundMs, lockMs, lostCommitMs } = timesOf(plan)
  const allowance = new Map<string, number>()
  const names = new Set(hits.map(({ headers }) => headers['user-agent'] ?? ''))
  const inOrder = [...struck].sort((a, b) => a.fromMs - b.fromMs)
  const allow = (urls: Iterable<string>, more = 1) => {
    for (const url of urls) allowance.set(url, (allowance.get(url) ?? 0) + more)
  }
  const withLinks = (some: readonly Hit[]) => new Set(some.flatMap(({ url }) => [url, ...site.linksOf(url)]))
  // They go past the filter, and one that a page has linked before start() yields it is fetched for both.
  allow(site.web.seeds, plan.isShared ? 3 : 1)
  // Each visit begins anew, and may forget what the last one has met.
  if (site.visited)
    for (const { fault } of struck)
      if (fault.kind === 'visit') allow([...site.visited.linked(), ...site.visited.seeds])
  /**
   * What was fetched from then on may be held at that moment. A page is not handed on while one of the servers is away, and
   * the later for each reply that is late or lost, and for each moment in which the machine did not let its worker run.
   */
  const heldSince = (ms: number, stood: readonly Span[] = []) => {
    let sinceMs = ms - handingOnMs
    for (const span of [...stood].sort((a, b) => b.fromMs - a.fromMs))
      if (span.fromMs < ms && span.untilMs > sinceMs) sinceMs -= Math.min(ms, span.untilMs) - span.fromMs
    for (const { fault, fromMs, untilMs } of [...inOrder].reverse())
      if (holdsUp(fault) && fromMs < ms && untilMs + againMs(fault) > sinceMs)
        sinceMs = Math.min(sinceMs, fromMs - handingOnMs)
    return sinceMs
  }
  const stoodOf = (worker: string) => stoodStill.find(({ name }) => name === worker)?.spans
  /** A page that it held may also be a new link of another that it had handed on, and not settled. */
  const lost = (name: string, fromMs: number, untilMs = fromMs) => {
    const near = hits.filter(
      (hit) => isBy(hit, name) && isDuring(hit, heldSince(fromMs, stoodOf(name)), untilMs),
    )
    allow(new Set(near.map(({ url }) => url)))
    allow(new Set(near.flatMap(({ url }) => site.linksOf(url))))
  }
  // A page that stands in the queue more than once does so in what comes back, each of them to be fetched again.
  const double = (urls: Iterable<string>) => {
    for (const url of urls) allowance.set(url, 2 * (allowance.get(url) ?? 0) + 1)
  }
  const wentBack = (fromMs: number, untilMs: number) => {
    const near = [...names].flatMap((name) => {
      const sinceMs = heldSince(fromMs, stoodOf(name))
      return hits.filter((hit) => isBy(hit, name) && isDuring(hit, sinceMs, untilMs + foundMs))
    })
    const others = struck.filter(({ fault }) => goesBack(fault)).length > 1
    if (plan.servers === 2 && !others) return double(withLinks(near))
    // Queue and filter went back together, or one soon after the other: a page stands in the queue again, and who told the filter that it had queued the links
    // of another page is not heard of, so what that page links to is new once more. A page may be both.
    double(new Set(near.map(({ url }) => url)))
    allow(new Set(near.flatMap(({ url }) => site.linksOf(url))))
  }
  for (const hit of hits)
    if (hits.some((other) => other.url === hit.url && isBeside(other, hit, handingOnMs)))
      allow(site.linksOf(hit.url))
  // The machine was busy for so much of a lock that it was not renewed in time: to the others that worker was lost.
  for (const { name, spans } of stoodStill)
    for (const { fromMs, untilMs } of longOf(spans, lockMs)) lost(name, fromMs, untilMs + WAKING_MS)
  for (const { fault, worker, fromMs, untilMs } of inOrder) {
    // What it had asked for by then may reach the site a moment later.
    if (fault.kind === 'kill') lost(worker, fromMs, untilMs)
    else if (fault.kind === 'pause' || fault.kind === 'silence') lost(worker, fromMs, untilMs + WAKING_MS)
    else if (fault.kind === 'restart cluster') for (const name of names) lost(name, fromMs, untilMs)
    else if (goesBack(fault)) wentBack(fromMs, untilMs)
    // A page whose links find no room for so long goes back, and is fetched again.
    else if (fault.kind === 'full' || fault.kind === 'refuse')
      allow(
        new Set(hits.filter((hit) => isDuring(hit, fromMs - handingOnMs, untilMs)).map(({ url }) => url)),
        2,
      )
  }
  // A page that stands in the queue twice is told that its links are new once more when the queue's Redis has begun another run
  // meanwhile: that may have lost what it has queued.
  for (const { fault, fromMs } of inOrder)
    if (beginsAnotherRun(fault, plan))
      allow(new Set(ranBeforeAndAfter(fromMs, hits, lostCommitMs).flatMap((url) => site.linksOf(url))))
  return allowance
}

/** Of the queue's Redis, which may be the filter's, too. */
function beginsAnotherRun(fault: Fault, { servers }: WorldPlan): boolean {
  const isOfRedis = fault.kind === 'restart redis' || goesBack(fault)
  return isOfRedis && (servers === 1 || ('role' in fault && fault.role !== 'filter'))
}

function ranBeforeAndAfter(ms: number, hits: readonly Hit[], lostCommitMs: number): string[] {
  const before = new Set(hits.filter((hit) => isDuring(hit, ms - lostCommitMs, ms)).map(({ url }) => url))
  return hits.filter(({ url, atMs }) => atMs > ms && before.has(url)).map(({ url }) => url)
}

/** Stretches of a lock's length, of which the worker could not run for half: a renewal comes due in a third of a lock. */
function longOf(spans: readonly Span[], lockMs: number): Span[] {
  const long: { fromMs: number; untilMs: number }[] = []
  for (const { fromMs } of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const near = spans.filter((span) => span.untilMs > fromMs && span.fromMs < fromMs + lockMs)
    if (lengthOf(near) <= lockMs / 2) continue
    const untilMs = Math.max(...near.map((span) => span.untilMs))
    const last = long.at(-1)
    if (last && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs)
    else long.push({ fromMs, untilMs })
  }
  return long
}

/**
 * Nothing was asked for by a spider's workers since a Redis went back: they had ended the crawl, and nobody is left to end the
 * one that the older state still has. The next worker would.
 */
function hasLostItsEnd({ struck, site }: Evidence, spider: string): boolean {
  const hits = hitsOf(site, spider)
  return struck.some(({ fault, untilMs }) => goesBack(fault) && hits.every(({ atMs }) => atMs < untilMs))
}

/** Workers were lost when every page had been fetched: perhaps the one that would have tidied up, between the end and its leaving. */
function hasLostItsTidier({ struck, site }: Evidence, spider: string): boolean {
  const hits = hitsOf(site, spider)
  return struck.some(
    ({ fault, fromMs }) =>
      (fault.kind === 'kill' || fault.kind === 'restart cluster') && hits.every(({ atMs }) => atMs < fromMs),
  )
}

/** What is judged of what Redis still has. */
function remaining(evidence: Evidence): Remains {
  const { plan, servers, struck, site, stoodStill } = evidence
  const { lockMs } = timesOf(plan)
  const isVisited = site.visited && site.visited.hits.length > 0
  const spiders = plan.isShared && (!site.visited || isVisited) ? ['pages', 'others'] : ['pages']
  return {
    servers,
    spiders,
    isShared: plan.isShared,
    cutOff: spiders.filter(
      (spider) =>
        hasLostItsEnd(evidence, spider) ||
        hasLostItsTidier(evidence, spider) ||
        hasLostItsBeginning(evidence, spider),
    ),
    wasSilent:
      struck.some(({ fault }) => fault.kind === 'pause' || fault.kind === 'silence') ||
      stoodStill.some(({ spans }) => longOf(spans, lockMs).length > 0),
    mayHaveGoneBack: struck.some(({ fault }) => fault.kind === 'restart redis' || goesBack(fault)),
  }
}

function holdsUp({ kind }: Fault): boolean {
  return kind !== 'jump' && kind !== 'visit' && kind !== 'kill' && kind !== 'restart cluster'
}

/** How long a command may take to be sent again after its connection was cut. */
const AGAIN_MS = 500

function againMs(fault: Fault): number {
  if (fault.kind === 'lose replies') return fault.times * AGAIN_MS
  return fault.kind === 'cut before' ? AGAIN_MS : 0
}

function goesBack({ kind }: Fault): boolean {
  return kind === 'set back' || kind === 'promote replica'
}

function isBy({ headers }: Hit, name: string): boolean {
  return headers['user-agent'] === name
}

/** Two workers had the page at one moment, and this one came second. */
function isBeside(first: Hit, second: Hit, handingOnMs: number): boolean {
  const untilMs = (first.endedAtMs ?? Number.POSITIVE_INFINITY) + handingOnMs
  return (
    first.headers['user-agent'] !== second.headers['user-agent'] &&
    first.atMs < second.atMs &&
    second.atMs < untilMs
  )
}

function isDuring(
  { atMs, endedAtMs = Number.POSITIVE_INFINITY }: Hit,
  fromMs: number,
  untilMs: number,
): boolean {
  return atMs <= untilMs && endedAtMs >= fromMs
}

function badEnd(
  { name, end }: { readonly name: string; readonly end: WorkerEnd | undefined },
  evidence: Evidence,
): string[] {
  if (!end || 'killed' in end) return []
  if ('failed' in end) return [`${name} failed: ${end.failed}`]
  if (end.reason === 'finished') return []
  if (end.reason === 'crawl_lost' && hasLostItsBeginning(evidence, spiderOf(name))) return []
  return [`${name} ended as ${end.reason}`]
}

function spiderOf(worker: string): string {
  return worker.slice(0, worker.lastIndexOf('-'))
}

/** Its workers had asked for nothing yet when a Redis was as old as it then became: the older state has no such crawl. */
function hasLostItsBeginning({ struck, site }: Evidence, spider: string): boolean {
  const hits = hitsOf(site, spider)
  return struck.some(
    ({ fault, fromMs }) => goesBack(fault) && hits.every(({ atMs }) => atMs > fromMs - lostMs(fault)),
  )
}

function lostMs(fault: Fault): number {
  if (fault.kind === 'set back') return fault.byMs
  return fault.kind === 'promote replica' ? fault.lagMs : 0
}

function hitsOf({ web, visited }: Site, spider: string): Hit[] {
  const hits = [...web.hits, ...(visited?.hits ?? [])]
  return hits.filter(({ headers }) => spiderOf(headers['user-agent'] ?? '') === spider)
}

function shown({ fault, worker, fromMs, untilMs }: Struck): string {
  const { kind, at, ...rest } = fault
  const what = Object.entries(rest).map(([name, value]) => `${name} ${value}`)
  return `${kind} (${what.join(', ')}) of ${worker} at ${at.name} ${at.nth}, ${Math.round(fromMs)} to ${Math.round(untilMs)} ms`
}
