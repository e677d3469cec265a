/** When a worker asks others for turns, and when it leaves its own to them. */

import { PROTOCOL_TIMES, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { packRequest } from '../leasing/packed-request.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { HeldTurn } from './held-turn.ts'
import { LANES_MAX, type UnitStatus } from './turn-protocol.ts'

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

test.each([0, 24])(
  'forty workers have as many lanes of a host as scripts look at, with a concurrency of %i',
  (concurrency) => {
    const machine = machineOf({ ...PACE, concurrency })
    const turn = machine.states.begun(firstLane(HOT), 'w/1', { head: 0, ready: 1000 }, 0)
    machine.others.swept({ workers: 40, waiting: 0, unserved: 0 })
    const [slot] = turn.slots.values()
    expect(machine.others.lanesMax(slot!)).toBe(LANES_MAX)
  },
)

/** A worker with so many lanes of hot slots, each with a thousand requests, beside another worker and units that nobody has. */
function workerWithLanes(count: number, delayMs = 0): FrontierMachine {
  const machine: FrontierMachine = machineOf(
    { ...PACE, delayMs },
    { onStart: (lease) => machine.requests.started(lease, 0) },
  )
  for (let n = 0; n < count; n++)
    machine.states.begun(firstLane(`busy-${n}.test`), `w/${n}`, { head: 0, ready: 1000 }, 0)
  machine.others.swept({ workers: 2, waiting: 100, unserved: 100 })
  return machine
}

const leavingOf = (machine: FrontierMachine) => [...machine.turns].filter(({ isLeaving }) => isLeaving).length

test('with 64 lanes that can give something a worker takes no more turns, and makes way for one after a second', () => {
  expect(workerWithLanes(63).wantsTurn(0, 10, 0)).toBe(true)
  const machine = workerWithLanes(64)
  expect(machine.wantsTurn(0, 10, 0)).toBe(false)
  machine.tend(999, 10)
  expect(leavingOf(machine)).toBe(0)
  machine.tend(1000, 10)
  expect(leavingOf(machine)).toBe(1)
  expect(machine.wantsTurn(0, 10, 0)).toBe(true)
  machine.tend(1100, 10)
  expect(leavingOf(machine)).toBe(1)
})

test('lanes whose slots must wait for their time keep a worker from no other turn, and are not left for one', () => {
  const machine = workerWithLanes(100, 60_000)
  const message = machine.message(0, { demand: 100, out: 0, number: 1 })!
  const answers = [...message.updates].map(([{ job }]) => {
    const text = packRequest({ id: job.unit, request: new Request(`http://${job.unit}/`) })
    const taken = [{ token: '1.1', slot: job.unit, priority: 0, text, waiting: 0 }]
    return { status: 'held' as const, unitStatus: { head: 0, ready: 999 }, taken }
  })
  machine.answered(message, answers, 0)
  const leases = machine.requests.handOut(100, 0)
  for (const lease of leases) lease.started()
  expect(leases).toHaveLength(100)
  expect(machine.wantsTurn(0, 10, 0)).toBe(true)
  machine.tend(LATER_MS, 10)
  expect(leavingOf(machine)).toBe(0)
})

test('a bucket is left for others that have nothing to do when something of it is not served, and not when what has come may not go yet', () => {
  const leaves = (unitStatus: UnitStatus) => {
    const machine = machineOf(PACE)
    const turn = machine.states.begun(firstLane('#1', LATER_MS), 'w/1', { ready: 0 }, 0)
    machine.states.arrived([{ place: 'end', bucket: '#1', slot: 'a.test', priority: 0 }], 1)
    turn.messageSent()
    turn.heard(unitStatus, 2)
    machine.states.renewed([turn], LATER_MS, 2)
    machine.others.hungry(LATER_MS, { wants: 64, isBelowShare: false })
    const { yieldAfterMs } = PROTOCOL_TIMES.turns
    machine.tend(2 * yieldAfterMs, 10)
    const leftAtOnce = turn.isLeaving
    turn.arrived(0)
    machine.states.renewed([turn], LATER_MS, 2 * yieldAfterMs + 1)
    machine.tend(2 * yieldAfterMs + 1, 10)
    return [leftAtOnce, turn.isLeaving]
  }
  expect(leaves({ head: 0, ready: 1 })).toEqual([true, true])
  expect(leaves({ ready: 0, dueInMs: 8000 })).toEqual([false, false])
  expect(leaves({ ready: 0, dueInMs: 20_000 })).toEqual([false, false])
  expect(leaves({ ready: 0 })).toEqual([false, false])
})

test('a worker is below its share as long as it has fewer buckets, but for those that it is leaving', () => {
  const machine = machineOf(PACE, { buckets: () => 4 })
  machine.others.swept({ workers: 2, waiting: 0, unserved: 0 })
  const begin = (unit: string) => machine.states.begun(firstLane(unit), 'w/1', { head: 0, ready: 1 }, 0)
  const first = begin('#1')
  expect(machine.isBelowShare).toBe(true)
  begin('#2')
  begin(HOT)
  expect(machine.isBelowShare).toBe(false)
  machine.states.leave(first, 1)
  expect(machine.isBelowShare).toBe(true)
})

test('what a worker has beyond its share stays until another has nothing to do and less than its own: left for nobody it would be taken again', () => {
  const machine = machineOf(PACE, { buckets: () => 4 })
  for (const unit of ['#1', '#2', '#3'])
    machine.states.begun(firstLane(unit), 'w/1', { head: 0, ready: 1 }, 0)
  machine.others.swept({ workers: 2, waiting: 0, unserved: 0 })
  machine.tend(100, 10)
  expect(leavingOf(machine)).toBe(0)
  // It has its share, and what the others have beyond theirs: it would give it back.
  machine.others.hungry(1000, { wants: 64, isBelowShare: false })
  machine.tend(200, 10)
  expect(leavingOf(machine)).toBe(0)
  machine.others.hungry(1000, { wants: 64, isBelowShare: true })
  machine.tend(220, 10)
  expect(leavingOf(machine)).toBe(1)
})

test.each([0, 10])(
  'of ten buckets a worker leaves its surplus of five, once, with room for %i requests',
  (demand) => {
    const machine = machineOf(PACE, { buckets: () => 10 })
    for (let n = 0; n < 10; n++) machine.states.begun(firstLane(`#${n}`), 'w/1', { head: 0, ready: 1 }, 0)
    machine.others.swept({ workers: 2, waiting: 0, unserved: 0 })
    machine.others.hungry(2000, { wants: 64, isBelowShare: true })
    for (const nowMs of [100, 200]) machine.tend(nowMs, demand)
    expect(leavingOf(machine)).toBe(5)
  },
)

test.each([0, 50])(
  'a worker without a place leaves a bucket whose host has been due for long, looking %i ms after each tenth of a second',
  (phase) => {
    let nowMs = 0
    const machine: FrontierMachine = machineOf(
      { ...PACE, delayMs: 1000, concurrency: 1 },
      { onStart: (lease) => machine.requests.started(lease, nowMs) },
    )
    const turn = machine.states.begun(firstLane('#1'), 'w/1', { head: 0, ready: 1 }, 0)
    const text = packRequest({ id: '1', request: new Request('http://a.test/') })
    const taken = [{ token: '1.1', slot: 'a.test', priority: 0, text, waiting: 5, head: 0 }]
    const first = machine.message(0, { demand: 1, out: 0, number: 1 })
    machine.answered(first!, [{ status: 'held', unitStatus: { ready: 0 }, taken }], 1)
    nowMs = 1
    const [lease] = machine.requests.handOut(1, nowMs)
    lease!.started()
    nowMs = 300
    machine.requests.end(lease!, { placed: [] }, nowMs)
    const second = machine.message(nowMs, { demand: 0, out: 64, number: 2 })
    machine.answered(second!, [{ status: 'held', unitStatus: { ready: 0 }, taken: [] }], nowMs)
    machine.others.hungry(Number.POSITIVE_INFINITY, { wants: 64, isBelowShare: false })
    for (nowMs = 400 + phase; nowMs < 2000; nowMs += 100) {
      machine.wake(nowMs)
      machine.tend(nowMs, 0)
    }
    expect(turn.isLeaving).toBe(true)
  },
)

test('a worker with nothing to do is given four slots for each request that it wants, by all others together', () => {
  const { others } = machineOf(PACE)
  others.swept({ workers: 5, waiting: 0, unserved: 0 })
  others.hungry(1000, { wants: 64, isBelowShare: true })
  expect(others.wants(0)).toBe(64)
  others.hungry(2000, { wants: 1, isBelowShare: true })
  expect(others.wants(0), 'a smaller one takes nothing from it').toBe(64)
  others.spend(60)
  expect(others.wants(0)).toBe(4)
  expect(others.wants(2000), 'it has not said so again').toBe(0)
  others.spend(60)
  others.swept({ workers: 17, waiting: 0, unserved: 0 })
  const given = Array.from({ length: 8 }, () => {
    others.hungry(3000, { wants: 1, isBelowShare: true })
    const now = others.wants(2500)
    others.spend(now)
    return now
  })
  expect(given, 'a quarter of a slot each time').toEqual([0, 0, 0, 1, 0, 0, 0, 1])
})
