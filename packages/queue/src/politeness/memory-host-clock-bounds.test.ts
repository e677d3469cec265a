import { inFull, randomStream } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { MemoryHostClock } from './memory-host-clock.ts'

const HOSTS = 400
const SEEDS = inFull([1, 2, 3], [2])

/** The delay that a host asks for with each answer; every other host asks for none. */
const delayMsOf = (host: number) => (host % 2 === 0 ? 20_000 + host * 100 : 0)

test.each(SEEDS)('no delay is broken however little is kept of hosts (seed %i)', (seed) => {
  const random = randomStream(seed)
  // 64 hosts at rest, and 16 in full.
  const clock = new MemoryHostClock({
    pace: { delayMs: 0, concurrency: 4, randomize: false },
    hostsMax: 16,
    restingBytesMax: 1,
  })
  let nowMs = 0
  /** When the host's latest request left, once its delay is known. */
  const leftAtMs = new Map<number, number>()
  const inFlight: { readonly host: number; readonly startedAtMs: number }[] = []
  let starts = 0
  const end = () => {
    const { host, startedAtMs } = inFlight.splice(Math.floor(random() * inFlight.length), 1)[0]!
    clock.ended(`h${host}`, true)
    if (delayMsOf(host) > 0) clock.learn(`h${host}`, { delayMs: delayMsOf(host) }, nowMs)
    leftAtMs.set(host, Math.max(leftAtMs.get(host) ?? 0, startedAtMs))
  }
  for (let step = 0; step < 20_000; step++) {
    nowMs += random() * 200
    clock.forgetIdle(nowMs)
    const host = Math.floor(random() * HOSTS)
    if (inFlight.length > 0 && (random() < 0.5 || inFlight.length > 8)) end()
    else if (clock.waitMs(`h${host}`, nowMs) === 0) {
      const before = leftAtMs.get(host)
      if (before !== undefined)
        expect(nowMs - before, `h${host} at ${nowMs}`).toBeGreaterThanOrEqual(delayMsOf(host))
      clock.taken(`h${host}`)
      clock.started(`h${host}`, nowMs)
      if (before !== undefined) leftAtMs.set(host, nowMs)
      inFlight.push({ host, startedAtMs: nowMs })
      starts++
    }
  }
  expect(starts).toBeGreaterThan(500)
})
