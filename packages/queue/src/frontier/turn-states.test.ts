/** What a worker does about what has come for its turns, by whatever order it hears of it. */

import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { packRequest } from '../leasing/packed-request.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { Taken, UnitStatus } from './turn-protocol.ts'

const PACE = { delayMs: 0, concurrency: 8, randomize: false, jitter: 0 }
const NOTHING: UnitStatus = { ready: 0 }

/** A worker that has one bucket. */
function workerWith(unitStatus: UnitStatus): FrontierMachine {
  const machine = machineOf(PACE)
  machine.states.begun(firstLane('#1'), 'w/1', unitStatus, 0)
  return machine
}

/** A request that came, behind which one more waits. */
function takenOf(slot: string, head: number): Taken {
  const text = packRequest({ id: slot, request: new Request(`http://${slot}/`) })
  return { token: `1.${head + 1}`, slot, priority: head, text, waiting: 1, head }
}

const ARRIVALS: readonly [how: string, arrive: (machine: FrontierMachine) => void][] = [
  ['another worker', (machine) => machine.states.nudged({ unit: '#1', priority: 0 }, 1)],
  [
    'this one',
    (machine) => machine.states.arrived([{ place: 'end', bucket: '#1', slot: 'a.test', priority: 0 }], 1),
  ],
]

test.each(ARRIVALS)(
  'what %s brings while an answer is on its way is asked for, though that says that there is nothing',
  (_how, arrive) => {
    const machine = workerWith({ head: 0, ready: 1 })
    const message = machine.message(0, { demand: 8, out: 0, number: 1 })!
    arrive(machine)
    machine.answered(message, [{ status: 'held', unitStatus: NOTHING, taken: [] }], 2)
    const next = machine.message(2, { demand: 8, out: 0, number: 2 })!
    expect([...next.updates.values()].map(({ asked }) => asked.slots)).toEqual([1])
    machine.answered(next, [{ status: 'held', unitStatus: NOTHING, taken: [] }], 3)
    expect(machine.hasSources).toBe(false)
  },
)

test.each([
  [
    'another worker',
    (machine: FrontierMachine) => machine.states.nudged({ unit: '#1', slot: 'a.test', priority: 5 }, 1),
  ],
  [
    'this one',
    (machine: FrontierMachine) =>
      machine.states.arrived([{ place: 'end', bucket: '#1', slot: 'a.test', priority: 5 }], 1),
  ],
])('an urgent request that %s brings to a slot while it is being taken goes next', (_who, bring) => {
  const machine = workerWith({ head: 0, ready: 2 })
  const take = machine.message(0, { demand: 2, out: 0, number: 1 })!
  bring(machine)
  machine.answered(
    take,
    [{ status: 'held', unitStatus: NOTHING, taken: [takenOf('a.test', 0), takenOf('b.test', 3)] }],
    2,
  )
  machine.requests.handOut(2, 2)
  // Two: that of this worker may have come before the take, so it also asks for what is ready.
  const next = machine.message(2, { demand: 2, out: 2, number: 2 })!
  const [first] = [...next.updates.values()].flatMap(({ asked }) => asked.more)
  expect(first?.slot).toBe('a.test')
})

test('a turn that begins with nothing is asked once: what has come since then is told to nobody', () => {
  const machine = workerWith(NOTHING)
  const message = machine.message(0, { demand: 8, out: 0, number: 1 })!
  expect([...message.updates.values()].map(({ asked }) => asked.slots)).toEqual([1])
  machine.answered(message, [{ status: 'held', unitStatus: NOTHING, taken: [] }], 1)
  expect(machine.hasSources).toBe(false)
})

test('of a host with several lanes no more is taken than its pace allows once Redis was found to have gone back', () => {
  const machine = machineOf({ ...PACE, concurrency: 2 })
  machine.states.begun(firstLane('a.test'), 'w/1', { head: 0, ready: 9 }, 0)
  machine.states.startOver('Redis has come back older', 1)
  const { updates } = machine.message(2, { demand: 8, out: 0, number: 1 })!
  const [asked] = [...updates.values()].map((update) => update.asked)
  expect(asked).toMatchObject({ slots: 1, each: 2, concurrency: 2 })
})

test('news of a host with several lanes that a Redis which has gone back was not told are told', () => {
  const machine = machineOf(PACE)
  machine.states.begun(firstLane('a.test'), 'w/1', { head: 0, ready: 9 }, 0)
  const take = machine.message(0, { demand: 1, out: 0, number: 1 })!
  machine.answered(
    take,
    [{ status: 'held', unitStatus: NOTHING, taken: [{ ...takenOf('a.test', 0), waiting: 0 }] }],
    1,
  )
  const [lease] = machine.requests.handOut(1, 1)
  machine.requests.end(lease!, { placed: [], news: { failures: 3 } }, 2)
  const refused = machine.message(2, { demand: 1, out: 0, number: 2 })!
  machine.unanswered(refused, 3, { error: new Error('Redis has gone back') })
  machine.states.startOver('Redis has come back older', 3)
  const { updates } = machine.message(4, { demand: 1, out: 0, number: 3 })!
  expect([...updates.values()].flatMap(({ told }) => told)).toMatchObject([
    { slot: 'a.test', news: { failures: 3 } },
  ])
})
