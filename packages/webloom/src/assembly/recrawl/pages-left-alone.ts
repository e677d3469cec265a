/** What a run that comes back to its pages says of those that it leaves alone, though somebody may expect it to visit them. */

import type { Crawler, Visit, VisitStore } from '@webloom/core'
import { earlyMsOf, type VisitPlanner } from '@webloom/scheduler'
import { counted } from '../../terminal/figures.ts'
import { typedRefresh } from './typed-refresh.ts'

export interface PagesLeftAloneOptions {
  readonly visits: Pick<VisitStore, 'sample' | 'totals' | 'notes' | 'note'>
  readonly planner: VisitPlanner
  /** The crawl ends when nothing is left to do. */
  readonly ends: boolean
}

/** All pages of a small crawl; of a large one their count is an estimate. */
const SAMPLE_MAX = 1024
const NOTE = 'told of pages left alone'
/** Of the workers that begin a run together one tells. */
const TOLD_FOR_MS = 60_000

/** Reads a sample of the pages, and tells once in a run. */
export async function tellPagesLeftAlone(
  crawler: Crawler,
  { visits, planner, ends }: PagesLeftAloneOptions,
): Promise<void> {
  const now = Date.now()
  const [sample, { pages }] = await Promise.all([visits.sample(SAMPLE_MAX), visits.totals()])
  const soon = now + (ends ? earlyMsOf(planner.shortestMs) : 0)
  const failing = sample.filter(({ failures, dueAt }) => failures > 0 && dueAt > soon)
  if (failing.length === 0 || !ends) return
  if (await wasTold(visits, now)) return
  crawler.logger.info(
    `RECRAWL: ${inAll(failing, sample, pages)} failed at the last visit and ${failing.length === 1 ? 'is' : 'are'} not due yet: this run leaves such pages alone. Each is tried again after two hours, then each time after twice as long, ${planner.failedMaxHours} hours at the most. This makes all pages due now:  ${typedRefresh(crawler)}`,
  )
}

/** Says how many pages of the crawl are as these ones of the sample. */
function inAll(some: readonly Visit[], sample: readonly Visit[], pages: number): string {
  if (sample.length >= pages) return counted(some.length, 'page')
  return `about ${counted(Math.round((some.length / sample.length) * pages), 'page')}`
}

async function wasTold(visits: PagesLeftAloneOptions['visits'], now: number): Promise<boolean> {
  const [toldAt = 0] = (await visits.notes([NOTE])).map(Number)
  if (Math.abs(now - toldAt) < TOLD_FOR_MS) return true
  await visits.note(new Map([[NOTE, `${now}`]]))
  return false
}
