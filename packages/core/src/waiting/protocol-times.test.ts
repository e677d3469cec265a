import { expect, test } from 'vitest'
import { PROTOCOL_TIMES, scaledTimes } from './protocol-times.ts'

test('one factor scales every time, and none becomes nothing', () => {
  expect(scaledTimes(1)).toEqual(PROTOCOL_TIMES)
  expect(scaledTimes(0.05).turns.lockMs).toBe(300)
  const all = Object.values(scaledTimes(0.0001)).flatMap((group) => Object.values(group as object))
  expect(Math.min(...all)).toBe(1)
})

test.each([1, 0.1, 0.05])('what depends on each other still holds, times %d', (factor) => {
  const { turns, jobs, members, record, keeper, filter, doubts, shards, seeds, redis } = scaledTimes(factor)
  expect(3 * turns.renewEveryMs).toBeLessThanOrEqual(turns.lockMs)
  // A try is given up after so long, or, at a server that drops packets, sends none for so long.
  expect(1500 * factor + redis.sparedReconnectMsMax).toBeLessThan(turns.sparedBackMs)
  expect(2000 * factor + redis.reconnectMsMax).toBeLessThan(turns.backMs)
  expect(turns.sweepMissedMs).toBeLessThan(turns.lockMs)
  expect(turns.sweepEveryMs).toBeLessThan(turns.sweepMissedMs)
  expect(turns.emptinessHeardMs).toBeGreaterThan(turns.sweepEveryMs)
  expect(3 * jobs.renewEveryMs).toBeLessThan(jobs.lockMs)
  expect(members.silenceMs + members.beatEveryMs).toBeLessThan(members.lostAfterMs)
  expect(2 * record.startRenewEveryMs).toBeLessThan(record.startLeaseMs)
  expect(turns.renewEveryMs + keeper.lateMs + keeper.renewEveryMs).toBeLessThan(turns.lockMs)
  // A link in doubt is asked about again before that is a silence.
  expect(doubts.heldMs + filter.heardEveryMs).toBeLessThanOrEqual(filter.silenceMs)
  expect(filter.markKeptMs).toBeGreaterThan(2 * filter.runIdEveryMs)
  // As long as a master that is cut off takes writes, with min-replicas-max-lag 1 or cluster-node-timeout 3000, and its replica is silent for.
  for (const keptMs of [filter.markKeptMs, shards.keptMs, seeds.ripeMs])
    expect(keptMs).toBeGreaterThan(4500 * factor)
})
