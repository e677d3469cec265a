/** A message that says it is a test, through each channel of a crawl: a wrong address is to be noticed on the day on which it is written. */

import { randomUUID } from 'node:crypto'
import type { Logger, Notification, StatsCollector } from '@webloom/core'
import { byName } from './channel-names.ts'
import { LogChannel } from './log-channel.ts'
import { type NotificationChannel, NotificationRefused } from './notification.ts'
import { OwnLines } from './own-lines.ts'
import { failureShown, sendOnce } from './send-once.ts'

/** What came back from a channel. */
export interface ChannelAnswer {
  /** As the log calls it; without secrets. */
  readonly channel: string
  readonly isAccepted: boolean
  /** Another try would change nothing. */
  readonly isRefused?: true
  /** What its receiver has answered, or why the message did not reach it. */
  readonly answer: string
}

export interface TestMessage {
  readonly spider: string
  readonly crawlId: string | null
  /** The line that shows the crawl's runs, to be typed. */
  readonly more: string
  /** Those of the crawl besides the log. */
  readonly channels: readonly NotificationChannel[]
  readonly stats: StatsCollector
  readonly logger: Logger
}

const ANSWER_CHARS_MAX = 200
const WORDS = 'this is a test (webloom monitors test): nothing is wrong, and alerts of this crawl come here'

/** Sends it on all channels at once, and once on each. Never rejects, and closes the channels. */
export async function sendTestMessage({
  spider,
  crawlId,
  more,
  channels,
  stats,
  logger,
}: TestMessage): Promise<ChannelAnswer[]> {
  const at = new Date().toISOString()
  const notification: Notification = {
    ...{ id: randomUUID(), isTest: true, spider, ...(crawlId !== null && { crawlId }) },
    ...{ run: 'test', more, alerts: [{ id: 'test', words: WORDS, at }], pages: 0, items: 0 },
  }
  const log = new LogChannel(new OwnLines(logger, stats), stats)
  return sendToEach(notification, [...channels, log], () => lineOf(stats))
}

/**
 * Sends a message on all channels at once, and once on each. Never rejects, and closes the channels.
 *
 * @param logged tells what became of it in the log
 * @param to names of channels on which it is still to be sent; default: all
 */
export async function sendToEach(
  notification: Notification,
  channels: readonly NotificationChannel[],
  logged = () => 'written',
  to?: readonly string[],
): Promise<ChannelAnswer[]> {
  const answers = [...byName(channels)].map(async ([name, channel]) => {
    try {
      if (to?.includes(name) === false) return []
      const answer = (await sendOnce(channel, notification)) || (channel.isLog ? logged() : 'accepted')
      return [{ channel: name, isAccepted: true, answer: answer.slice(0, ANSWER_CHARS_MAX) }]
    } catch (error) {
      const answer = failureShown(error).slice(0, ANSWER_CHARS_MAX)
      const isRefused = error instanceof NotificationRefused && ({ isRefused: true } as const)
      return [{ channel: name, isAccepted: false, ...isRefused, answer }]
    } finally {
      await channel.close().catch(() => {})
    }
  })
  return (await Promise.all(answers)).flat()
}

/** Whoever has turned the log off wants nothing there. */
function lineOf(stats: StatsCollector): string {
  const lines = Number(stats.get('monitors/log_count/ERROR') ?? 0)
  return lines > 0 ? 'written, at level ERROR' : 'nothing is written, by LOG_ENABLED or LOG_LEVEL'
}
