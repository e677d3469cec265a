/** `webloom runs`: what the last crawls of a spider came to, and how one differs from the one before. */

import { type CrawlName, crawlTitle, didYouMean, type RunSeen, UsageError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { isSpiderFile } from '../loading/spider-loader.ts'
import { flagWords } from '../schedules/flag-words.ts'
import { type KeptRuns, type RunsPlace, withRunsPlace } from '../status/kept-runs.ts'
import { comparedLines, runLines } from '../status/run-lines.ts'
import { counted, grouped } from '../terminal/figures.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'
import { shownPair } from '../terminal/shown-pair.ts'

export interface RunsFlags extends OutsideFlags {
  /** The latest run beside the one before. */
  readonly compare?: boolean
  /** Deletes what is kept of all runs. */
  readonly forget?: boolean
}

/** Takes a crawl as lists write it: `shop@big` is what `shop -s CRAWL_ID=big` is. Names of spiders and files with an @ are not common. */
export function crawlTyped(
  name: string,
  flags: RunsFlags,
): { readonly crawl: string; readonly flags: RunsFlags } {
  const at = name.indexOf('@')
  if (at < 1 || isSpiderFile(name)) return { crawl: name, flags }
  const set = [...(flags.set ?? []), `CRAWL_ID=${name.slice(at + 1)}`]
  return { crawl: name.slice(0, at), flags: { ...flags, set } }
}

/** Prints the runs, the latest first. */
export async function runs(Class: SpiderClass, flags: RunsFlags, config: LoadedConfig): Promise<void> {
  await withRunsPlace(Class, flags, config, async (place) => {
    const { own, runsOf } = place
    const kept = await runsOf(own.crawlId)
    if (isChosen(flags) && kept.runs.length === 0 && !(await kept.isKnown()))
      throw await misspelt(place, flags, kept)
    if (flags.forget) {
      await kept.forget()
      console.log(`forgotten: ${grouped(kept.runs.length)} runs of ${kept.crawl}`)
      return
    }
    if (flags.compare) refuseOne(kept)
    if (flags.json) {
      const shown = flags.compare ? kept.runs.slice(0, 2) : kept.runs
      console.log(visibleJson(JSON.stringify(shown)))
    } else
      for (const line of flags.compare ? comparedLines(kept.runs) : runLines(kept)) console.log(visible(line))
    if (kept.runs.length === 0 && !flags.json)
      for (const line of await otherLines(place, flags)) console.log(visible(line))
  })
}

/** Other crawls that are named where the one that was asked for has no run. */
const OTHERS_MAX = 5

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
        const alerts = below.slice(0, (run?.alerts?.length ?? 0) + (run?.unsent?.length ?? 0))
        console.log(visible(`${crawlTitle(crawl.spider, crawl.crawlId)}: ${more}`))
        for (const text of [line!, ...alerts]) console.log(visible(`  ${text}`))
      }
    })
  if (flags.json) console.log(visibleJson(JSON.stringify(latest)))
}

/** Whoever types a CRAWL_ID asks for that crawl alone. */
function isChosen({ set = [] }: OutsideFlags): boolean {
  return set.some((pair) => pair.startsWith('CRAWL_ID='))
}

/** A CRAWL_ID that was typed, and that no crawl has. */
async function misspelt(
  place: RunsPlace,
  flags: OutsideFlags,
  { crawl, place: where }: KeptRuns,
): Promise<UsageError> {
  const ids = (await place.otherIds()).filter((id) => id !== null)
  const others = await otherLines(place, flags)
  const meant = didYouMean(place.own.crawlId ?? '', ids)
  return new UsageError(
    'WL_USAGE',
    [`no run of ${crawl} is known, and no such crawl: ${where}.${meant}`, ...others].join('\n'),
  )
}

/** Yields the crawl that the settings name, and unless that one was typed, others that have runs. */
async function* crawlsOf(
  { own, typed, otherIds, runsOf }: RunsPlace,
  flags: OutsideFlags,
): AsyncGenerator<{ readonly crawl: CrawlName; readonly more: string; readonly kept: KeptRuns }> {
  yield { crawl: own, more: lineOf(typed, flags), kept: await runsOf(own.crawlId) }
  for (const crawlId of isChosen(flags) ? [] : await otherIds()) {
    const kept = await runsOf(crawlId)
    const set = [...(flags.set ?? []), `CRAWL_ID=${crawlId ?? ''}`]
    if (kept.runs.length > 0)
      yield { crawl: { ...own, crawlId }, more: lineOf(typed, { ...flags, set }), kept }
  }
}

/** Names crawls of the spider that have runs, to whoever has asked for one that has none. */
async function otherLines(place: RunsPlace, flags: OutsideFlags): Promise<string[]> {
  const lines: string[] = []
  const set = (flags.set ?? []).filter((pair) => !pair.startsWith('CRAWL_ID='))
  for await (const { crawl, more, kept } of crawlsOf(place, { ...flags, set })) {
    if (kept.runs.length > 0 && crawl.crawlId !== place.own.crawlId)
      lines.push(
        `${crawlTitle(crawl.spider, crawl.crawlId)} has ${counted(kept.runs.length, 'run')}: ${more}`,
      )
    if (lines.length === OTHERS_MAX) break
  }
  return lines
}

/** Settings with a secret are not shown: whoever typed them knows them. */
function lineOf(typed: string, { set = [], argument = [] }: OutsideFlags): string {
  const shown = (pairs: readonly string[]) => pairs.filter((pair) => shownPair(pair) === pair)
  const words = flagWords({ set: shown(set), argument: shown(argument) })
  return [commandName(), 'runs', typed, ...words.map(shellQuoted)].join(' ')
}

function refuseOne({ runs, crawl, place }: KeptRuns): void {
  if (runs.length >= 2) return
  throw new UsageError(
    'WL_USAGE',
    `there ${runs.length === 1 ? 'is one run' : 'is no run'} of ${crawl}: two are needed to compare; ${place}`,
  )
}
