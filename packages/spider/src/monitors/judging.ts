/**
 * What monitors find in a run. All of it follows from figures alone, so that every worker finds the same.
 *
 * While the run goes on, only what can be known before its end is judged: counts that are past their bound, time, and the latest items
 * (coverage.ts). At the end the whole run is judged by its shares as they are.
 */

import {
  type AlertSeen,
  countOf,
  type PastRun,
  type RunCheckpoint,
  type RunClock,
  type RunLook,
  type RunSeen,
} from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'
import { chanceOf } from './chance.ts'
import { latestCoverage, watchedFields, wholeCoverage } from './coverage.ts'
import type { Finding } from './finding.ts'
import { comparable, median } from './usual.ts'
import { grouped, percent, rounded } from './words.ts'

/** What earlier looks have noted. */
export interface Noted {
  readonly checkpoints: readonly RunCheckpoint[]
  readonly clock: RunClock
  readonly alerts: readonly AlertSeen[]
}

export interface Judgement {
  readonly findings: readonly Finding[]
  /** As `MonitorNotes.worst`, of what is seen now. */
  readonly worst: Readonly<Record<string, number>>
}

/** Found by chance about once in so many looks. */
const CHANCE = 1e-9
/** A share of statuses is judged before the end when there are so many responses. */
const RESPONSES_MIN = 100
/** Items a page are compared where there are so many pages that are new or have changed. */
const ITEM_PAGES_MIN = 20

/** Returns what fails while the run goes on. */
export function judgeNow(
  monitors: Monitors,
  look: RunLook,
  { checkpoints, clock, alerts }: Noted,
): Judgement {
  const latest = latestCoverage(monitors, look, checkpoints, alerts)
  return {
    findings: [
      ...tooMuch(monitors, look),
      ...tooLong(monitors, look, clock),
      ...noItems(monitors, clock),
      ...statuses(monitors, look, false),
      ...latest.findings,
    ],
    worst: latest.worst,
  }
}

/** Returns what fails in a run that has ended. */
export function judgeEnd(monitors: Monitors, look: RunLook, clock: RunClock): Finding[] {
  return [
    ...tooMuch(monitors, look),
    ...tooLong(monitors, look, clock),
    ...tooFew(monitors, look, clock),
    ...badEnd(monitors, look),
    ...statuses(monitors, look, true),
    ...wholeCoverage(monitors, look),
  ]
}

/** Returns how the run stands, for later looks. */
export function checkpointOf(monitors: Monitors, { run, past, atMs }: RunLook): RunCheckpoint {
  const fields = watchedFields(monitors, past).map((field) => [field, countOf(run.fields, field) ?? 0])
  return { atMs, items: run.items, fields: Object.fromEntries(fields) }
}

/** Adds a checkpoint; of older ones every second goes when they are many, so that slow crawls have long stretches, too. */
export function withCheckpoint(
  checkpoints: readonly RunCheckpoint[],
  checkpoint: RunCheckpoint,
  max: number,
): RunCheckpoint[] {
  const all = [...checkpoints, checkpoint]
  if (all.length <= max) return all
  const half = Math.floor(max / 2)
  return all.filter((_, n) => n % 2 === 0 || n >= half)
}

function tooMuch(monitors: Monitors, { run }: RunLook): Finding[] {
  const counts = [
    ['errors', run.errors, 'ERROR lines in the log'],
    ['warnings', run.warnings ?? 0, 'WARNING lines in the log'],
    ['criticals', run.criticals ?? 0, 'CRITICAL lines in the log'],
    ['exceptions', run.exceptions ?? 0, 'downloads without an answer'],
    ['retries', run.exhausted ?? 0, 'requests given up after all their tries'],
    ['requests', run.requests, 'requests'],
    ['invalidItems', run.invalid ?? 0, 'items that do not fit their schema'],
  ] as const
  return counts.flatMap(([key, count, what]) => {
    const max = monitors[key]
    return max !== undefined && count > max
      ? [{ id: key, words: `${grouped(count)} ${what}; at most ${grouped(max)} are allowed` }]
      : []
  })
}

function tooLong({ maxMinutes }: Monitors, { run }: RunLook, { ranMs }: RunClock): Finding[] {
  const minutes = ranMs / 60_000
  if (maxMinutes === undefined || minutes <= maxMinutes) return []
  const verb = run.endedAt ? 'took' : 'has taken'
  return [
    {
      id: 'maxMinutes',
      words: `the run ${verb} ${rounded(minutes)} minutes; at most ${rounded(maxMinutes)} are allowed`,
    },
  ]
}

function noItems({ items }: Monitors, { quietMs }: RunClock): Finding[] {
  const every = items?.everyMinutes
  const minutes = quietMs / 60_000
  if (every === undefined || minutes < every) return []
  return [
    {
      id: 'items/everyMinutes',
      words: `no item has come for ${rounded(minutes)} minutes; at most ${rounded(every)} are allowed`,
    },
  ]
}

/** What a run has lost with its process, whose pace may have been twice the usual one just then. */
function missedAtMost(count: number, { mayMiss }: RunSeen, { ranMs }: RunClock): number {
  if (!mayMiss) return 0
  const perSecond = count / Math.max(ranMs / 1000, 1)
  return Math.ceil(2 * perSecond * mayMiss.seconds)
}

function tooFew({ items, successes }: Monitors, { run, past }: RunLook, clock: RunClock): Finding[] {
  const found: Finding[] = []
  // Of items that may be there nobody is told that they are missing.
  const most = (count: number) => count + missedAtMost(count, run, clock)
  if (items?.min !== undefined && run.itemPages === undefined && most(run.items) < items.min)
    found.push({
      id: 'items/min',
      words: `${grouped(run.items)} items; at least ${grouped(items.min)} are expected`,
    })
  const good = run.statuses['200'] ?? 0
  if (successes !== undefined && most(good) < successes)
    found.push({
      id: 'successes',
      words: `${grouped(good)} responses with status 200; at least ${grouped(successes)} are expected`,
    })
  if (items?.drop === undefined) return found
  if (run.itemPages !== undefined) return [...found, ...fewerPerPage(items.drop, run, past)]
  const whole = past.filter(({ itemPages }) => itemPages === undefined)
  const before = comparable(whole, 'items/drop', 'items/min').map((one) => one.items)
  if (before.length === 0) return found
  const usual = median(before)
  const least = Math.min(...before)
  if (most(run.items) < usual * (1 - items.drop) && most(run.items) < least)
    found.push({
      id: 'items/drop',
      words: `${grouped(run.items)} items, ${percent(1 - run.items / usual)} fewer than usual (${grouped(usual)}); a drop of ${percent(items.drop)} is allowed, and the fewest of the last ${before.length} runs were ${grouped(least)}`,
    })
  return found
}

/**
 * The items of each page that is new or has changed. A first run is another mix of pages: it is compared with no other. Of few pages
 * nothing follows.
 */
function fewerPerPage(drop: number, run: RunSeen, past: readonly PastRun[]): Finding[] {
  if (!isJudgedPerPage(run)) return []
  const perPage = ({ items, itemPages }: RunSeen) => items / itemPages!
  const before = comparable(past.filter(isJudgedPerPage), 'items/drop', 'items/min').map(perPage)
  if (before.length === 0) return []
  const [now, usual, least] = [perPage(run), median(before), Math.min(...before)]
  if (now >= usual * (1 - drop) || now >= least) return []
  return [
    {
      id: 'items/drop',
      words: `${rounded(now)} items a page that is new or has changed, ${percent(1 - now / usual)} fewer than usual (${rounded(usual)}); a drop of ${percent(drop)} is allowed, and the fewest of the last ${before.length} runs were ${rounded(least)}`,
    },
  ]
}

function isJudgedPerPage({ itemPages = 0 }: RunSeen): boolean {
  return itemPages >= ITEM_PAGES_MIN
}

function badEnd({ finishReasons }: Monitors, { run }: RunLook): Finding[] {
  const reason = run.finishReason ?? run.state
  if (finishReasons === undefined || finishReasons.includes(reason)) return []
  return [
    { id: 'finishReasons', words: `the run ended with ${reason}; expected ${finishReasons.join(' or ')}` },
  ]
}

function statuses(monitors: Monitors, { run }: RunLook, hasEnded: boolean): Finding[] {
  const all = Object.values(run.statuses).reduce((sum, count) => sum + count, 0)
  return Object.entries(monitors.statuses ?? {}).flatMap(([status, bound]) => {
    if (bound === undefined) return []
    const { max, share } = typeof bound === 'number' ? { max: bound, share: undefined } : bound
    const count = countOfStatus(status, run.statuses)
    const id = `statuses/${status}`
    if (max !== undefined && count > max)
      return [
        {
          id,
          words: `${grouped(count)} responses with status ${status}; at most ${grouped(max)} are allowed`,
        },
      ]
    if (share === undefined || all === 0 || count / all <= share || (!hasEnded && all < RESPONSES_MIN))
      return []
    if (!hasEnded && chanceOf(all - count, all, 1 - share) > CHANCE) return []
    return [
      {
        id,
        words: `${percent(count / all)} of ${grouped(all)} responses have status ${status}; at most ${percent(share)} are allowed`,
      },
    ]
  })
}

/** Returns how many responses had this status, or one of this class (`4xx`). */
function countOfStatus(status: string, counts: Readonly<Record<string, number>>): number {
  if (!status.endsWith('xx')) return counts[status] ?? 0
  const ofClass = Object.entries(counts).filter(([one]) => one.length === 3 && one[0] === status[0])
  return ofClass.reduce((sum, [, count]) => sum + count, 0)
}
