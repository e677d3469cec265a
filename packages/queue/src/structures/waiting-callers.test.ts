import { expect, test } from 'vitest'
import { type WaitingCaller, WaitingCallers } from './waiting-callers.ts'

// Node counts a timer's time from when the turn of its event loop began.
const EARLY_MS_MAX = 10

function newCallers() {
  const callers = new WaitingCallers<WaitingCaller>()
  /** Resolves to how long it has waited, milliseconds. */
  const joined = (forMs: number, signal?: AbortSignal) => {
    const sinceMs = performance.now()
    const { promise, resolve } = Promise.withResolvers<number>()
    const caller = {
      ...{ signal, untilMs: sinceMs + forMs },
      giveUp: () => resolve(performance.now() - sinceMs),
    }
    callers.add(caller)
    return { caller, waitedMs: promise }
  }
  return { callers, joined }
}

test('each gives up at its own time, also when an earlier one was served meanwhile', async () => {
  const { callers, joined } = newCallers()
  const [served, second, third] = [joined(30), joined(60), joined(90)]
  callers.delete(served.caller)
  expect(await second.waitedMs).toBeGreaterThan(60 - EARLY_MS_MAX)
  expect(await third.waitedMs).toBeGreaterThan(90 - EARLY_MS_MAX)
  expect(callers.size).toBe(0)
})

test('a signal ends the waits that have it, each time, and no other', async () => {
  const { callers, joined } = newCallers()
  const [mine, another] = [new AbortController(), new AbortController()]
  callers.delete(joined(60_000, mine.signal).caller)
  const ended = [joined(60_000, mine.signal), joined(60_000, mine.signal)]
  const kept = [joined(60_000), joined(60_000, another.signal)]
  mine.abort()
  for (const { waitedMs } of ended) expect(await waitedMs).toBeLessThan(30_000)
  expect([...callers]).toEqual(kept.map(({ caller }) => caller))
  callers.close()
  for (const { waitedMs } of kept) expect(await waitedMs).toBeLessThan(30_000)
})
