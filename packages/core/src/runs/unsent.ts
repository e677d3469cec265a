/** Messages of a run's monitors that could not be sent, and to whom: in the run's record, so that it is known when the log is gone. */

import type { UnsentSeen } from '../desk/history-seen.ts'
import type { MonitorNotes } from './run-log.ts'

/** Returns the channels that did not take something; those that have taken all in the end are left out. */
export function unsentOf({ failures = {}, outbox }: MonitorNotes): UnsentSeen[] {
  return Object.entries(failures).flatMap(([channel, failure]) => {
    const waiting = outbox.filter(({ to }) => to.includes(channel)).length
    return failure.lost + waiting > 0 ? [{ channel, ...failure, waiting }] : []
  })
}

/** `webhook of example.com has not taken 2 messages: it answers 404`. */
export function unsentWords({ channel, lost, waiting, reason }: UnsentSeen): string {
  const messages = (count: number) => (count === 1 ? '1 message' : `${count} messages`)
  const parts = [
    ...(lost > 0 ? [`has not taken ${messages(lost)}`] : []),
    ...(waiting > 0 ? [`${lost > 0 ? '' : 'has '}${messages(waiting)} still to be sent`] : []),
  ]
  return `${channel} ${parts.join(', ')}: ${reason}`
}
