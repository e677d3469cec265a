/** What a run that comes back to its pages says of those that it leaves alone, though somebody may expect it to visit them. */

import { type Crawler, HOUR_MS, storeTrouble, type Visit, type VisitStore } from '@webloom/core'
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
const TOLD_NOTE = 'told of pages left alone'
/** Of the workers that begin a run together one tells. */
const TOLD_FOR_MS = 60_000
const INTERVAL_NOTE = 'interval'
/** A visit that a budget refused, or that nobody could make, is two hours later than planned. */
const POSTPONED_MS = 3 * HOUR_MS

/** Called when a run begins. Reads a sample of the pages, never all of them. Where it cannot be read now, nothing is told. */
export async function tellPagesLeftAlone(crawler: Crawler, options: PagesLeftAloneOptions): Promise<void> {
  try {
    await tellOfSample(crawler, options)
  } catch (error) {
    if (!storeTrouble(error)) throw error
  }
}

async function tellOfSample(
  crawler: Crawler,
  { visits, planner, ends }: PagesLeftAloneOptions,
): Promise<void> {
  const wasLonger = await notedInterval(crawler, visits)
  const visited = await visits.sample(SAMPLE_MAX)
  const now = Date.now()
  const soon = now + (ends ? earlyMsOf(planner.shortestMs) : 0)
  const late = visited.filter((visit) => isLate(visit, planner, now))
  const failing = ends ? visited.filter(({ failures, dueAt }) => failures > 0 && dueAt > soon) : []
  const isShorter = wasLonger && visited.length > 0
  if ((late.length + failing.length === 0 && !isShorter) || (await wasTold(visits, now))) return
  const { pages } = await visits.totals()
  const { logger } = crawler
  if (late.length > 0) logger.warn(lateText(crawler, inAll(late, visited, pages)))
  else if (isShorter) logger.warn(shorterText(crawler, counted(pages, 'page')))
  if (failing.length > 0) logger.info(failingText(crawler, planner, inAll(failing, visited, pages)))
}

function isLate(visit: Visit, planner: VisitPlanner, now: number): boolean {
  const { visitedAt, dueAt } = visit
  return (
    dueAt > now + POSTPONED_MS && dueAt > visitedAt + planner.longestHours(visit) * HOUR_MS + POSTPONED_MS
  )
}

function lateText(crawler: Crawler, pages: string): string {
  const { settings } = crawler
  const name = settings.get('RECRAWL') === 'fixed' ? 'RECRAWL_INTERVAL' : 'RECRAWL_INTERVAL_MAX'
  return `RECRAWL: ${pages} of this crawl will be visited later than RECRAWL=${settings.get('RECRAWL')} and ${name}=${settings.getFloat(name)} (hours) say: their next visits were planned under other settings, and these count from there on. To have them visited in the next run:  ${olderLine(crawler)}`
}

function shorterText(crawler: Crawler, pages: string): string {
  return `RECRAWL_INTERVAL is shorter than in the run before: of ${pages} the next visit was planned under the longer one, and the shorter one counts from there on. To have them visited in the next run:  ${olderLine(crawler)}`
}

function olderLine(crawler: Crawler): string {
  const hours = crawler.settings.getFloat('RECRAWL_INTERVAL')
  return `${typedRefresh(crawler)} --older ${Number.isInteger(hours) ? `${hours}h` : `${Math.ceil(hours * 60)}m`}`
}

function failingText(crawler: Crawler, planner: VisitPlanner, pages: string): string {
  return `RECRAWL: this run leaves ${pages} alone, as the last visit failed and the next one is not due yet. Each is tried again after two hours, then each time after twice as long, ${planner.failedMaxHours} hours at the most. This makes all pages due now:  ${typedRefresh(crawler)}`
}

/** Says how many pages of the crawl are as these ones of the sample. */
function inAll(some: readonly Visit[], sample: readonly Visit[], pages: number): string {
  if (sample.length >= pages) return counted(some.length, 'page')
  return `about ${counted(Math.round((some.length / sample.length) * pages), 'page')}`
}

/** Notes RECRAWL_INTERVAL, and resolves to whether it was longer when it was noted last. */
async function notedInterval(
  { settings }: Crawler,
  visits: PagesLeftAloneOptions['visits'],
): Promise<boolean> {
  const hours = settings.getFloat('RECRAWL_INTERVAL')
  const [noted] = await visits.notes([INTERVAL_NOTE])
  if (noted !== `${hours}`) await visits.note(new Map([[INTERVAL_NOTE, `${hours}`]]))
  return noted !== undefined && Number(noted) > hours
}

async function wasTold(visits: PagesLeftAloneOptions['visits'], now: number): Promise<boolean> {
  const [toldAt = 0] = (await visits.notes([TOLD_NOTE])).map((noted) => Number(noted ?? 0))
  if (Math.abs(now - toldAt) < TOLD_FOR_MS) return true
  await visits.note(new Map([[TOLD_NOTE, `${now}`]]))
  return false
}
