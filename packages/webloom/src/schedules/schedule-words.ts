/** A schedule in words: in a list, as JSON, and what to type where nobody serves it. */

import { crawlTitle, environmentVariable } from '@webloom/core'
import { crawlRedisKeys, crawlShown, type LastFire, type ScheduleSeen } from '@webloom/queue'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { typedByName } from '../loading/typed-spider.ts'
import { namesRedis } from '../redis/desk-servers.ts'
import { counted, durationInWords } from '../terminal/figures.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { shownPair } from '../terminal/shown-pair.ts'
import { atShown } from './at-shown.ts'
import { flagWords, shownFlags } from './flag-words.ts'

/** Of those whose runs nobody begins. */
const SPIDERS_SHOWN = 5
/** Of what does not load. */
const PROBLEMS_SHOWN = 3

/** Returns the lines of a schedule in a list. */
export function scheduleLines(
  seen: ScheduleSeen & { readonly isHere: boolean },
  flags: Pick<OutsideFlags, 'set'>,
  problems: readonly string[] = [],
): string[] {
  const { name, cron, tz, nextAt, last, isHere } = seen
  const how = typedFlags(seen)
  return [
    `${name}${ofCrawl(seen)}   ${cron} in ${tz}   ${nextAt.getTime() < Date.now() ? 'due since' : 'next'} ${atShown(nextAt, tz)}`,
    ...(how === '' ? [] : [`  ${how}`]),
    ...(last
      ? [
          `  last due ${atShown(new Date(last.dueAt), tz)}: ${outcomeWords(seen, last)}`,
          ...(seen.lastRun ? [`    ${runsLine(seen, flags)}`] : []),
        ]
      : []),
    ...untoldLines(seen),
    ...(isHere ? [] : missingLines(seen.spider, problems)),
  ]
}

function untoldLines({ untold = [] }: ScheduleSeen): string[] {
  const left = Object.entries(Object.assign({}, ...untold.map((one) => one.left)) as Record<string, string>)
  return left.map(([channel, reason]) => `  ! not told yet to ${channel}, and tried on: ${reason}`)
}

/** A name that somebody has given does not say whose runs it begins. */
function ofCrawl({ name, spider, crawlId }: ScheduleSeen): string {
  const title = crawlTitle(spider, crawlId)
  return name === title ? '' : `, runs of ${title}`
}

/** Of what does not load nobody knows which spider it would be. */
function missingLines(spider: string, problems: readonly string[]): string[] {
  if (problems.length === 0) return [`  ! spider ${spider} is not in this project: it is begun where it is`]
  const shown = problems
    .slice(0, PROBLEMS_SHOWN)
    .map((problem) => `    ${problem.replaceAll('\n', '\n    ')}`)
  const more = problems.length - shown.length
  return [
    `  ! spider ${spider} is not among those of this project that load. Not loaded here:`,
    ...shown.flatMap((problem) => problem.split('\n')),
    ...(more > 0 ? [`    and ${more} more:  ${commandName()} list`] : []),
  ]
}

/** What became of it, and of its run. */
function outcomeWords({ lastRun }: ScheduleSeen, { outcome, why }: LastFire): string {
  if (outcome === 'going' || outcome === 'failed')
    return `${outcome === 'going' ? 'not begun' : outcome}${why === undefined ? '' : ` (${why.replaceAll(/\s*\n\s*/g, ' ')})`}`
  if (!lastRun) return outcome
  const { state, finishReason, begunAt, endedAt, pages, items, alerts = [] } = lastRun
  const end = {
    running: `${outcome}, and goes on`,
    lost: 'lost, as all its workers were killed',
    stopped: `stopped (${finishReason ?? 'by somebody'})`,
    finished: 'finished',
  }[state]
  const took = endedAt ? ` after ${durationInWords((Date.parse(endedAt) - Date.parse(begunAt)) / 1000)}` : ''
  return `${end}${took}: ${counted(pages, 'page')}, ${counted(items, 'item')}, ${alerts.length === 0 ? 'no alert' : counted(alerts.length, 'alert')}`
}

/** Returns the line that shows the runs of its crawl, with the words that named this Redis. */
function runsLine({ spider, crawlId }: ScheduleSeen, { set = [] }: Pick<OutsideFlags, 'set'>): string {
  const place = flagWords({ set: shownPlace(set) }).map(shellQuoted)
  return [commandName(), 'runs', typedByName({ name: spider }, crawlId), ...place].join(' ')
}

/** Returns those words that name a Redis, without those that have a password. */
function shownPlace(set: readonly string[]): string[] {
  return set.filter((pair) => namesRedis(nameOf(pair)) && shownPair(pair) === pair)
}

/** Returns a schedule as `--json` prints it, without secrets. */
export function scheduleJson(
  { flags, nextAt, last, lastRun, ...rest }: ScheduleSeen,
  typed: Pick<OutsideFlags, 'set'> = {},
) {
  return {
    ...rest,
    nextAt: nextAt.toISOString(),
    flags: flagWords(shownFlags(flags)),
    ...(last && {
      last: { ...last, dueAt: new Date(last.dueAt).toISOString(), at: new Date(last.at).toISOString() },
    }),
    ...(lastRun && { lastRun: { ...lastRun, more: runsLine({ ...rest, nextAt, flags }, typed) } }),
  }
}

function typedFlags({ flags }: ScheduleSeen): string {
  return flagWords(shownFlags(flags)).map(shellQuoted).join(' ')
}

/** Returns the crawl whose runs it begins, in words. */
export function crawlOf({ spider, crawlId }: ScheduleSeen): string {
  return crawlShown(crawlRedisKeys({ spider, crawlId }))
}

/**
 * Returns what to type where nobody begins these schedules' runs: with the words that named this Redis, which a process without them would not
 * serve. One with a password is not shown, and so not typed.
 */
export function unservedWords(
  waiting: readonly ScheduleSeen[],
  { set = [] }: Pick<OutsideFlags, 'set'>,
): string {
  const spiders = [...new Set(waiting.map(({ spider }) => spider))]
  const shown = spiders.slice(0, SPIDERS_SHOWN).join(', ')
  const more = spiders.length > SPIDERS_SHOWN ? ` and ${spiders.length - SPIDERS_SHOWN} more` : ''
  const place = set.filter((pair) => namesRedis(nameOf(pair)))
  const typed = shownPlace(set)
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
