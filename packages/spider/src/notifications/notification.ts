import { crawlTitle, type Notification } from '@webloom/core'
import { oneLine } from './one-line.ts'

/** A way to tell people what monitors have found; `outcome/crawl-monitors.ts` of `webloom` lists them. */
export interface NotificationChannel {
  /** As the log calls it; without secrets. */
  readonly name: string
  /** The log itself: of it nobody is told that it was told. */
  readonly isLog?: boolean
  /**
   * Sends it once. Resolves to what the receiver has answered, if that says anything. Rejects with `NotificationRefused` where another
   * try would change nothing.
   */
  send(notification: Notification, signal: AbortSignal): Promise<string | void>
  close(): Promise<void>
}

/** The receiver does not want the message, or its address may not be connected to. */
export class NotificationRefused extends Error {}

/** One line: for subjects, and the first line of a text. */
export function notificationTitle(notification: Notification): string {
  const { spider, crawlId, alerts, resolved = [], finishReason } = notification
  const crawl = crawlTitle(spider, crawlId)
  if (notification.isTest) return `${crawl}: a test of its alerts`
  if (alerts.length === 0) return `${crawl}: ${counted(resolved.length)} recovered`
  if (alerts.every(({ id }) => id === 'schedule')) return `${crawl}: a scheduled run cannot be`
  if (alerts.every(({ id }) => id === 'schedule_gone')) return `${crawl}: its schedule is gone`
  return `${crawl}: ${counted(alerts.length)} found something ${finishReason === undefined ? 'while the crawl runs' : `in a run that ended with ${finishReason}`}`
}

/** Returns the message as plain text. Alerts that would make it longer than `charsMax` are left out; it says how many. */
export function notificationText(notification: Notification, charsMax = Number.POSITIVE_INFINITY): string {
  const { alerts, resolved = [], pages, items, run, spider } = notification
  const { more = `webloom runs ${spider} --compare` } = notification
  const entries = [
    ...alerts.map(({ words, pages = [] }) =>
      [`• ${oneLine(words)}`, ...pages.map((page) => `   ${oneLine(page)}`)].join('\n'),
    ),
    ...resolved.map(({ id, words }) => `• ${oneLine(`${id} has recovered; it had found: ${words}`)}`),
  ]
  const end = notification.isTest
    ? `More: ${more}`
    : `${pages} pages, ${items} items; run ${run}. More: ${more}`
  const text = (shown: number) => {
    const left = entries.length - shown
    return [
      notificationTitle(notification),
      ...entries.slice(0, shown),
      ...(left > 0 ? [`and ${left} others`] : []),
      end,
    ].join('\n')
  }
  let shown = entries.length
  while (shown > 0 && text(shown).length > charsMax) shown--
  return text(shown).slice(0, charsMax)
}

function counted(count: number): string {
  return count === 1 ? 'a monitor has' : `${count} monitors have`
}
