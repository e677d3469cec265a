import { expect, test } from 'vitest'
import { NO_NOTES, type OutgoingMessage } from './run-log.ts'
import { unsentOf, unsentWords } from './unsent.ts'

const waits = (to: string[]) => ({ to }) as unknown as OutgoingMessage

test('a channel is told of while messages to it are lost or wait, and not when it has taken all in the end', () => {
  const at = '2026-11-27T06:00:00.000Z'
  const failures = {
    gone: { lost: 1, reason: 'it answers 404', at },
    away: { lost: 0, reason: 'it answers 503', at },
    both: { lost: 2, reason: 'it answers 503', at },
    recovered: { lost: 0, reason: 'it answers 503', at },
  }
  const outbox = [waits(['away', 'both']), waits(['quick'])]
  expect(unsentOf({ ...NO_NOTES, failures, outbox }).map(unsentWords)).toEqual([
    'gone has not taken 1 message: it answers 404',
    'away has 1 message still to be sent: it answers 503',
    'both has not taken 2 messages, 1 message still to be sent: it answers 503',
  ])
  expect(unsentOf(NO_NOTES)).toEqual([])
})
