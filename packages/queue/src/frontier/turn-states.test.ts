/** What a worker does about what has come for its turns, by whatever order it hears of it. */

import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { UnitStatus } from './turn-protocol.ts'

const PACE = { delayMs: 0, concurrency: 8, randomize: false, jitter: 0 }
const NOTHING: UnitStatus = { ready: 0 }

/** A worker that has one bucket. */
function workerWith(unitStatus: UnitStatus): FrontierMachine {
  const machine = machineOf(PACE)
  machine.states.begun(firstLane('#1'), 'w/1', unitStatus, 0)
  return machine
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

test('a turn that begins with nothing is asked once: what has come since then is told to nobody', () => {
  const machine = workerWith(NOTHING)
  const message = machine.message(0, { demand: 8, out: 0, number: 1 })!
  expect([...message.updates.values()].map(({ asked }) => asked.slots)).toEqual([1])
  machine.answered(message, [{ status: 'held', unitStatus: NOTHING, taken: [] }], 1)
  expect(machine.hasSources).toBe(false)
})
