/**
 * Sends the messages in a run's outbox. Any worker may send them, so those of a worker that has died are sent, too.
 *
 * Each message notes the channels that have yet to send it: while one channel is away, the others do not send it again. A message is sent
 * twice only when its sender dies between sending and noting that; both have the same id.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Notification, StatsCollector } from '@webloom/core'
import { type NotificationChannel, NotificationRefused } from '../notifications/notification.ts'
import type { OwnLines } from '../notifications/own-lines.ts'
import { failureShown, sendOnce } from '../notifications/send-once.ts'
import { withFailure, withoutChannel, withoutUnkept } from './notes.ts'
import type { RunHold } from './run-hold.ts'

export interface NotifierOptions {
  /** The channels of this worker, by name. */
  readonly channels: ReadonlyMap<string, NotificationChannel>
  readonly stats: StatsCollector
  readonly lines: OwnLines
  /** The pause before the second try to send a message; each further one is twice as long. */
  readonly firstPauseMs: number
}

export interface Sending {
  readonly hold: RunHold
  /** Tries before a message is given up at the end of a run. While the run goes on, each look tries so often, and gives up nothing. */
  readonly triesMax: number
  readonly isEnd: boolean
  /** Cuts pauses and tries short: what is not sent stays in the outbox. */
  readonly leaving: AbortSignal
}

/** What became of a message on one channel. */
type Outcome = 'sent' | 'later' | Lost

interface Lost {
  /** Why it is given up. */
  readonly lost: string
}

export class Notifier {
  readonly #options: NotifierOptions

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  async sendAll(sending: Sending): Promise<void> {
    await this.#tellUnkept(sending.hold)
    const outbox = await sending.hold.change((notes) => [notes, notes.outbox])
    const names = new Set(outbox.flatMap(({ to }) => to))
    await Promise.all(
      [...names].map((name) => {
        const messages = outbox.filter(({ to }) => to.includes(name))
        return this.#sendBy(
          name,
          messages.map(({ notification }) => notification),
          sending,
        )
      }),
    )
  }

  /** Sends a channel's messages in their order, up to one that is to be sent later. No other channel waits for it. */
  async #sendBy(name: string, messages: readonly Notification[], sending: Sending): Promise<void> {
    const { hold } = sending
    for (const notification of messages) {
      const outcome = await this.#outcome(name, notification, sending)
      if (outcome === 'later') return
      await hold.change((notes, atMs) => {
        const noted =
          outcome === 'sent' ? notes : withFailure(notes, name, { reason: outcome.lost, atMs, isLost: true })
        return [withoutChannel(noted, notification.id, name), undefined]
      })
    }
  }

  /** While a channel is away, only so many messages wait for it. */
  async #tellUnkept(hold: RunHold): Promise<void> {
    const { stats, lines } = this.#options
    const unkept = await hold.change(withoutUnkept)
    if (unkept === 0) return
    stats.inc('monitors/notification_count/lost', unkept)
    lines.error(
      { messages: unkept },
      'too many messages wait, so the oldest are not sent; their alerts are in the log and in webloom runs',
    )
  }

  async #outcome(
    name: string,
    notification: Notification,
    { hold, triesMax, isEnd, leaving }: Sending,
  ): Promise<Outcome> {
    const { channels, lines, firstPauseMs } = this.#options
    const channel = channels.get(name)
    // Of a worker with other settings, which is there while the run goes on.
    if (!channel) return isEnd ? this.#lost(name, 'no worker with this channel is left') : 'later'
    const cut = AbortSignal.any([hold.lost, leaving])
    for (let tries = 1; ; tries++) {
      const failure = await this.#send(channel, notification, hold.lost)
      if (failure === undefined) return 'sent'
      const reason = failureShown(failure)
      if (failure instanceof NotificationRefused) return this.#lost(name, reason)
      if (isEnd && tries >= triesMax) return this.#lost(name, reason)
      lines.warn({ channel: name, reason }, 'alerts could not be sent; another try follows')
      // At once: whoever sends it may be killed before its next try.
      await hold.change((notes, atMs) => [
        withFailure(notes, name, { reason, atMs, isLost: false }),
        undefined,
      ])
      if (tries >= triesMax || cut.aborted) return 'later'
      await sleep(firstPauseMs * 2 ** (tries - 1), undefined, { signal: cut }).catch(() => {})
      if (cut.aborted) return 'later'
    }
  }

  /** Resolves to why it could not be sent. */
  async #send(channel: NotificationChannel, notification: Notification, lost: AbortSignal): Promise<unknown> {
    try {
      await sendOnce(channel, notification, lost)
      if (!channel.isLog) this.#options.stats.inc('monitors/notification_count/sent')
      return undefined
    } catch (error) {
      return error ?? new Error('it failed')
    }
  }

  #lost(channel: string, reason: string): Lost {
    const { stats, lines } = this.#options
    stats.inc('monitors/notification_count/lost')
    lines.error({ channel, reason }, 'alerts could not be sent; they are in the log and in webloom runs')
    return { lost: reason }
  }
}
