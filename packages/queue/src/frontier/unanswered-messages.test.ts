/** What a worker knows of its slots outlives a message that Redis did not answer, and a Redis that has come back older. */

import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { packRequest } from '../leasing/packed-request.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { Message } from './frontier-message.ts'
import type { BucketLease } from './held-turn.ts'
import type { LineBehind, SlotKnown, Taken, TurnUpdate } from './turn-protocol.ts'

const SLOT = 'a.test'
const DELAY_MS = 10_000
const LINE = { bucket: '#1', slot: SLOT, priority: 0 }
const STEADY = { randomize: false, jitter: 0 }
const DELAYED = { delayMs: DELAY_MS, concurrency: 8, ...STEADY }
const ONE_AT_ONCE = { delayMs: 0, concurrency: 1, ...STEADY }
const NO_ANSWER = { error: new Error('no answer') }

/** A worker that has one bucket, with so many requests of one slot, of which those that may go are out. */
class OneSlot {
  readonly machine: FrontierMachine
  #out: BucketLease[] = []
  #number = 0

  constructor(pace: typeof DELAYED, requests: number, known?: SlotKnown) {
    this.machine = machineOf(pace, { onStart: (lease) => this.machine.requests.started(lease, 0) })
    this.machine.states.begun(firstLane('#1'), 'w/1', { head: 0, ready: 1 }, 0)
    const taken = Array.from({ length: requests }, (_, n) => {
      const text = packRequest({ id: `${n}`, request: new Request(`http://${SLOT}/${n}`) })
      return { token: `1.${n + 1}`, slot: SLOT, priority: 0, text, waiting: 0, ...(known && { known }) }
    })
    this.answered(this.message(0)!, 0, { taken })
    this.#start(0)
  }

  message(nowMs: number): Message | undefined {
    return this.machine.message(nowMs, { demand: 8, out: this.#out.length, number: ++this.#number })
  }

  answered(
    message: Message,
    nowMs: number,
    { taken = [], kept = [] }: { taken?: readonly Taken[]; kept?: readonly LineBehind[] } = {},
  ): void {
    this.machine.answered(message, [{ status: 'held', unitStatus: { ready: 0 }, taken, kept }], nowMs)
  }

  /** What is out ends, with these links of the slot. Returns what Redis was told, and had an answer to. */
  pageEnds(nowMs: number, links: readonly string[] = []): TurnUpdate {
    const placed = links.length > 0 ? [{ place: 'end' as const, ...LINE, texts: links }] : []
    for (const lease of this.#out.splice(0)) this.machine.requests.end(lease, { placed }, nowMs)
    const message = this.message(nowMs)!
    this.answered(message, nowMs)
    this.#start(nowMs)
    return updateOf(message)
  }

  #start(nowMs: number): void {
    this.#out = this.machine.requests.handOut(8, nowMs)
    for (const lease of this.#out) lease.started()
  }
}

function updateOf(message: Message | undefined): TurnUpdate {
  return [...message!.updates.values()][0]!
}

const FREE = { ...DELAYED, delayMs: 0 }
const LEARNED: SlotKnown = { waitMs: 0, floorMs: DELAY_MS, failures: 0, pausedMs: 0 }

test.each([
  ['by the settings', DELAYED, undefined],
  ['learned', FREE, LEARNED],
])(
  'when a slot with a delay %s may be asked again is told anew after each message without an answer, though the slot is dropped with it',
  (_delay, pace, known) => {
    const one = new OneSlot(pace, 1, known)
    one.pageEnds(100, ['link'])
    for (let nowMs = 100; nowMs < 5000; nowMs += 100) {
      const message = one.message(nowMs)!
      expect(updateOf(message).told[0]!.waitMs).toBe(DELAY_MS - nowMs)
      one.machine.unanswered(message, nowMs + 50, NO_ANSWER)
    }
  },
)

test('a Redis that has come back older is told when a slot may be asked again: it does not know of the last start', () => {
  const one = new OneSlot(DELAYED, 1)
  one.machine.states.startOver('it has gone back', 100)
  expect(updateOf(one.message(100)).told[0]).toMatchObject({ slot: SLOT, waitMs: DELAY_MS - 100 })
})

test('a slot that was hot, and is dropped as Redis has come back older, is asked for as any other', () => {
  const one = new OneSlot(DELAYED, 1)
  const [turn] = one.machine.turns
  const [slot] = turn!.slots.values()
  slot!.isHot = true
  one.machine.states.startOver('it has gone back', 100)
  expect(slot!.isHot).toBe(false)
})

/** Three requests of a slot of which one may be out; more comes, and the message names the slot as full. */
function named(): { one: OneSlot; message: Message } {
  const one = new OneSlot(ONE_AT_ONCE, 3)
  one.machine.states.nudged({ unit: '#1', priority: 0 }, 1)
  const message = one.message(1)!
  expect(updateOf(message).asked.more).toEqual([{ slot: SLOT, most: 0 }])
  return { one, message }
}

test('what waits of a slot that is full here is taken as a page of it ends', () => {
  const { one, message } = named()
  one.answered(message, 2, { kept: [{ slot: SLOT, waiting: 5, head: 0 }] })
  expect(one.pageEnds(3).asked.more).toEqual([{ slot: SLOT, most: 1 }])
})

test('nothing of a full slot is asked for when nothing waits', () => {
  const { one, message } = named()
  one.answered(message, 2)
  expect(one.pageEnds(3).asked.more).toEqual([])
})

test('what may wait of a slot that is full here is taken, too, when the message that named it was not answered: it may have been done', () => {
  const { one, message } = named()
  one.machine.unanswered(message, 2, NO_ANSWER)
  expect(one.pageEnds(3).asked.more).toEqual([{ slot: SLOT, most: 1 }])
})
