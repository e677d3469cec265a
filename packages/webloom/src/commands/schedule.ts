/** `webloom schedule`: runs that begin by themselves, at their hours, on whichever `webloom worker --all` is there. */

import { environmentVariable, type Settings, silentLogger, UsageError } from '@webloom/core'
import { budgetPlanOf } from '@webloom/downloader'
import { CrawlSchedules, checkCron, crawlRedisKeys, crawlShown, type ScheduleSeen } from '@webloom/queue'
import { checkFeeds, feedStorages, readMonitors } from '@webloom/spider'
import { crawlerFromOutside, crawlFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { projectConfig } from '../loading/config.ts'
import { type CrawlFlags, givenSettings } from '../loading/crawl-flags.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { namesRedis } from '../redis/desk-servers.ts'
import { atShown } from '../schedules/at-shown.ts'
import { flagsGone, flagWords, shownFlags, shownPair } from '../schedules/flag-words.ts'
import { schedulePlaces } from '../schedules/schedule-places.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface ScheduleFlags extends OutsideFlags, Pick<CrawlFlags, 'output' | 'overwriteOutput'> {
  readonly tz?: string
  readonly name?: string
}

export type SchedulesFlags = OutsideFlags

/** Of those whose runs nobody begins. */
const SPIDERS_SHOWN = 5

/** Keeps a schedule. Whatever would keep its runs from beginning is told now. */
export async function setSchedule(
  { Class, config }: NamedSpider,
  cron: string,
  flags: ScheduleFlags,
): Promise<void> {
  const tz = flags.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  checkCron(cron, tz)
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { settings, spider, servers } = crawler
  budgetPlanOf(settings)
  readMonitors(spider, settings)
  checkFeeds(settings, {
    ...{ spiderName: spider.name, spider, startedAt: new Date(), isWorker: true },
    storages: feedStorages(crawler),
  })
  refuseJobdir(settings, spider.name, cron)
  refuseOtherMode(settings, flags, (await crawlerFromOutside(Class, {}, config)).settings)
  if (servers.targets('queue').length === 0) throw noRedis(spider.name, cron)
  const { redis, name: crawl, shown } = crawlFromOutside(crawler, config.folder)
  try {
    await servers.open()
    const schedules = new CrawlSchedules(redis, crawl)
    const { crawlId } = crawl
    const name = flags.name ?? (crawlId === null ? spider.name : `${spider.name}@${crawlId}`)
    const kept = { name, spider: spider.name, crawlId, cron: cron.trim(), tz, flags: flagsKept(flags) }
    const before = (await schedules.all()).find((one) => one.name === name)
    const { nextAt, replaced } = await schedules.set(kept)
    const seen = (await schedules.all()).find((one) => one.name === name)
    if (flags.json) console.log(visibleJson(JSON.stringify(seen && shownSchedule(seen))))
    else {
      console.log(
        visible(
          `${replaced ? 'changed' : 'kept'}: schedule ${name}, ${cron} in ${tz}, on ${shown}. Its next run begins ${atShown(nextAt, tz)}`,
        ),
      )
      const gone = before
        ? [
            ...(flags.tz === undefined && before.tz !== tz ? ['--tz', before.tz] : []),
            ...flagWords(flagsGone(shownFlags(before.flags), shownFlags(kept.flags))),
          ]
        : []
      if (gone.length > 0)
        console.log(
          visible(`not typed again, and so no longer part of it: ${gone.map(shellQuoted).join(' ')}`),
        )
      if (seen && !seen.isServed) console.log(visible(unserved([seen], flags)))
    }
  } finally {
    servers.close()
  }
}

export async function listSchedules(flags: SchedulesFlags): Promise<void> {
  await withSchedules(flags, async (each) => {
    const all: (ScheduleSeen & { readonly isHere: boolean })[] = []
    for (const { schedules, spiders } of each)
      for (const one of await schedules.all()) all.push({ ...one, isHere: spiders.includes(one.spider) })
    if (flags.json) return console.log(visibleJson(JSON.stringify(all.map(shownSchedule))))
    if (all.length === 0)
      return console.log(`there is no schedule. Make one:  ${commandName()} schedule <spider> '0 6 * * *'`)
    for (const line of all.flatMap(linesOf)) console.log(visible(line))
    const waiting = all.filter(({ isServed }) => !isServed)
    if (waiting.length > 0) console.log(visible(unserved(waiting, flags)))
  })
}

export async function removeSchedule(name: string, flags: SchedulesFlags): Promise<void> {
  await withSchedules(flags, async (each) => {
    const { schedules } = await holderOf(name, each)
    const removed = await schedules.remove(name)
    if (flags.json) console.log(visibleJson(JSON.stringify(shownSchedule(removed))))
    else console.log(visible(`deleted: schedule ${name}. A run that has begun goes on`))
  })
}

export async function runSchedule(name: string, flags: SchedulesFlags): Promise<void> {
  await withSchedules(flags, async (each) => {
    const { schedules } = await holderOf(name, each)
    const schedule = await schedules.runNow(name)
    if (flags.json) return console.log(visibleJson(JSON.stringify(shownSchedule(schedule))))
    console.log(
      visible(
        `due now: a run of ${crawlOf(schedule)}, unless one goes on. ${commandName()} status ${typedCrawlOf(schedule)}  shows it`,
      ),
    )
    if (!schedule.isServed) console.log(visible(unserved([schedule], flags)))
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
  act: (each: readonly Schedules[]) => Promise<void>,
): Promise<void> {
  const config = await projectConfig(process.cwd(), undefined, givenSettings(flags))
  const { places } = await schedulePlaces(flags, config, silentLogger)
  try {
    await Promise.all(places.map(({ servers }) => servers.open()))
    await act(
      places.map(({ redis, prefixes, spiders }) => ({
        schedules: new CrawlSchedules(redis, prefixes),
        spiders: spiders.map(({ name }) => name),
      })),
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

function refuseJobdir(settings: Settings, spider: string, cron: string): void {
  if (settings.get('JOBDIR') === null) return
  throw new UsageError(
    'WL_USAGE',
    `JOBDIR keeps a crawl for one process, and scheduled runs are shared by workers on Redis. Unset JOBDIR, or use cron:  ${cronLine(cron, spider)}`,
  )
}

function noRedis(spider: string, cron: string): UsageError {
  return new UsageError(
    'WL_USAGE',
    `schedules are kept on Redis, and none is named. Set REDIS_URL=redis://host:6379, or use cron without Redis:  ${cronLine(cron, spider)}`,
  )
}

function cronLine(cron: string, spider: string): string {
  return `${cron} cd ${shellQuoted(process.cwd())} && npx webloom crawl ${shellQuoted(spider)}`
}

/** Workers of one crawl must have the same; one that somebody starts by hand would have the project's. */
function refuseOtherMode(settings: Settings, { set }: ScheduleFlags, project: Settings): void {
  const [asked, usual] = [settings.get('QUEUE_MODE'), project.get('QUEUE_MODE')]
  if (asked === usual || !set?.some((pair) => pair.startsWith('QUEUE_MODE='))) return
  throw new UsageError(
    'WL_USAGE',
    `-s QUEUE_MODE=${asked} is for this schedule, and other workers of the crawl have QUEUE_MODE=${usual}: one would not see the other’s requests. Write it for all:  settings: { QUEUE_MODE: '${asked}' } in webloom.config.ts`,
  )
}

function linesOf(seen: ScheduleSeen & { readonly isHere: boolean }): string[] {
  const { name, cron, tz, nextAt, last, isHere } = seen
  const how = typedFlags(seen)
  return [
    `${name}   ${cron} in ${tz}   ${nextAt.getTime() < Date.now() ? 'due since' : 'next'} ${atShown(nextAt, tz)}`,
    ...(how === '' ? [] : [`  ${how}`]),
    ...(last
      ? [
          `  last due ${atShown(new Date(last.dueAt), tz)}: ${last.outcome === 'going' ? 'not begun' : last.outcome}${last.why === undefined ? '' : ` (${last.why})`}`,
        ]
      : []),
    ...(isHere ? [] : [`  ! spider ${seen.spider} is not in this project: it is begun where it is`]),
  ]
}

function shownSchedule({ flags, nextAt, last, ...rest }: ScheduleSeen) {
  return {
    ...rest,
    nextAt: nextAt.toISOString(),
    flags: flagWords(shownFlags(flags)),
    ...(last && {
      last: { ...last, dueAt: new Date(last.dueAt).toISOString(), at: new Date(last.at).toISOString() },
    }),
  }
}

function typedFlags({ flags }: ScheduleSeen): string {
  return flagWords(shownFlags(flags)).map(shellQuoted).join(' ')
}

function crawlOf({ spider, crawlId }: ScheduleSeen): string {
  return crawlShown(crawlRedisKeys({ spider, crawlId }))
}

function typedCrawlOf({ spider, crawlId }: ScheduleSeen): string {
  return crawlId === null ? shellQuoted(spider) : `${shellQuoted(spider)} -s CRAWL_ID=${shellQuoted(crawlId)}`
}

/** With the words that named this Redis, which a process without them would not serve. One with a password is not shown, and so not typed. */
function unserved(waiting: readonly ScheduleSeen[], { set = [] }: Pick<ScheduleFlags, 'set'>): string {
  const spiders = [...new Set(waiting.map(({ spider }) => spider))]
  const shown = spiders.slice(0, SPIDERS_SHOWN).join(', ')
  const more = spiders.length > SPIDERS_SHOWN ? ` and ${spiders.length - SPIDERS_SHOWN} more` : ''
  const place = set.filter((pair) => namesRedis(nameOf(pair)))
  const typed = place.filter((pair) => shownPair(pair) === pair)
  const secret = place
    .filter((pair) => !typed.includes(pair))
    .map((pair) => environmentVariable(nameOf(pair)))
  const line = [commandName(), 'worker', '--all', ...flagWords({ set: typed }).map(shellQuoted)].join(' ')
  const first =
    secret.length === 0
      ? 'Start one'
      : `Export ${[...new Set(secret)].join(' and ')} with what you have typed here (it has a password, and is not shown), and start one`
  return `no process is there that begins runs of ${shown}${more}. ${first}, on any machine; again, where it began before the spider was there:  ${line}`
}

function nameOf(pair: string): string {
  return pair.slice(0, pair.indexOf('='))
}
