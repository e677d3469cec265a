/** Runs as `webloom runs` prints them: a line each, or two of them side by side. */

import { countOf, fieldsOfRuns, type RunSeen, unsentWords } from '@webloom/core'
import { changeOf, coverageOf, durationInWords, grouped, secondShown } from '../terminal/figures.ts'
import { visible } from '../terminal/sanitize.ts'
import type { KeptRuns } from './kept-runs.ts'

/** Returns a line for each, with how pages and items differ from the run before in brackets; below it what its monitors found. */
export function runLines({ runs, crawl, place }: Pick<KeptRuns, 'runs' | 'crawl' | 'place'>): string[] {
  if (runs.length === 0) return [`no run of ${crawl} is known yet: ${place}`]
  const rows = runs.map((run, n) => {
    // What a run that goes on has not fetched yet is not missing; and with RECRAWL a quiet day is no rot.
    const isAlike = run.itemPages === undefined && runs[n + 1]?.itemPages === undefined
    const before = run.state === 'running' || !isAlike ? undefined : runs[n + 1]
    return [
      secondShown(run.begunAt),
      run.state === 'running' || run.state === 'lost' ? run.state : (run.finishReason ?? run.state),
      run.endedAt ? durationInWords((Date.parse(run.endedAt) - Date.parse(run.begunAt)) / 1000) : '–',
      `pages ${grouped(run.pages)}${changed(run.pages, before?.pages)}`,
      `items ${grouped(run.items)}${changed(run.items, before?.items)}`,
      `errors ${grouped(run.errors)}`,
      `given up ${grouped(run.givenUp)}`,
    ]
  })
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)))
  return rows.flatMap((cells, n) => [
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('   ')
      .trimEnd(),
    ...missLines(runs[n]!),
    ...(runs[n]!.alerts ?? []).map(({ words }) => `  ! ${words}`),
    ...(runs[n]!.unsent ?? []).map((unsent) => `  ! not told: ${unsentWords(unsent)}`),
  ])
}

function missLines({ mayMiss }: RunSeen): string[] {
  if (!mayMiss) return []
  return [
    `  its process was killed: counts may miss up to ${mayMiss.seconds} s before ${secondShown(mayMiss.before)}`,
  ]
}

function changed(now: number, before: number | undefined): string {
  return before === undefined ? '' : ` (${changeOf(now, before)})`
}

/**
 * Returns the latest run beside the one before: a line for each figure, and each field of its items. Those of earlier runs, too: a field that is gone would
 * otherwise vanish with the second run that lacks it.
 */
export function comparedLines([now, before, ...earlier]: readonly RunSeen[]): string[] {
  const counts = ['pages', 'items', 'errors', 'givenUp', 'filtered', 'bytes'] as const
  const statuses = [...new Set([now!, before!].flatMap(({ statuses }) => Object.keys(statuses)))].sort()
  const fields = fieldsOfRuns([now!, before!, ...earlier]).sort()
  const change = (from: number, to: number) => (now!.state === 'running' ? '' : changeOf(to, from))
  const figureRow = (name: string, from: number, to: number) => [
    name,
    grouped(from),
    grouped(to),
    change(from, to),
  ]
  const rows = [
    ['', 'before', 'now', ''],
    ['begun', ...[before!, now!].map(({ begunAt }) => secondShown(begunAt)), ''],
    ['took', ...[before!, now!].map(tookOf), change(secondsOf(before!), secondsOf(now!))],
    ['ended', ...[before!, now!].map(({ state, finishReason }) => finishReason ?? state), ''],
    ['pages a minute', ...[before!, now!].map(perMinute), ''],
    ...counts.map((name) => figureRow(name === 'givenUp' ? 'given up' : name, before![name], now![name])),
    ...statuses.map((status) =>
      figureRow(`status ${status}`, before!.statuses[status] ?? 0, now!.statuses[status] ?? 0),
    ),
    ...fields.map((field) => [
      visible(`field ${field}`),
      coverageOf(countOf(before!.fields, field) ?? 0, before!.items),
      coverageOf(countOf(now!.fields, field) ?? 0, now!.items),
      '',
    ]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)))
  return rows.map((cells) =>
    cells
      .map((cell, n) => (n === 0 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!)))
      .join('  ')
      .trimEnd(),
  )
}

function secondsOf({ begunAt, endedAt }: RunSeen): number {
  return endedAt === undefined ? 0 : (Date.parse(endedAt) - Date.parse(begunAt)) / 1000
}

function tookOf(run: RunSeen): string {
  return run.endedAt === undefined ? '–' : durationInWords(secondsOf(run))
}

function perMinute(run: RunSeen): string {
  const seconds = secondsOf(run)
  return seconds === 0 ? '–' : grouped(Math.round((run.pages / seconds) * 60))
}
