import { type Notification, unlessAborted, withoutTextSecrets } from '@webloom/core'
import { thrownMessage } from '../scraping/error-kinds.ts'
import type { NotificationChannel } from './notification.ts'

const SEND_MS_MAX = 10_000

/** Resolves to what the receiver has answered, or to an empty text. Rejects also when it does not answer for ten seconds. */
export async function sendOnce(
  channel: NotificationChannel,
  notification: Notification,
  cut?: AbortSignal,
): Promise<string> {
  const deadline = AbortSignal.timeout(SEND_MS_MAX)
  const signal = cut ? AbortSignal.any([cut, deadline]) : deadline
  const sending = channel.send(notification, signal).then((answer) => ({ answer: answer ?? '' }))
  const sent = await unlessAborted(signal, sending)
  if (!sent) throw new Error(`no answer for ${SEND_MS_MAX / 1000} s`)
  return sent.answer
}

/** Returns why a message could not be sent, as people may see it. */
export function failureShown(failure: unknown): string {
  return withoutTextSecrets(thrownMessage(failure))
}
