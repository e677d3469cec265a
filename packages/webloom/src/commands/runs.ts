/** `webloom runs`: what the last crawls of a spider came to, and how one differs from the one before. */

import { type RunSeen, UsageError } from '@webloom/core'
import {
  crawlRedisKeys,
  crawlShown,
  forgetCrawl,
  forgetFileRuns,
  readFileRuns,
  readRuns,
  seenRun,
} from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { crawlerFromOutside, crawlFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { shownPath } from '../loading/source-place.ts'
import { runsFolder } from '../outcome/runs-folder.ts'
import { changeOf, coverageOf, durationInWords, grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface RunsFlags extends OutsideFlags {
  /** The latest run beside the one before. */
  readonly compare?: boolean
  /** Deletes what is kept of all runs. */
  readonly forget?: boolean
}

/** What is kept of the runs of one crawl. */
interface KeptRuns {
  /** The latest first. */
  readonly runs: readonly RunSeen[]
  /** As messages call it. */
  readonly crawl: string
  /** Why there may be none. */
  readonly place: string
  forget(): Promise<void>
}

/** Prints the runs, the latest first. */
export async function runs(Class: SpiderClass, flags: RunsFlags, config: LoadedConfig): Promise<void> {
  await withKeptRuns(Class, flags, config, async (kept) => {
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

/** Prints the latest run of each crawl of a project. */
export async function latestRuns(
  spiders: readonly { readonly name: string; readonly Class: SpiderClass }[],
  flags: OutsideFlags,
  config: LoadedConfig,
): Promise<void> {
  const latest: (RunSeen & { readonly spider: string })[] = []
  const lines: string[] = []
  for (const { name, Class } of spiders)
    await withKeptRuns(Class, flags, config, async (kept) => {
      const [run] = kept.runs
      if (run) latest.push({ spider: name, ...run })
      // The one before is needed to tell how it differs.
      const [line, ...more] = runLines({ ...kept, runs: kept.runs.slice(0, 2) })
      const alerts = more.slice(0, run?.alerts?.length ?? 0)
      lines.push(`${name}:`, ...[line!, ...alerts].map((text) => `  ${text}`))
    })
  if (flags.json) console.log(visibleJson(JSON.stringify(latest)))
  else for (const line of lines) console.log(visible(line))
}

async function withKeptRuns(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  act: (kept: KeptRuns) => Promise<void>,
): Promise<void> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { settings, spider, servers } = crawler
  // A crawl in a JOBDIR has nothing of its own on Redis.
  if (settings.get('JOBDIR') === null && servers.connection('queue')) {
    try {
      await servers.open()
      const { redis, keys } = crawlFromOutside(crawler, config.folder)
      await act({
        runs: (await readRuns(redis, keys)).map(seenRun),
        crawl: crawlShown(keys),
        place: 'each crawl on Redis leaves one',
        forget: () => forgetCrawl(redis, keys),
      })
    } finally {
      servers.close()
    }
    return
  }
  const project = config.isProject ? config.folder : undefined
  const folder = runsFolder(settings, spider.name, { folder: config.folder, project })
  await act({
    runs: folder === undefined ? [] : await readFileRuns(folder),
    crawl: crawlShown(crawlRedisKeys({ spider: spider.name, crawlId: settings.get('CRAWL_ID') })),
    place:
      folder === undefined
        ? 'outside of a project none is kept. Set RUNS_DIR=<folder>, or REDIS_URL for a crawl on Redis'
        : `each crawl without Redis leaves one in ${shownPath(folder)}; those on Redis are seen with REDIS_URL`,
    forget: async () => {
      if (folder !== undefined) await forgetFileRuns(folder)
    },
  })
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
      run.begunAt.slice(0, 19).replace('T', ' '),
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
    ['begun', ...[before!, now!].map(({ begunAt }) => begunAt.slice(0, 19)), ''],
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
