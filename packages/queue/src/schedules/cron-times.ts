/** When a schedule's runs begin, by cron's expressions: BullMQ reads them with the same parser. */

import { didYouMean, UsageError } from '@webloom/core'
import { CronExpressionParser } from 'cron-parser'

/** Throws `UsageError` for an expression that cron would not take, or a time zone that there is not. */
export function checkCron(cron: string, tz: string): void {
  checkTimeZone(tz)
  const fields = cron.trim() === '' ? [] : cron.trim().split(/\s+/)
  // Jenkins's: another minute each time that it is read.
  if (fields.some((field) => /^H/i.test(field))) throw badCron(cron, 'H names no time')
  if (!NAMED.test(cron.trim()) && fields.length !== 5 && fields.length !== 6)
    throw badCron(cron, `it has ${fields.length} field${fields.length === 1 ? '' : 's'}`)
  try {
    nextTime(cron, tz, new Date())
  } catch (cause) {
    throw badCron(cron, wordsOf(cause as Error), cause)
  }
}

/** The first time after `since`. An hour that clocks skip begins at the next one that there is; one that comes twice begins once. */
export function nextTime(cron: string, tz: string, since: Date): Date {
  return CronExpressionParser.parse(cron, { tz, currentDate: since }).next().toDate()
}

const NAMED = /^@(?:yearly|annually|monthly|weekly|daily|hourly)$/

/** The parser's own, but for a day that never comes: `0 0 30 2 *`, `0 0 31 4,6 *`. */
function wordsOf({ message }: Error): string {
  if (/loop limit exceeded|explicit day of month/i.test(message)) return 'no such day of a month ever comes'
  return message.replace(/\.+$/, '')
}

function badCron(cron: string, why: string, cause?: unknown): UsageError {
  return new UsageError(
    'WL_USAGE',
    `${JSON.stringify(cron)} is no time at which a crawl could begin: ${why}. Expected five fields, minute hour day month weekday, in one word for the shell: '0 6 * * *' is each day at six, '*/30 * * * *' each half hour, '0 6 * * 1-5' on workdays; or @hourly, @daily, @weekly, @monthly`,
    cause === undefined ? undefined : { cause },
  )
}

function checkTimeZone(tz: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz })
  } catch (cause) {
    const hint = didYouMean(tz, Intl.supportedValuesOf('timeZone'))
    throw new UsageError(
      'WL_USAGE',
      `there is no time zone ${JSON.stringify(tz)}.${hint} Expected a name such as Europe/Berlin or UTC:  --tz Europe/Berlin`,
      { cause },
    )
  }
}
