import type { AlarmSeen } from '@webloom/core'

/** What people are told: alarms of one run. */
export interface Notice {
  /** The same when it is sent again, by this worker or another. */
  readonly id: string
  readonly spider: string
  readonly run: string
  readonly alarms: readonly AlarmSeen[]
  readonly pages: number
  readonly items: number
  /** Absent while the run goes on. */
  readonly finishReason?: string
}

/** A way on which people are told. */
export interface NoticeChannel {
  /** As the log calls it; without secrets. */
  readonly name: string
  /** Sends it once. Rejects with `NoticeRefused` where another try would change nothing. */
  send(notice: Notice, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** The receiver does not want the message, or its address may not be connected to. */
export class NoticeRefused extends Error {}

/** One line: for subjects, and the first line of a text. */
export function noticeTitle({ spider, alarms, finishReason }: Notice): string {
  const count = alarms.length === 1 ? 'a monitor has' : `${alarms.length} monitors have`
  return `${spider}: ${count} found something ${finishReason === undefined ? 'while the crawl runs' : `in a run that ended with ${finishReason}`}`
}

/** As plain text. */
export function noticeText(notice: Notice): string {
  const alarms = notice.alarms.map(({ words, pages = [] }) =>
    [`• ${words}`, ...pages.map((page) => `   ${page}`)].join('\n'),
  )
  return [
    noticeTitle(notice),
    ...alarms,
    `${notice.pages} pages, ${notice.items} items; run ${notice.run}. More: webloom runs ${notice.spider} --compare`,
  ].join('\n')
}
