/**
 * What monitors find in a run. All of it follows from figures alone, so that every worker finds the same.
 *
 * While the run goes on, only what can be known before its end is judged: counts that are past their bound, time, and the latest items.
 *
 *     marks  ──────────●───────●───────●───────● now       items and fields at earlier looks
 *                              └─ these items ─┘           is the share of them with `price` below the bound, and not by chance?
 *
 * A layout that changes in the middle of a run shows in its latest items at once, and in the whole of them late. "Not by chance": if the
 * share were the bound, so few of them would come about once in 10 ** 9 looks. Ten items without a price tell of 0.95; four of ten do not.
 * At the end the whole run is judged by its share as it is.
 */

import type { RunLook, RunMark, RunSeen } from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'

/** What is wrong, and what names it: of one id a run is told once. */
export interface Finding {
  readonly id: string
  readonly words: string
  /** The field whose lack it is about. */
  readonly field?: string
}

/** So many of the latest ended runs are compared with. */
const PAST_MAX = 7
const WINDOW_ITEMS_MIN = 10
/** A run of a day is looked at 8640 times, each time by up to forty windows. */
const CHANCE = 1e-9
/** A share of statuses is judged before the end when there are so many responses. */
const RESPONSES_MIN = 100

/** What fails while the run goes on. */
export function judgeNow(monitors: Monitors, look: RunLook, marks: readonly RunMark[]): Finding[] {
  return [
    ...tooMuch(monitors, look),
    ...tooLong(monitors, look),
    ...noItems(monitors, look, marks),
    ...statuses(monitors, look, false),
    ...latestCoverage(monitors, look, marks),
  ]
}

/** What fails in a run that has ended. */
export function judgeEnd(monitors: Monitors, look: RunLook): Finding[] {
  return [
    ...tooMuch(monitors, look),
    ...tooLong(monitors, look),
    ...tooFew(monitors, look),
    ...badEnd(monitors, look),
    ...statuses(monitors, look, true),
    ...wholeCoverage(monitors, look),
  ]
}

/** How the run stands, for later looks. */
export function markOf(monitors: Monitors, { run, past, atMs }: RunLook): RunMark {
  const fields = [...coverageBounds(monitors, past).keys()].map((field) => [field, run.fields[field] ?? 0])
  return { atMs, items: run.items, fields: Object.fromEntries(fields) }
}

/** Adds a mark; of older ones every second goes when they are many, so that slow crawls have long windows, too. */
export function withMark(marks: readonly RunMark[], mark: RunMark, max: number): RunMark[] {
  const all = [...marks, mark]
  if (all.length <= max) return all
  const half = Math.floor(max / 2)
  return all.filter((_, n) => n % 2 === 0 || n >= half)
}

function tooMuch(monitors: Monitors, { run, stats }: RunLook): Finding[] {
  // A line that tells of an alarm is an ERROR of the log, too.
  const told = Object.entries(stats)
    .filter(([key]) => key.startsWith('monitors/alarm_count/'))
    .reduce((sum, [, value]) => sum + Number(value), 0)
  const counts = [
    ['errors', Math.max(0, run.errors - told), 'lines of the log at level ERROR'],
    ['warnings', run.warnings ?? 0, 'lines of the log at level WARNING'],
    ['criticals', run.criticals ?? 0, 'lines of the log at level CRITICAL'],
    ['exceptions', run.exceptions ?? 0, 'downloads without an answer'],
    ['retries', run.exhausted ?? 0, 'requests given up after all their tries'],
    ['requests', run.requests, 'requests'],
    ['invalidItems', run.invalid ?? 0, 'items that their schema refuses'],
  ] as const
  return counts.flatMap(([key, count, what]) => {
    const max = monitors[key]
    return max !== undefined && count > max
      ? [{ id: key, words: `${grouped(count)} ${what}; at most ${grouped(max)} may be` }]
      : []
  })
}

function tooLong({ maxMinutes }: Monitors, { run, atMs }: RunLook): Finding[] {
  const minutes = ((run.endedAt ? Date.parse(run.endedAt) : atMs) - Date.parse(run.begunAt)) / 60_000
  if (maxMinutes === undefined || minutes <= maxMinutes) return []
  const verb = run.endedAt ? 'took' : 'has taken'
  return [
    {
      id: 'maxMinutes',
      words: `the run ${verb} ${rounded(minutes)} minutes; at most ${rounded(maxMinutes)} may be`,
    },
  ]
}

function noItems({ items }: Monitors, { run, atMs }: RunLook, marks: readonly RunMark[]): Finding[] {
  const every = items?.everyMinutes
  if (every === undefined) return []
  const same = marks.find((mark) => mark.items === run.items)
  const since = run.items === 0 ? Date.parse(run.begunAt) : (same?.atMs ?? atMs)
  const minutes = (atMs - since) / 60_000
  if (minutes < every) return []
  return [
    {
      id: 'items/everyMinutes',
      words: `no item has come for ${rounded(minutes)} minutes; ${rounded(every)} may be without one`,
    },
  ]
}

function tooFew({ items, successes }: Monitors, { run, past }: RunLook): Finding[] {
  const found: Finding[] = []
  if (items?.min !== undefined && run.items < items.min)
    found.push({
      id: 'items/min',
      words: `${grouped(run.items)} items; at least ${grouped(items.min)} must be`,
    })
  const good = run.statuses['200'] ?? 0
  if (successes !== undefined && good < successes)
    found.push({
      id: 'successes',
      words: `${grouped(good)} responses with status 200; at least ${grouped(successes)} must be`,
    })
  const before = comparable(past).map((one) => one.items)
  if (items?.drop === undefined || before.length === 0) return found
  const usual = median(before)
  const least = Math.min(...before)
  if (run.items < usual * (1 - items.drop) && run.items < least)
    found.push({
      id: 'items/drop',
      words: `${grouped(run.items)} items, ${percent(1 - run.items / usual)} less than the ${grouped(usual)} that are usual; ${percent(items.drop)} may be, and the least of the last ${before.length} runs brought ${grouped(least)}`,
    })
  return found
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
    const { max, share } = typeof bound === 'number' ? { max: bound, share: undefined } : bound
    const count = run.statuses[status] ?? 0
    const id = `statuses/${status}`
    if (max !== undefined && count > max)
      return [
        { id, words: `${grouped(count)} responses with status ${status}; at most ${grouped(max)} may be` },
      ]
    if (share === undefined || all === 0 || count / all <= share || (!hasEnded && all < RESPONSES_MIN))
      return []
    if (!hasEnded && chanceOf(all - count, all, 1 - share) > CHANCE) return []
    return [
      {
        id,
        words: `${percent(count / all)} of ${grouped(all)} responses have status ${status}; at most ${percent(share)} may`,
      },
    ]
  })
}

function latestCoverage(monitors: Monitors, look: RunLook, marks: readonly RunMark[]): Finding[] {
  const begin: RunMark = { atMs: 0, items: 0, fields: {} }
  const { run, past } = look
  return [...coverageBounds(monitors, past)].flatMap(([field, least]) => {
    // The shortest stretch of items that shows it: it is the nearest to what has changed.
    for (const mark of [...marks.toReversed(), begin]) {
      const items = run.items - mark.items
      // A mark of before a setting was changed does not know the field.
      if (items < WINDOW_ITEMS_MIN || (mark !== begin && mark.fields[field] === undefined)) continue
      const have = (run.fields[field] ?? 0) - (mark.fields[field] ?? 0)
      if (chanceOf(have, items, least) > CHANCE) continue
      const before =
        mark.items > 0
          ? `, and ${percent((mark.fields[field] ?? 0) / mark.items)} of the ${grouped(mark.items)} before`
          : ''
      return [
        {
          id: `coverage/${field}`,
          field,
          words: `${field}: ${percent(have / items)} of the last ${grouped(items)} items have it${before}; at least ${percent(least)} must`,
        },
      ]
    }
    return []
  })
}

function wholeCoverage(monitors: Monitors, { run, past }: RunLook): Finding[] {
  if (run.items === 0) return []
  return [...coverageBounds(monitors, past)].flatMap(([field, least]) => {
    const have = run.fields[field] ?? 0
    if (have / run.items >= least) return []
    return [
      {
        id: `coverage/${field}`,
        field,
        words: `${field}: ${percent(have / run.items)} of ${grouped(run.items)} items have it; at least ${percent(least)} must`,
      },
    ]
  })
}

/** Field → the share that it must have: the one that is given, else what follows from the runs before. */
function coverageBounds(
  { coverage = {}, coverageDrop }: Monitors,
  past: readonly RunSeen[],
): Map<string, number> {
  const bounds = new Map<string, number>()
  if (coverageDrop !== undefined) {
    const runs = comparable(past).filter(({ items }) => items > 0)
    for (const field of Object.keys(runs[0]?.fields ?? {})) {
      const shares = runs.map(({ items, fields }) => (fields[field] ?? 0) / items)
      bounds.set(field, Math.min(median(shares) - coverageDrop, ...shares))
    }
  }
  for (const [field, least] of Object.entries(coverage)) bounds.set(field, least)
  return bounds
}

/** Runs that came to their end; one that was stopped or killed says little of what is usual. */
function comparable(past: readonly RunSeen[]): RunSeen[] {
  return past.filter(({ state }) => state === 'finished').slice(0, PAST_MAX)
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** How probable it is that at most `have` of so many items have what each of them has with that probability. */
function chanceOf(have: number, items: number, probability: number): number {
  if (have >= items * probability) return 1
  if (probability >= 1) return 0
  let term = Math.exp(
    logFactorial(items) -
      logFactorial(have) -
      logFactorial(items - have) +
      have * Math.log(probability) +
      (items - have) * Math.log(1 - probability),
  )
  let sum = 0
  // Below the middle each term is smaller than the one before, by a factor that falls.
  for (let n = have; n >= 0 && term > sum * 1e-6; n--) {
    sum += term
    term *= (n * (1 - probability)) / ((items - n + 1) * probability)
  }
  return sum
}

/** Stirling's series; exact to nine digits. */
function logFactorial(n: number): number {
  if (n < 2) return 0
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + 1 / (12 * n) - 1 / (360 * n ** 3)
}

function grouped(count: number): string {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 }).format(count)
}

function rounded(minutes: number): string {
  return grouped(Math.round(minutes * 10) / 10)
}

function percent(share: number): string {
  return `${grouped(share * 100)} %`
}
