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
  const [place, field] = NAMED.test(cron.trim()) ? [] : tooLargeStep(fields)
  if (place !== undefined)
    throw badCron(cron, `${field} as its ${place} begins once each ${STEPS[place]}, not at each such step`)
  try {
    nextTime(cron, tz, new Date())
  } catch (cause) {
    throw badCron(cron, wordsOf(cause as Error), cause)
  }
}

/**
 * The first time after `since`. What clocks skip in an hour begins so much later as they skip; what comes twice begins at the first,
 * unless the expression means each hour.
 */
export function nextTime(cron: string, tz: string, since: Date): Date {
  const times = timesAfter(cron, tz, since)
  let found = times()
  while (hasCome(cron, tz, found)) found = times()
  return skippedTime(cron, tz, since, found) ?? found
}

function timesAfter(cron: string, tz: string, since: Date): () => Date {
  const times = CronExpressionParser.parse(cron, { tz, currentDate: since })
  return () => times.next().toDate()
}

/** BullMQ's `repeatStrategy`. */
export const nextMillis = (since: number, { pattern, tz }: { pattern?: string; tz?: string }): number =>
  nextTime(pattern!, tz!, new Date(since)).getTime()

/** Who asks within an hour that comes again is told its times by the parser, though they have been. */
function hasCome(cron: string, tz: string, at: Date): boolean {
  const before = new Date(at.getTime() - DAY_MS)
  const backMs = offsetAt(before, tz) - offsetAt(at, tz)
  const first = new Date(at.getTime() - backMs)
  if (backMs <= 0 || offsetAt(first, tz) === offsetAt(at, tz)) return false
  const times = timesAfter(cron, tz, new Date(first.getTime() - 1))
  let next = times()
  while (next < at) next = times()
  return next > at
}

/**
 * The time before `found` that clocks skip, as what they show instead. The parser knows of whole hours that are skipped, of one time in
 * each, and passes over midnight (America/Santiago) and half hours (Australia/Lord_Howe).
 */
function skippedTime(cron: string, tz: string, since: Date, found: Date): Date | undefined {
  // After the change clocks show an hour that is not yet through by those that were not changed.
  for (const near of [new Date(since.getTime() - DAY_MS), since]) {
    const shown = new Date(since.getTime() + offsetAt(near, tz))
    const wanted = timesAfter(cron, 'UTC', shown)().getTime()
    const at = new Date(wanted - offsetAt(new Date(wanted - DAY_MS), tz))
    if (at > since && at < found && isSkipped(wanted, at, tz)) return at
  }
  return undefined
}

/** No clock shows it. */
function isSkipped(wanted: number, at: Date, tz: string): boolean {
  return [at, new Date(at.getTime() - DAY_MS)].every((near) => {
    const then = new Date(wanted - offsetAt(near, tz))
    return then.getTime() + offsetAt(then, tz) !== wanted
  })
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

const STEPS = {
  second: 'minute',
  minute: 'hour',
  hour: 'day',
  day: 'month',
  month: 'year',
  weekday: 'week',
} as const
const PLACES = ['second', 'minute', 'hour', 'day', 'month', 'weekday'] as const
const STEP_MAX = { second: 59, minute: 59, hour: 23, day: 31, month: 12, weekday: 7 } as const

/** Cron takes steps of ninety minutes, and begins at each full hour. */
function tooLargeStep(fields: readonly string[]): [keyof typeof STEPS, string] | [] {
  for (const [n, place] of PLACES.slice(6 - fields.length).entries()) {
    const [, step] = /\/(\d+)/.exec(fields[n]!) ?? []
    if (step !== undefined && Number(step) > STEP_MAX[place]) return [place, fields[n]!]
  }
  return []
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
