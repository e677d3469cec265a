import { NO_NOTES, type OutgoingMessage, type RunLook, type RunSeen } from '@webloom/core'
import { expect, test } from 'vitest'
import { notificationText } from '../notifications/notification.ts'
import {
  goneOn,
  RESOLVED_AFTER_MS,
  withoutChannel,
  withoutUnkept,
  withRaised,
  withResolved,
} from './notes.ts'

const RUN: RunSeen = {
  run: 'r1',
  state: 'running',
  begunAt: new Date(0).toISOString(),
  requests: 0,
  pages: 9,
  items: 7,
  errors: 0,
  givenUp: 0,
  filtered: 0,
  bytes: 0,
  statuses: {},
  fields: {},
}
const look: RunLook = { run: RUN, past: [], stats: {}, atMs: 0, runningSinceMs: 0 }
const audience = { spider: 'quotes', channels: ['log', 'mail'] }
const finding = (id: string) => ({ id, words: `words of ${id}` })

test('what is found again and again is raised once; what is not found for minutes is over, is told so, and may be raised again', () => {
  const at = (nowMs: number) => ({ look, nowMs, audience })
  const found = [finding('items/everyMinutes')]
  let notes = withRaised(NO_NOTES, found, at(1000)).notes
  notes = withRaised(withResolved(notes, found, at(1000)), found, at(2000)).notes
  expect(notes.outbox).toHaveLength(1)
  notes = withResolved(notes, [], at(3000))
  notes = withResolved(notes, found, at(4000))
  notes = withResolved(notes, [], at(5000))
  expect(withResolved(notes, [], at(4999 + RESOLVED_AFTER_MS)).outbox).toHaveLength(1)
  notes = withResolved(notes, [], at(5000 + RESOLVED_AFTER_MS))
  expect(notes.alerts[0]?.resolvedAt).toBe(new Date(5000 + RESOLVED_AFTER_MS).toISOString())
  expect(notes.outbox[1]?.notification).toMatchObject({
    alerts: [],
    resolved: [{ id: 'items/everyMinutes' }],
  })
  notes = withRaised(notes, found, at(6000 + RESOLVED_AFTER_MS)).notes
  expect([notes.alerts.length, notes.alerts[0]?.resolvedAt, notes.outbox.length]).toEqual([1, undefined, 3])
})

test('a message goes from the outbox when its last channel has it', () => {
  const { notes } = withRaised(NO_NOTES, [finding('errors')], { look, nowMs: 0, audience })
  const { id } = notes.outbox[0]!.notification
  const once = withoutChannel(notes, id, 'log')
  expect(once.outbox.map(({ to }) => to)).toEqual([['mail']])
  expect(withoutChannel(once, id, 'mail').outbox).toEqual([])
})

test('what was found at an end is forgotten when the run goes on, what was found before stays', () => {
  const { notes } = withRaised(NO_NOTES, [finding('errors')], { look, nowMs: 0, audience })
  const ended = { ...look, run: { ...RUN, state: 'stopped' as const, endedAt: 'then' } }
  const end = withRaised(notes, [finding('errors'), finding('items/min')], {
    look: ended,
    nowMs: 9,
    audience,
  })
  const judged = { ...end.notes, judgedEnd: { at: 'then', alerts: end.raised.map(({ id }) => id) } }
  const goesOn = goneOn(judged)
  expect(goesOn.alerts.map(({ id }) => id)).toEqual(['errors'])
  expect(goesOn.outbox).toEqual(notes.outbox)
  expect(goesOn.judgedEnd).toBeUndefined()
})

test('of messages that wait the oldest go when there are too many, and how many went is told once', () => {
  let notes = NO_NOTES
  for (let n = 0; n < 23; n++)
    notes = withRaised(notes, [finding(`f${n}`)], { look, nowMs: n, audience }).notes
  expect([notes.outbox.length, notes.outbox[0]?.notification.alerts[0]?.id]).toEqual([20, 'f3'])
  const [told, unkept] = withoutUnkept(notes)
  expect(unkept).toBe(3 * audience.channels.length)
  expect(withoutUnkept(told)[1]).toBe(0)
})

test('what a site has written adds no line to a message, and drives no terminal', () => {
  const forged = { id: 'coverage/a\n\u2028', words: 'a\x1b[31m\n• all is well\u202e: 0 %' }
  const { notes } = withRaised(NO_NOTES, [forged], { look, nowMs: 0, audience })
  const [{ notification }] = notes.outbox as [OutgoingMessage]
  expect(notification.alerts[0]?.words).toBe(String.raw`a\u001b[31m\n• all is well\u202e: 0 %`)
  const recovered = { ...notification, alerts: [], resolved: notification.alerts }
  for (const one of [notification, recovered]) expect(notificationText(one).split('\n')).toHaveLength(3)
})
