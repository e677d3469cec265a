/** `webloom schedule`: runs that begin by themselves, at their hours, on whichever `webloom worker --all` is there. */

import { crawlTitle, silentLogger } from '@webloom/core'
import { CrawlSchedules, checkCron, type Schedule, type ScheduleSeen } from '@webloom/queue'
import { crawlerFromOutside, crawlFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { projectConfig } from '../loading/config.ts'
import { type CrawlFlags, givenSettings } from '../loading/crawl-flags.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { typedByName } from '../loading/typed-spider.ts'
import { namesRedis } from '../redis/desk-servers.ts'
import { atShown } from '../schedules/at-shown.ts'
import { refuseFailingRuns } from '../schedules/failing-runs.ts'
import { flagsGone, flagWords, shownFlags } from '../schedules/flag-words.ts'
import { schedulePlaces } from '../schedules/schedule-places.ts'
import { crawlOf, scheduleJson, scheduleLines, unservedWords } from '../schedules/schedule-words.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface ScheduleFlags extends OutsideFlags, Pick<CrawlFlags, 'output' | 'overwriteOutput'> {
  readonly tz?: string
  readonly name?: string
}

export type SchedulesFlags = OutsideFlags

/** Keeps a schedule. Whatever would keep its runs from beginning is told now. */
export async function setSchedule(
  { Class, config }: NamedSpider,
  cron: string,
  flags: ScheduleFlags,
): Promise<void> {
  const tz = flags.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  checkCron(cron, tz)
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { spider, servers } = crawler
  const project = (await crawlerFromOutside(Class, {}, config)).settings
  await refuseFailingRuns(crawler, { cron, flags, project })
  const { redis, name: crawl, shown } = crawlFromOutside(crawler, config.folder)
  try {
    await servers.open()
    const schedules = new CrawlSchedules(redis, crawl)
    const { crawlId } = crawl
    const name = flags.name ?? crawlTitle(spider.name, crawlId)
    const kept = { name, spider: spider.name, crawlId, cron: cron.trim(), tz, flags: flagsKept(flags) }
    const before = (await schedules.all()).find((one) => one.name === name)
    const { nextAt, replaced } = await schedules.set(kept)
    const seen = (await schedules.all()).find((one) => one.name === name)
    if (flags.json) console.log(visibleJson(JSON.stringify(seen && scheduleJson(seen))))
    else {
      console.log(
        visible(
          `${replaced ? 'changed' : 'kept'}: schedule ${name}, ${cron} in ${tz}, on ${shown}. Its next run begins ${atShown(nextAt, tz)}`,
        ),
      )
      const gone = before ? notTypedAgain(before, kept, flags.tz) : []
      if (gone.length > 0)
        console.log(
          visible(`not typed again, and so no longer part of it: ${gone.map(shellQuoted).join(' ')}`),
        )
      if (seen && !seen.isServed) console.log(visible(unservedWords([seen], flags)))
    }
  } finally {
    servers.close()
  }
}

export async function listSchedules(flags: SchedulesFlags): Promise<void> {
  await withSchedules(flags, async (each, problems) => {
    const all: (ScheduleSeen & { readonly isHere: boolean })[] = []
    for (const { schedules, spiders } of each)
      for (const one of await schedules.all()) all.push({ ...one, isHere: spiders.includes(one.spider) })
    if (flags.json)
      return console.log(visibleJson(JSON.stringify(all.map((seen) => scheduleJson(seen, flags)))))
    if (all.length === 0)
      return console.log(`there is no schedule. Make one:  ${commandName()} schedule <spider> '0 6 * * *'`)
    for (const line of all.flatMap((seen) => scheduleLines(seen, flags, problems))) console.log(visible(line))
    const waiting = all.filter(({ isServed }) => !isServed)
    if (waiting.length > 0) console.log(visible(unservedWords(waiting, flags)))
  })
}

export async function removeSchedule(name: string, flags: SchedulesFlags): Promise<void> {
  await withSchedules(flags, async (each) => {
    const { schedules } = await holderOf(name, each)
    const removed = await schedules.remove(name)
    if (flags.json) console.log(visibleJson(JSON.stringify(scheduleJson(removed))))
    else console.log(visible(`deleted: schedule ${name}. A run that has begun goes on`))
  })
}

export async function runSchedule(name: string, flags: SchedulesFlags): Promise<void> {
  await withSchedules(flags, async (each) => {
    const { schedules } = await holderOf(name, each)
    const schedule = await schedules.runNow(name)
    if (flags.json) return console.log(visibleJson(JSON.stringify(scheduleJson(schedule))))
    console.log(
      visible(
        `due now: a run of ${crawlOf(schedule)}, unless one goes on. ${commandName()} status ${typedByName({ name: schedule.spider }, schedule.crawlId)}  shows it`,
      ),
    )
    if (!schedule.isServed) console.log(visible(unservedWords([schedule], flags)))
  })
}

interface Schedules {
  readonly schedules: CrawlSchedules
  /** Names of the project's spiders that are there. */
  readonly spiders: readonly string[]
}

/** Opens the schedules of each Redis on which the project's spiders are, and closes them after the act. */
async function withSchedules(
  flags: SchedulesFlags,
  act: (each: readonly Schedules[], problems: readonly string[]) => Promise<void>,
): Promise<void> {
  const config = await projectConfig(process.cwd(), givenSettings(flags))
  const { places, problems } = await schedulePlaces(flags, config, silentLogger)
  try {
    await Promise.all(places.map(({ servers }) => servers.open()))
    await act(
      places.map(({ redis, prefixes, spiders }) => ({
        schedules: new CrawlSchedules(redis, prefixes),
        spiders: spiders.map(({ name }) => name),
      })),
      problems,
    )
  } finally {
    for (const { servers } of places) servers.close()
  }
}

/** Resolves to the schedules of the Redis that has this one; where none does, to those of one that will say so. */
async function holderOf(name: string, each: readonly Schedules[]): Promise<Schedules> {
  for (const one of each) if ((await one.schedules.all()).some((known) => known.name === name)) return one
  return each[0]!
}

/** What the schedule had, and the line that changes it has not. */
function notTypedAgain(before: Schedule, kept: Schedule, typedTz: string | undefined): string[] {
  return [
    ...(typedTz === undefined && before.tz !== kept.tz ? ['--tz', before.tz] : []),
    ...flagWords(flagsGone(shownFlags(before.flags), shownFlags(kept.flags))),
  ]
}

/** Which Redis is asked is each worker's own affair: the address, and its password, are not kept there. */
function flagsKept({ set, argument, output, overwriteOutput }: ScheduleFlags) {
  const kept = set?.filter((pair) => !namesRedis(pair.slice(0, pair.indexOf('='))))
  return {
    ...(kept && kept.length > 0 && { set: kept }),
    ...(argument && { argument }),
    ...(output && { output }),
    ...(overwriteOutput && { overwriteOutput }),
  }
}
