/** What a Redis that has come back older is told before anything else. */

import { setTimeout as sleep } from 'node:timers/promises'
import { PROTOCOL_TIMES, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { firstLane, machineOf } from '../../../testing/one-machine.ts'
import { SLOTS_BY_HOST } from '../../politeness/host-slots.ts'
import { BucketPlacing } from '../bucket-placing.ts'
import { FrontierSync } from '../frontier-sync.ts'
import { NewRequests } from '../new-requests.ts'
import type { BucketScripts } from './bucket-scripts.ts'
import { CommandNumbers } from './command-numbers.ts'
import { OwedReset } from './owed-reset.ts'
import type { PushPart } from './placed-lines.ts'
import { QueuedAskers } from './queued-askers.ts'

const PACE = { delayMs: 0, concurrency: 0, randomize: false, jitter: 0 }

/** Sends what a worker with one bucket has to say. */
function sending(owed: OwedReset): { sync: FrontierSync; said: () => number } {
  const machine = machineOf(PACE)
  machine.states.begun(firstLane('#1'), 'w/1', { ready: 0 }, 0)
  let said = 0
  const exchange = async () => {
    said++
    const answers = [{ status: 'held' as const, unitStatus: { ready: 0 }, taken: [] }]
    return { answers, trimmed: 0, woken: [], raised: [] }
  }
  const sync = new FrontierSync({
    machine,
    scripts: { exchange },
    commands: new CommandNumbers('w'),
    jobs: { changeJobs() {} },
    times: PROTOCOL_TIMES,
    unreserved: () => 1,
    reserve() {},
    gatherMs: () => 0,
    out: () => 0,
    isLooking: () => false,
    resetting: () => owed.told,
    onWentBack() {},
    onPoint() {},
    onTrimmed() {},
    onEffects() {},
  })
  sync.kick()
  return { sync, said: () => said }
}

test('no message goes until Redis has heard all that it is owed', async () => {
  const owed = new OwedReset()
  owed.owe()
  const { sync, said } = sending(owed)
  const before = owed.owed
  owed.owe()
  owed.done(before)
  // Waits: for what must not happen.
  await sleep(20)
  expect(said()).toBe(0)
  owed.done(1)
  await sync.drained()
  expect(said()).toBe(1)
})

test('new requests, too, wait until Redis has heard it: their number would hide that it has gone back once more', async () => {
  const owed = new OwedReset()
  owed.owe()
  const pushed: string[] = []
  const push = async ({ asker }: PushPart) => {
    pushed.push(asker)
    return { added: 1, woken: [], raised: [] }
  }
  const fresh = new NewRequests({
    scripts: { push } as unknown as BucketScripts,
    ...{ commands: new CommandNumbers('w'), queued: new QueuedAskers(), slots: SLOTS_BY_HOST },
    placing: new BucketPlacing({ order: 'fifo', slots: SLOTS_BY_HOST, addressOf: () => '#1' }),
    resetting: () => owed.told,
    onAdded() {},
    onPoint() {},
    onWentBack() {},
  })
  const pushing = fresh.push([{ id: 'a', request: new Request('http://h.test/') }], 'page')
  // Waits: for what must not happen.
  await sleep(20)
  expect(pushed).toEqual([])
  owed.done(1)
  expect(await pushing).toBe(1)
  expect(pushed).toEqual(['page'])
})

test('who leaves does not wait for the word, also when Redis is found older only then', async () => {
  const owed = new OwedReset()
  owed.close()
  owed.owe()
  const { sync, said } = sending(owed)
  await sync.drained()
  expect(said()).toBe(1)
})

test('messages go when Redis refuses the word, and it stays owed', async () => {
  const owed = new OwedReset()
  owed.owe()
  const { sync, said } = sending(owed)
  owed.letGo()
  await sync.drained()
  expect(said()).toBe(1)
  expect(owed.owed).toBe(1)
})
