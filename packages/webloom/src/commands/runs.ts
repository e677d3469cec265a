/** `webloom runs`: what the last crawls of a spider came to, and how one differs from the one before. */

import { UsageError } from '@webloom/core'
import { crawlShown, forgetCrawl, type RunRecord, readRuns } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { type OutsideFlags, withCrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { changeOf, coverageOf, durationInWords, grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface RunsFlags extends OutsideFlags {
  /** The latest run beside the one before. */
  readonly compare?: boolean
  /** Deletes what is kept of all runs. */
  readonly forget?: boolean
}

/** Prints the runs, the latest first. */
export async function runs(Class: SpiderClass, flags: RunsFlags, config: LoadedConfig): Promise<void> {
  await withCrawlFromOutside(Class, flags, config, async ({ redis, keys }) => {
    const kept = await readRuns(redis, keys)
    if (flags.forget) {
      await forgetCrawl(redis, keys)
      console.log(`forgotten: ${grouped(kept.length)} runs of ${crawlShown(keys)}`)
      return
    }
    const shown = flags.compare ? twoOf(kept, crawlShown(keys)) : kept
    if (flags.json) console.log(visibleJson(JSON.stringify(shown)))
    else
      for (const line of flags.compare ? comparedLines(shown) : runLines(shown, crawlShown(keys)))
        console.log(visible(line))
  })
}

function twoOf(kept: readonly RunRecord[], crawl: string): RunRecord[] {
  if (kept.length >= 2) return kept.slice(0, 2)
  throw new UsageError(
    'WL_USAGE',
    `there ${kept.length === 1 ? 'is one run' : 'is no run'} of ${crawl}: two are needed to compare. Each crawl on Redis leaves one`,
  )
}

/** A line each; how pages and items differ from the run before is told in brackets. */
export function runLines(kept: readonly RunRecord[], crawl: string): string[] {
  if (kept.length === 0) return [`no run of ${crawl} is known yet: each crawl on Redis leaves one`]
  const rows = kept.map((run, n) => {
    const before = kept[n + 1]
    return [
      run.begunAt.toISOString().slice(0, 19).replace('T', ' '),
      run.state === 'running' || run.state === 'lost' ? run.state : (run.finishReason ?? run.state),
      run.endedAt ? durationInWords((run.endedAt.getTime() - run.begunAt.getTime()) / 1000) : '–',
      `pages ${grouped(run.pages)}${changed(run.pages, before?.pages)}`,
      `items ${grouped(run.items)}${changed(run.items, before?.items)}`,
      `errors ${grouped(run.errors)}`,
      `given up ${grouped(run.givenUp)}`,
    ]
  })
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)))
  return rows.map((cells) =>
    cells
      .map((cell, n) => cell.padEnd(widths[n]!))
      .join('   ')
      .trimEnd(),
  )
}

function changed(now: number, before: number | undefined): string {
  return before === undefined ? '' : ` (${changeOf(now, before)})`
}

/** The latest run beside the one before: a line for each figure, and each field of its items. */
export function comparedLines([now, before]: readonly RunRecord[]): string[] {
  const counts = ['pages', 'items', 'errors', 'givenUp', 'filtered', 'bytes'] as const
  const statuses = [...new Set([now!, before!].flatMap(({ statuses }) => Object.keys(statuses)))].sort()
  const fields = [...new Set([now!, before!].flatMap(({ fields }) => Object.keys(fields)))].sort()
  const rows = [
    ['', 'before', 'now', ''],
    ['begun', ...[before!, now!].map(({ begunAt }) => begunAt.toISOString().slice(0, 19)), ''],
    ['ended', ...[before!, now!].map(({ state, finishReason }) => finishReason ?? state), ''],
    ...counts.map((name) => figureRow(name === 'givenUp' ? 'given up' : name, before![name], now![name])),
    ...statuses.map((status) =>
      figureRow(`status ${status}`, before!.statuses[status] ?? 0, now!.statuses[status] ?? 0),
    ),
    ...fields.map((field) => [
      `field ${field}`,
      coverageOf(before!.fields[field] ?? 0, before!.items),
      coverageOf(now!.fields[field] ?? 0, now!.items),
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

function figureRow(name: string, before: number, now: number): string[] {
  return [name, grouped(before), grouped(now), changeOf(now, before)]
}
