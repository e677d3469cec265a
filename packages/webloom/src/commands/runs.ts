/** `webloom runs`: what the last crawls of a spider came to, and how one differs from the one before. */

import { type CrawlName, type RunSeen, UsageError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { flagWords, shownPair } from '../schedules/flag-words.ts'
import { type KeptRuns, type RunsPlace, withRunsPlace } from '../status/kept-runs.ts'
import { changeOf, coverageOf, durationInWords, grouped, secondShown } from '../terminal/figures.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface RunsFlags extends OutsideFlags {
  /** The latest run beside the one before. */
  readonly compare?: boolean
  /** Deletes what is kept of all runs. */
  readonly forget?: boolean
}

/** Prints the runs, the latest first. */
export async function runs(Class: SpiderClass, flags: RunsFlags, config: LoadedConfig): Promise<void> {
  await withRunsPlace(Class, flags, config, async ({ own, runsOf }) => {
    const kept = await runsOf(own.crawlId)
    if (flags.forget) {
      await kept.forget()
      console.log(`forgotten: ${grouped(kept.runs.length)} runs of ${kept.crawl}`)
      return
    }
    const shown = flags.compare ? twoOf(kept) : kept.runs
    if (flags.json) console.log(visibleJson(JSON.stringify(shown)))
    else for (const line of flags.compare ? comparedLines(shown) : runLines(kept)) console.log(visible(line))
  })
}

/** The latest run of a crawl, as a program reads it. */
interface LatestRun extends RunSeen {
  readonly spider: string
  readonly crawlId: string | null
  /** The line that shows all its runs. */
  readonly more: string
}

/** Prints the latest run of each crawl of a project: of each spider the one that its settings name, and those of other CRAWL_IDs that have runs. */
export async function latestRuns(
  spiders: readonly { readonly name: string; readonly Class: SpiderClass }[],
  flags: OutsideFlags,
  config: LoadedConfig,
): Promise<void> {
  const latest: LatestRun[] = []
  for (const { Class } of spiders)
    await withRunsPlace(Class, flags, config, async (place) => {
      for await (const { crawl, more, kept } of crawlsOf(place, flags)) {
        const [run] = kept.runs
        if (run) latest.push({ spider: crawl.spider, crawlId: crawl.crawlId, more, ...run })
        if (flags.json) continue
        // The one before is needed to tell how it differs.
        const [line, ...below] = runLines({ ...kept, runs: kept.runs.slice(0, 2) })
        const alerts = below.slice(0, run?.alerts?.length ?? 0)
        console.log(
          visible(`${crawl.crawlId === null ? crawl.spider : `${crawl.spider}@${crawl.crawlId}`}: ${more}`),
        )
        for (const text of [line!, ...alerts]) console.log(visible(`  ${text}`))
      }
    })
  if (flags.json) console.log(visibleJson(JSON.stringify(latest)))
}

/** Whoever types a CRAWL_ID asks for that crawl alone. */
async function* crawlsOf(
  { own, otherIds, runsOf }: RunsPlace,
  flags: OutsideFlags,
): AsyncGenerator<{ readonly crawl: CrawlName; readonly more: string; readonly kept: KeptRuns }> {
  const isChosen = flags.set?.some((pair) => pair.startsWith('CRAWL_ID='))
  yield { crawl: own, more: lineOf(own.spider, flags), kept: await runsOf(own.crawlId) }
  for (const crawlId of isChosen ? [] : await otherIds()) {
    const kept = await runsOf(crawlId)
    const set = [...(flags.set ?? []), `CRAWL_ID=${crawlId ?? ''}`]
    if (kept.runs.length > 0)
      yield { crawl: { ...own, crawlId }, more: lineOf(own.spider, { ...flags, set }), kept }
  }
}

/** Settings with a secret are not shown: whoever typed them knows them. */
function lineOf(spider: string, { set = [], argument = [] }: OutsideFlags): string {
  const shown = (pairs: readonly string[]) => pairs.filter((pair) => shownPair(pair) === pair)
  const words = flagWords({ set: shown(set), argument: shown(argument) })
  return [commandName(), 'runs', spider, ...words]
    .map((word, n) => (n === 0 ? word : shellQuoted(word)))
    .join(' ')
}

function twoOf({ runs, crawl, place }: KeptRuns): readonly RunSeen[] {
  if (runs.length >= 2) return runs.slice(0, 2)
  throw new UsageError(
    'WL_USAGE',
    `there ${runs.length === 1 ? 'is one run' : 'is no run'} of ${crawl}: two are needed to compare; ${place}`,
  )
}

/** A line each, with how pages and items differ from the run before in brackets; below it what its monitors found. */
function runLines({ runs, crawl, place }: KeptRuns): string[] {
  if (runs.length === 0) return [`no run of ${crawl} is known yet: ${place}`]
  const rows = runs.map((run, n) => {
    const before = runs[n + 1]
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
    ...(runs[n]!.alerts ?? []).map(({ words }) => `  ! ${words}`),
  ])
}

function changed(now: number, before: number | undefined): string {
  return before === undefined ? '' : ` (${changeOf(now, before)})`
}

/** The latest run beside the one before: a line for each figure, and each field of its items. */
function comparedLines([now, before]: readonly RunSeen[]): string[] {
  const counts = ['pages', 'items', 'errors', 'givenUp', 'filtered', 'bytes'] as const
  const statuses = [...new Set([now!, before!].flatMap(({ statuses }) => Object.keys(statuses)))].sort()
  const fields = [...new Set([now!, before!].flatMap(({ fields }) => Object.keys(fields)))].sort()
  const rows = [
    ['', 'before', 'now', ''],
    ['begun', ...[before!, now!].map(({ begunAt }) => secondShown(begunAt)), ''],
    ['took', ...[before!, now!].map(tookOf), changeOf(secondsOf(now!), secondsOf(before!))],
    ['ended', ...[before!, now!].map(({ state, finishReason }) => finishReason ?? state), ''],
    [
      'pages a minute',
      ...[before!, now!].map(({ pages }, n) => perMinute(pages, secondsOf([before!, now!][n]!))),
      '',
    ],
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

function secondsOf({ begunAt, endedAt }: RunSeen): number {
  return endedAt === undefined ? 0 : (Date.parse(endedAt) - Date.parse(begunAt)) / 1000
}

function tookOf(run: RunSeen): string {
  return run.endedAt === undefined ? '–' : durationInWords(secondsOf(run))
}

function perMinute(pages: number, seconds: number): string {
  return seconds === 0 ? '–' : grouped(Math.round((pages / seconds) * 60))
}
