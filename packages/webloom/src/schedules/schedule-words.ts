/** A schedule in words: in a list, as JSON, and what to type where nobody serves it. */

import { environmentVariable } from '@webloom/core'
import { crawlRedisKeys, crawlShown, type ScheduleSeen } from '@webloom/queue'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { namesRedis } from '../redis/desk-servers.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { atShown } from './at-shown.ts'
import { flagWords, shownFlags, shownPair } from './flag-words.ts'

/** Of those whose runs nobody begins. */
const SPIDERS_SHOWN = 5

/** Returns the lines of a schedule in a list. */
export function scheduleLines(seen: ScheduleSeen & { readonly isHere: boolean }): string[] {
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

/** Returns a schedule as `--json` prints it, without secrets. */
export function scheduleJson({ flags, nextAt, last, ...rest }: ScheduleSeen) {
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
