/** With a delay requests leave one by one, and a note of each would be a message of its own. */

import { Request } from '@webloom/core'
import { beforeEach, expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { packRequest } from '../leasing/packed-request.ts'
import type { FrontierMachine } from './frontier-machine.ts'
import type { Taken } from './turn-protocol.ts'

const PACE = { delayMs: 1000, concurrency: 0, randomize: false, jitter: 0 }
const SLOTS = { 'now.test': 0, 'soon.test': 12, 'too.test': 18, 'later.test': 60 }

let machine: FrontierMachine

beforeEach(() => {
  machine = machineOf(PACE)
  machine.states.begun(firstLane('#1'), 'w/1', { head: 0, ready: 4 }, 0)
  const message = machine.message(0, { demand: 8, out: 0, number: 1 })!
  const taken = Object.entries(SLOTS).map(([slot, waitMs], n): Taken => {
    const text = packRequest({ id: slot, request: new Request(`http://${slot}/`) })
    const known = { waitMs, floorMs: 0, failures: 0, pausedMs: 0 }
    return { token: `1.${n + 1}`, slot, priority: 0, text, waiting: 0, known }
  })
  machine.answered(message, [{ status: 'held', unitStatus: { ready: 0 }, taken }], 0)
})

const handedOut = (nowMs: number) => machine.requests.handOut(8, nowMs).map(({ slot }) => slot)

test('those that leave within 20 ms are noted with the one that leaves now, and no others', () => {
  expect(handedOut(0)).toEqual(['now.test'])
  expect(machine.requests.noteAhead(7, 0).sort()).toEqual(['#1~0 1.2', '#1~0 1.3'])
  expect(machine.requests.noteAhead(7, 0), 'once').toEqual([])
  expect(machine.requests.handOut(8, 12).map(({ isNoted }) => isNoted)).toEqual([true])
})

test('no more than there are places are', () => {
  handedOut(0)
  expect(machine.requests.noteAhead(1, 0), 'the one that leaves next').toEqual(['#1~0 1.2'])
  expect(machine.requests.noteAhead(1, 1)).toEqual([])
})

test('one that has not left 20 ms after its time loses its note', () => {
  handedOut(0)
  expect(machine.requests.noteAhead(7, 0).length).toBe(2)
  expect(machine.requests.notesInVain(31)).toEqual([])
  expect(machine.requests.notesInVain(33)).toEqual(['#1~0 1.2'])
  expect(machine.requests.notesInVain(39)).toEqual(['#1~0 1.3'])
})
