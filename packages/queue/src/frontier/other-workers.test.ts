/** When a worker asks others for turns, and when it leaves its own to them. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { HeldTurn } from './held-turn.ts'
import type { UnitStatus } from './turn-protocol.ts'

const PACE = { delayMs: 0, concurrency: 64, randomize: false, jitter: 0 }
const HOT = 'busy.test'
const LATER_MS = PROTOCOL_TIMES.turns.quotaMs + 1

/** A worker with a lane of one hot slot, of which a thousand requests wait. */
function workerWithLane(): { machine: FrontierMachine; turn: HeldTurn } {
  const machine = machineOf(PACE)
  const unitStatus = { head: 0, ready: 1000 }
  const turn = machine.states.begun(firstLane(HOT, 2 * LATER_MS), 'w/1', unitStatus, 0)
  return { machine, turn }
}

test('a worker whose one host can give all that it wants does not say that it has nothing to do', () => {
  const { machine } = workerWithLane()
  expect(machine.isHungry(64)).toBe(false)
  expect(machine.isHungry(65)).toBe(true)
  machine.message(0, { demand: 64, out: 0, number: 1 })
  expect(machine.isHungry(64)).toBe(false)
})

test('a worker that has got nothing for what it wants says so', () => {
  const { machine } = workerWithLane()
  const message = machine.message(0, { demand: 10, out: 0, number: 1 })
  const unitStatus = { head: 0, ready: 1000 }
  machine.answered(message!, [{ status: 'held', unitStatus, taken: [] }], 1)
  expect(machine.isHungry(10)).toBe(true)
})

test('a lane is not left for other lanes that wait, and is left for a unit that no worker has', () => {
  const { machine, turn } = workerWithLane()
  machine.others.swept({ workers: 4, waiting: 3, unserved: 0 })
  machine.tend(LATER_MS, 0)
  expect(turn.isLeaving).toBe(false)
  machine.others.swept({ workers: 4, waiting: 3, unserved: 1 })
  machine.tend(LATER_MS, 0)
  expect(turn.isLeaving).toBe(true)
})

test('a bucket is left for others that have nothing to do when something of it is not served, and not when what has come may not go yet', () => {
  const leaves = (unitStatus: UnitStatus) => {
    const machine = machineOf(PACE)
    const turn = machine.states.begun(firstLane('#1', LATER_MS), 'w/1', { ready: 0 }, 0)
    machine.states.arrived([{ place: 'end', bucket: '#1', slot: 'a.test', priority: 0 }], 1)
    turn.messageSent()
    turn.heard(unitStatus, 2)
    machine.others.hungry(LATER_MS)
    machine.tend(2 * PROTOCOL_TIMES.turns.yieldAfterMs, 10)
    return turn.isLeaving
  }
  expect(leaves({ head: 0, ready: 1 })).toBe(true)
  expect(leaves({ ready: 0, dueInMs: 8000 })).toBe(false)
})
