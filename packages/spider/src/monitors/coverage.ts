/**
 * How many items have the fields that they must have: of the latest items while the run goes on, of all at its end.
 *
 *     checkpoints  ──────────●───────●───────●───────● now       items and fields at earlier looks
 *                                    └─ a stretch ──┘            is the share of them with `price` below the bound, and not by chance?
 *
 * A layout that changes in the middle of a run shows in its latest items at once, and in the whole of them late. "Not by chance": if the
 * share were the bound, so few of them would come about once in 10 ** 9 looks. Ten items without a price tell of 0.95; four of ten do not.
 *
 * Items are not drawn by lot, though: what is sold out stands together in a list. So each run keeps how improbable its worst stretch was, and
 * a stretch is told of only when it is much less probable than those of the runs before, too, that were well in the end.
 *
 * At the end, a bound that follows from the runs before is held against few items as a guess: one of two without a price is told of only where
 * runs before make that improbable. A bound that was given is a promise, and holds for one item.
 */

import {
  type AlertSeen,
  countOf,
  type PastRun,
  type RunCheckpoint,
  type RunLook,
  type RunSeen,
} from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'
import { logChanceOf } from './chance.ts'
import type { Finding } from './finding.ts'
import { comparable, median } from './usual.ts'
import { grouped, percent } from './words.ts'

const STRETCH_ITEMS_MIN = 10
/** A run of a day is looked at 8640 times, each time by up to forty stretches. */
const LOG_CHANCE = -9
/** At the end each field is judged once: a run a day of ten fields would tell of chance once in three years. */
const LOG_CHANCE_AT_END = -4
/** Where every item must have the field, one that lacks it is no chance at all. */
const LOG_CHANCE_MIN = -1e6
/**
 * A stretch is told of when it is less probable than the worst before by this factor of the logarithms: a dip of twice the length. How a dip
 * lies between looks is chance, and so of two dips that are the same one may show as twice as long as the other.
 */
const DIP_FACTOR = 2

/** Items of the run from one of its checkpoints to now. */
interface Stretch {
  readonly items: number
  readonly have: number
  readonly from: RunCheckpoint
}

/** The share of items that must have a field. */
interface Bound {
  readonly least: number
  /** Where it follows from the runs before: how probable it is that an item has the field. */
  readonly usual?: number
}

export interface LatestCoverage {
  readonly findings: readonly Finding[]
  /** Field → the logarithm of how probable its worst stretch is. */
  readonly worst: Readonly<Record<string, number>>
}

/** @param alerts of the run: one that stands is over when the latest items are well, and what is over may be found in later items alone */
export function latestCoverage(
  monitors: Monitors,
  look: Pick<RunLook, 'run' | 'past'>,
  checkpoints: readonly RunCheckpoint[],
  alerts: readonly AlertSeen[] = [],
): LatestCoverage {
  const findings: Finding[] = []
  const worst: [field: string, logChance: number][] = []
  for (const [field, { least }] of coverageBounds(monitors, look.past)) {
    const alert = alerts.find(({ id }) => id === idOf(field))
    const fromMs = alert?.resolvedAt === undefined ? 0 : Date.parse(alert.resolvedAt)
    const stretches = stretchesOf(field, look.run, checkpoints, fromMs)
    const chances = stretches.map(({ have, items }) => logChance(have, items, least))
    worst.push([field, Math.min(0, ...chances)])
    const stands = alert !== undefined && alert.resolvedAt === undefined
    const bound = Math.min(LOG_CHANCE, DIP_FACTOR * worstBefore(field, look.past))
    // The shortest stretch that shows it: it is the nearest to what has changed.
    const shown = stands
      ? stretches.slice(0, 1).find(({ have, items }) => have / items < least)
      : stretches.find((_, n) => chances[n]! < bound)
    if (shown) findings.push(findingOf(field, least, shown))
  }
  return { findings, worst: Object.fromEntries(worst) }
}

/** Returns the coverage of all items of a run that has ended. */
export function wholeCoverage(monitors: Monitors, { run, past }: Pick<RunLook, 'run' | 'past'>): Finding[] {
  if (run.items === 0) return []
  return [...coverageBounds(monitors, past)].flatMap(([field, { least, usual }]) => {
    const have = countOf(run.fields, field) ?? 0
    if (have / run.items >= least) return []
    if (usual !== undefined && logChance(have, run.items, usual) > LOG_CHANCE_AT_END) return []
    return [
      {
        id: idOf(field),
        field,
        words: `${field}: ${percent(have / run.items)} of ${grouped(run.items)} items have it; at least ${percent(least)} must`,
      },
    ]
  })
}

/** Fields that monitors watch. */
export function watchedFields(monitors: Monitors, past: readonly RunSeen[]): string[] {
  return [...coverageBounds(monitors, past).keys()]
}

/** Returns the lower coverage of each field in two parts of one run. */
export function worstOf(
  one: Readonly<Record<string, number>> = {},
  other: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const fields = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries(
    [...fields].map((field) => [field, Math.min(countOf(one, field) ?? 0, countOf(other, field) ?? 0)]),
  )
}

/** Returns the stretches of the run since `fromMs`, the shortest first. */
function stretchesOf(
  field: string,
  run: RunSeen,
  checkpoints: readonly RunCheckpoint[],
  fromMs: number,
): Stretch[] {
  const begin: RunCheckpoint = { atMs: 0, items: 0, fields: { [field]: 0 } }
  return [begin, ...checkpoints]
    .toReversed()
    .filter(({ atMs }) => atMs >= fromMs)
    .flatMap((from) => {
      const had = countOf(from.fields, field)
      const items = run.items - from.items
      // A checkpoint of before a setting was changed does not know the field.
      if (had === undefined || items < STRETCH_ITEMS_MIN) return []
      return [{ items, have: (countOf(run.fields, field) ?? 0) - had, from }]
    })
}

function findingOf(field: string, least: number, { have, items, from }: Stretch): Finding {
  const had = countOf(from.fields, field)! / from.items
  const before = from.items > 0 ? `, and ${percent(had)} of the ${grouped(from.items)} before` : ''
  return {
    id: idOf(field),
    field,
    words: `${field}: ${percent(have / items)} of the last ${grouped(items)} items have it${before}; at least ${percent(least)} must`,
  }
}

function worstBefore(field: string, past: readonly PastRun[]): number {
  const well = past.filter(({ alerts = [] }) =>
    alerts.every(({ id, resolvedAt }) => id !== idOf(field) || resolvedAt !== undefined),
  )
  return Math.min(0, ...comparable(well).map(({ worst }) => countOf(worst, field) ?? 0))
}

/** Field → the share that it must have: the one that is given, else what follows from the runs before. */
function coverageBounds(
  { coverage = {}, coverageDrop }: Monitors,
  past: readonly RunSeen[],
): Map<string, Bound> {
  const bounds = new Map<string, Bound>()
  if (coverageDrop !== undefined) {
    const brought = past.filter(({ items }) => items > 0)
    for (const field of new Set(comparable(brought).flatMap(({ fields }) => Object.keys(fields)))) {
      const compared = comparable(brought, idOf(field))
      const shares = compared.map(({ items, fields }) => (countOf(fields, field) ?? 0) / items)
      if (shares.length === 0) continue
      bounds.set(field, {
        least: Math.min(median(shares) - coverageDrop, ...shares),
        usual: usualShare(field, compared),
      })
    }
  }
  for (const [field, least] of Object.entries(coverage)) bounds.set(field, { least })
  return bounds
}

/** By Laplace's rule of succession: of fifteen items that all have the field it does not follow that every one has it. */
function usualShare(field: string, runs: readonly RunSeen[]): number {
  const have = runs.reduce((sum, { fields }) => sum + (countOf(fields, field) ?? 0), 0)
  const items = runs.reduce((sum, run) => sum + run.items, 0)
  return (have + 1) / (items + 2)
}

function idOf(field: string): string {
  return `coverage/${field}`
}

function logChance(have: number, items: number, least: number): number {
  return Math.max(LOG_CHANCE_MIN, logChanceOf(have, items, least))
}
