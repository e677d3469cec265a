/** When a schedule's runs begin, by cron's expressions: BullMQ asks here, too. */

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
  const found = CronExpressionParser.parse(cron, { tz, currentDate: since }).next().toDate()
  return skippedTime(cron, tz, since, found) ?? found
}

/** BullMQ's `repeatStrategy`. */
export const nextMillis = (since: number, { pattern, tz }: { pattern?: string; tz?: string }): number =>
  nextTime(pattern!, tz!, new Date(since)).getTime()

/**
 * The time before `found` that clocks skip, as the next one that there is. The parser knows of whole hours that are skipped, and passes
 * over midnight (America/Santiago) and half hours (Australia/Lord_Howe).
 */
function skippedTime(cron: string, tz: string, since: Date, found: Date): Date | undefined {
  const shown = (at: Date) => at.getTime() + offsetAt(at, tz)
  const wanted = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(shown(since)) })
    .next()
    .getTime()
  if (wanted >= shown(found)) return undefined
  const at = new Date(wanted - offsetAt(new Date(wanted - DAY_MS), tz))
  return at > since && at < found && shown(at) !== wanted ? at : undefined
}

const DAY_MS = 86_400_000

/** How far clocks are ahead of UTC, milliseconds. */
function offsetAt(at: Date, tz: string): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName: 'longOffset' }).formatToParts(at)
  const { value = '' } = parts.find(({ type }) => type === 'timeZoneName') ?? {}
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(value) ?? []
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
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
