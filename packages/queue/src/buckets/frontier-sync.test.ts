/** When a message goes that waits for more to say. */

import { PROTOCOL_TIMES, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../testing/one-machine.ts'
import { type FrontierMachine, PATIENCE_MS } from '../frontier/frontier-machine.ts'
import { LEAD_MS } from '../frontier/frontier-message.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import { packRequest } from '../leasing/packed-request.ts'
import { FrontierSync } from './frontier-sync.ts'
import { CommandNumbers } from './scripts/command-numbers.ts'

const HOUR_MS = 3600_000
const SOON_MS = 5000
const DELAY_MS = 20

/** A worker that has something to say as soon as `gathersUntilMs` says so. */
function gathering() {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: said, resolve: say } = Promise.withResolvers<number>()
  const state = { untilMs: performance.now() + HOUR_MS }
  const machine = {
    gathersUntilMs() {
      ask()
      return state.untilMs
    },
    message: () => say(performance.now()),
  } as unknown as FrontierMachine
  const sync = new FrontierSync({
    machine,
    scripts: { exchange: () => Promise.reject(new Error('nothing is sent')) },
    commands: new CommandNumbers('w'),
    jobs: { changeJobs() {} },
    times: PROTOCOL_TIMES,
    unreserved: () => 1,
    reserve() {},
    gatherMs: () => HOUR_MS,
    out: () => 0,
    isLooking: () => false,
    resetting: () => undefined,
    onWentBack() {},
    onPoint() {},
    onTrimmed() {},
    onEffects() {},
  })
  return { sync, state, asked, said }
}

test.each([
  ['now', 0],
  ['a little later', 5],
])(
  'what waits for an hour goes when it is due, where that is %s after all',
  { timeout: SOON_MS },
  async (_when, ms) => {
    const { sync, state, asked, said } = gathering()
    sync.kick()
    await asked
    state.untilMs = performance.now() + ms
    sync.kick()
    expect(await said).toBeGreaterThanOrEqual(state.untilMs)
  },
)

/** A worker that has taken a request of a host with a short delay, which has left at 2 ms. */
function underWay(waiting: number, concurrency = 8) {
  const pace = { delayMs: DELAY_MS, concurrency, randomize: false, jitter: 0 }
  const machine = machineOf(pace, { onStart: (one) => machine.requests.started(one, 2) })
  machine.states.begun(firstLane('#1'), 'w/1', { head: 0, ready: 1 }, 0)
  const message = machine.message(0, { demand: 8, out: 0, number: 1 })!
  const text = packRequest({ id: '1', request: new Request('http://a.test/') })
  const taken = [{ token: '1.1', slot: 'a.test', priority: 0, text, waiting, head: 0 }]
  machine.answered(message, [{ status: 'held', unitStatus: { ready: 0 }, taken }], 1)
  const [lease] = machine.requests.handOut(8, 1)
  expect(machine.gathersUntilMs(1, 1)).toBeGreaterThan(DELAY_MS)
  lease!.started()
  return { machine, lease: lease! }
}

test('a message goes in time to bring the next request of a host with a short delay, which is counted from when one leaves', () => {
  const { machine } = underWay(5)
  expect(machine.gathersUntilMs(1, 2)).toBe(2 + DELAY_MS - LEAD_MS)
})

const CHILD: Placed = { place: 'end', bucket: '#1', slot: 'a.test', priority: 0, texts: ['2\n\n{}'] }

test.each<[string, Placed[], number]>([
  ['brings its next one goes in time', [CHILD], 2 + DELAY_MS - LEAD_MS],
  ['goes there again goes in time', [{ ...CHILD, place: 'again' }], 2 + DELAY_MS - LEAD_MS],
  ['brings one of another host gathers on', [{ ...CHILD, slot: 'b.test' }], 4 + PATIENCE_MS],
  ['brings nothing gathers on', [], 4 + PATIENCE_MS],
])('a message about the only page of a host with a short delay that %s', (_what, placed, untilMs) => {
  const { machine, lease } = underWay(0)
  machine.requests.end(lease, { placed, adds: placed.length }, 5)
  expect(machine.gathersUntilMs(4, 5)).toBe(untilMs)
})

test.each([
  [1, 'in time for the next request, and brings it'],
  [8, 'later where the host may be asked for more at once'],
])('a message about a page of a host that bears %i at once goes %s', (concurrency) => {
  const { machine, lease } = underWay(5, concurrency)
  machine.message(3, { demand: 8, out: 1, number: 2 })
  machine.requests.end(lease, { placed: [] }, 5)
  if (concurrency > 1) return expect(machine.gathersUntilMs(4, 5)).toBe(4 + PATIENCE_MS)
  expect(machine.gathersUntilMs(4, 5)).toBe(2 + DELAY_MS - LEAD_MS)
  const { updates } = machine.message(12, { demand: 8, out: 1, number: 3 })!
  expect([...updates.values()].map(({ asked }) => asked.more)).toEqual([[{ slot: 'a.test', most: 1 }]])
})

test('a message goes in time for the next request of a lane with a short delay, too', () => {
  const pace = { delayMs: DELAY_MS, concurrency: 8, randomize: false, jitter: 0 }
  const machine = machineOf(pace, { onStart: (one) => machine.requests.started(one, 2) })
  machine.states.begun(firstLane('a.test'), 'w/1', { head: 0, ready: 9 }, 0)
  const message = machine.message(0, { demand: 8, out: 0, number: 1 })!
  const text = packRequest({ id: '1', request: new Request('http://a.test/') })
  const taken = [{ token: '1.1', slot: 'a.test', priority: 0, text, waiting: 0 }]
  machine.answered(message, [{ status: 'held', unitStatus: { head: 0, ready: 8 }, taken }], 1)
  const [lease] = machine.requests.handOut(8, 1)
  lease!.started()
  const { wakeAtMs } = machine
  expect(wakeAtMs).toBe(2 + DELAY_MS - LEAD_MS)
  machine.wake(wakeAtMs)
  expect(machine.gathersUntilMs(1, wakeAtMs)).toBe(wakeAtMs)
})
