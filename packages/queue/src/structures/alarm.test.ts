import { once } from 'node:events'
import { expect, test } from 'vitest'
import { Alarm } from './alarm.ts'

/** Node counts from when this turn of its event loop began. */
const EARLY_MS_MAX = 10

function alarm(): { set: (inMs: number) => number; rung: () => Promise<number>; clear: () => void } {
  const events = new EventTarget()
  const one = new Alarm(() => events.dispatchEvent(new Event('ring')))
  return {
    set: (inMs) => {
      const atMs = performance.now() + inMs
      one.set(atMs)
      return atMs
    },
    rung: async () => {
      await once(events, 'ring')
      return performance.now()
    },
    clear: () => one.clear(),
  }
}

test('it rings at the earliest moment, once, and may be set again', async () => {
  const { set, rung, clear } = alarm()
  const laterAtMs = set(60_000)
  const atMs = set(50)
  set(30_000)
  const first = await rung()
  expect(first).toBeGreaterThan(atMs - EARLY_MS_MAX)
  expect(first).toBeLessThan(laterAtMs)
  const againAtMs = set(50)
  expect(await rung()).toBeGreaterThan(againAtMs - EARLY_MS_MAX)
  clear()
})

test('one that was cleared does not ring, and may be set to a later moment', async () => {
  const { set, rung, clear } = alarm()
  set(10)
  clear()
  const atMs = set(50)
  expect(await rung()).toBeGreaterThan(atMs - EARLY_MS_MAX)
})

test('set to never, or to years from now, it stays silent', async () => {
  const { set, rung, clear } = alarm()
  set(Number.POSITIVE_INFINITY)
  set(1e12)
  const atMs = set(50)
  expect(await rung()).toBeGreaterThan(atMs - EARLY_MS_MAX)
  clear()
})
