/** What a way to tell people of alerts keeps to, whatever it sends by. */

import assert from 'node:assert/strict'
import type { Notification } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import { type NotificationChannel, NotificationRefused } from '../src/notifications/notification.ts'

export interface Received {
  /** By which a receiver tells that it has had the message before. */
  readonly id: string
  readonly text: string
}

export interface ChannelUnderTest {
  readonly channel: NotificationChannel
  /** What the receiver has taken until now. */
  readonly received: readonly Received[]
  /** Of what it is made with, none of which may be shown. */
  readonly secrets: readonly string[]
  /** From now on the receiver takes nothing: for the moment, or never again. */
  refuse(how: 'for now' | 'for good'): void
}

const WORDS = 'price: 0 % of the last 412 items have it'
const NOTIFICATION: Notification = {
  id: '7f1c',
  spider: 'quotes',
  run: 'r1',
  alerts: [{ id: 'coverage/price', words: WORDS, at: '2026-01-01T00:00:00.000Z', pages: [] }],
  pages: 9,
  items: 7,
}

const send = ({ channel }: ChannelUnderTest) => channel.send(NOTIFICATION, AbortSignal.timeout(10_000))
const refusal = (under: ChannelUnderTest) =>
  send(under).then(
    () => assert.fail('it was sent'),
    (error: Error) => error,
  )

const TESTS: ContractTests<ChannelUnderTest> = {
  'a message comes once, and says what was found and where': async (under) => {
    await send(under)
    assert.equal(under.received.length, 1)
    for (const words of [WORDS, 'quotes']) assert.ok(under.received[0]!.text.includes(words), words)
  },
  'one that is sent again has the id of the first': async (under) => {
    await send(under)
    await send(under)
    const ids = under.received.map(({ id }) => id)
    assert.equal(ids.length, 2)
    assert.equal(ids[0], ids[1])
    assert.ok(ids[0]!.includes(NOTIFICATION.id))
  },
  'a receiver that takes nothing for now is asked again: what it rejects with is no NotificationRefused':
    async (under) => {
      under.refuse('for now')
      assert.ok(!((await refusal(under)) instanceof NotificationRefused))
      assert.deepEqual(under.received, [])
    },
  'one that will never take it is not asked again: NotificationRefused': async (under) => {
    under.refuse('for good')
    assert.ok((await refusal(under)) instanceof NotificationRefused)
    assert.deepEqual(under.received, [])
  },
  'neither its name nor what it rejects with shows a secret': async (under) => {
    under.refuse('for now')
    const shown = `${under.channel.name} ${(await refusal(under)).message}`
    for (const secret of under.secrets) assert.ok(!shown.includes(secret), shown)
  },
  'closing it twice is closing it once': async ({ channel }) => {
    await channel.close()
    await channel.close()
  },
}

export function notificationChannelContract(
  runner: TestRunner,
  implementation: Implementation<ChannelUnderTest>,
): void {
  runContract(runner, 'NotificationChannel', TESTS, implementation)
}
