import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { packRequest } from '../leasing/packed-request.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { BucketLease } from './held-turn.ts'
import type { TurnUpdate } from './turn-protocol.ts'

const SLOT = 'a.test'
const READY = { head: 0, ready: 3 }
const START_MS = 1000

/** A worker with no room, which has a page of the slot in work while more of it, and other slots, wait; it leaves the bucket from `START_MS` on. */
function leavingMachine(pace: { delayMs: number; concurrency: number }): {
  machine: FrontierMachine
  page: BucketLease
} {
  const usual = { randomize: false, jitter: 0 }
  const machine = machineOf({ ...pace, ...usual }, { onStart: (lease) => machine.requests.started(lease, 0) })
  machine.states.begun(firstLane('#1'), 'w/1', READY, 0)
  const message = machine.message(0, { demand: 1, out: 0, number: 1 })!
  const request = new Request(`http://${SLOT}/`)
  const taken = {
    ...{ token: '1.1', slot: SLOT, priority: 0, text: packRequest({ id: 'p', request }) },
    ...{ waiting: 2, head: 0 },
  }
  machine.answered(message, [{ status: 'held', unitStatus: READY, taken: [taken] }], 0)
  const [page] = machine.requests.handOut(1, 0)
  page!.started()
  machine.states.leave([...machine.turns][0]!, START_MS)
  return { machine, page: page! }
}

/** What Redis is told as the worker looks after its turns at that time. */
function toldAt(machine: FrontierMachine, nowMs: number): TurnUpdate | undefined {
  machine.tend(nowMs, 0)
  const message = machine.message(nowMs, { demand: 0, out: 1, number: 2 })
  const [update] = message?.updates.values() ?? []
  if (message) machine.answered(message, [{ status: 'held', unitStatus: READY, taken: [] }], nowMs)
  return update
}

test('when another worker has nothing to do, hosts that wait behind a page that takes long get units of their own', () => {
  const { machine } = leavingMachine({ delayMs: 0, concurrency: 4 })
  expect(toldAt(machine, START_MS + 600), 'nobody is known to have nothing to do').toBeUndefined()
  machine.others.hungry(START_MS + 10_000, { wants: 64, isBelowShare: false })
  const update = toldAt(machine, START_MS + 700)
  expect(update?.heats).toBeGreaterThan(0)
  expect(update?.returned, 'its own host, too, and it is told what is in flight').toMatchObject([
    { slot: SLOT, lanes: 2, mixed: 1 },
  ])
  expect(toldAt(machine, START_MS + 800), 'it was just told').toBeUndefined()
  expect(toldAt(machine, START_MS + 1300)?.heats).toBeGreaterThan(0)
})

test('for some time the page is waited for, so that the bucket can be left', () => {
  const { machine } = leavingMachine({ delayMs: 0, concurrency: 4 })
  machine.others.hungry(START_MS + 10_000, { wants: 64, isBelowShare: false })
  expect(toldAt(machine, START_MS + 400)).toBeUndefined()
})

test.each([
  ['has all in flight that it may', { delayMs: 0, concurrency: 1 }],
  ['has a delay, of which only this worker knows when it is over', { delayMs: 100, concurrency: 4 }],
])('a host that %s stays', (_what, pace) => {
  const { machine } = leavingMachine(pace)
  machine.others.hungry(START_MS + 10_000, { wants: 64, isBelowShare: false })
  const update = toldAt(machine, START_MS + 700)
  expect(update?.heats).toBeGreaterThan(0)
  expect(update?.returned).toEqual([])
})
