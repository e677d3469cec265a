import { expect, test } from 'vitest'
import { MemoryHostClock } from './memory-host-clock.ts'

const clockOf = (pace = {}, random?: () => number) =>
  new MemoryHostClock({
    pace: { delayMs: 0, concurrency: 8, randomize: false, ...pace },
    ...(random && { random }),
  })

test('the delay is counted from the start, not from the hand-out', () => {
  const clock = clockOf({ delayMs: 1000 })
  expect(clock.waitMs('a', 0)).toBe(0)
  clock.taken('a')
  expect(clock.waitMs('a', 5000), 'handed out, not started').toBe(Number.POSITIVE_INFINITY)
  clock.started('a', 300)
  expect(clock.waitMs('a', 300)).toBe(1000)
  expect(clock.waitMs('a', 1300)).toBe(0)
})

test('chance makes the delay 0.5 to 1.5 times as long', () => {
  for (const [random, waitMs] of [
    [0, 500],
    [0.5, 1000],
    [0.999, 1499],
  ] as const) {
    const clock = clockOf({ delayMs: 1000, randomize: true }, () => random)
    clock.taken('a')
    clock.started('a', 0)
    expect(clock.waitMs('a', 0)).toBeCloseTo(waitMs, 0)
  }
})

test('jitter says how much chance may change', () => {
  const clock = clockOf({ delayMs: 1000, randomize: true, jitter: 0.1 }, () => 0)
  clock.taken('a')
  clock.started('a', 0)
  expect(clock.waitMs('a', 0)).toBeCloseTo(900, 0)
})

test('a floor is a floor under chance, and takes effect at once', () => {
  const clock = clockOf({ delayMs: 1000, randomize: true }, () => 0)
  clock.taken('a')
  clock.started('a', 0)
  clock.learn('a', { delayMs: 800 }, 0)
  expect(clock.waitMs('a', 0)).toBe(800)
  clock.learn('a', { delayMs: 200 }, 0)
  expect(clock.waitMs('a', 0)).toBe(500)
})

test('a paused host waits, others do not, and a shorter pause does not end it', () => {
  const clock = clockOf()
  clock.learn('a', { pauseMs: 9000 }, 0)
  clock.learn('a', { pauseMs: 10 }, 1000)
  expect(clock.waitMs('a', 1000)).toBe(8000)
  expect(clock.waitMs('b', 1000)).toBe(0)
})

test('news leave what they do not name', () => {
  const clock = clockOf()
  expect(clock.stateOf('a')).toEqual({ delayMs: 0, failures: 0 })
  clock.learn('a', { failures: 3 }, 0)
  clock.learn('a', { delayMs: 500 }, 0)
  expect(clock.stateOf('a')).toEqual({ delayMs: 500, failures: 3 })
})

test('DOWNLOAD_SLOTS gives one host its own pace', () => {
  const clock = new MemoryHostClock({
    pace: { delayMs: 0, concurrency: 8, randomize: false },
    slots: { slow: { delayMs: 50, concurrency: 1 } },
  })
  clock.taken('slow')
  expect(clock.waitMs('slow', 0)).toBe(Number.POSITIVE_INFINITY)
  clock.taken('fast')
  expect(clock.waitMs('fast', 0)).toBe(0)
})

test('hosts that hold nothing worth keeping are forgotten when many are known', () => {
  const clock = clockOf({ delayMs: 10 })
  for (let n = 0; n < 5000; n++) {
    clock.taken(`h${n}`)
    clock.started(`h${n}`, 0)
    if (n > 0) clock.ended(`h${n}`, true)
  }
  clock.learn('h2', { failures: 1 }, 0)
  clock.forgetIdle(1000)
  expect(clock.waitMs('h0', 0), 'still in flight, so still known').toBe(10)
  expect(clock.waitMs('h1', 0), 'forgotten').toBe(0)
  expect(clock.stateOf('h2').failures, 'something was learned').toBe(1)
})

test('a host at rest has what was learned of it, and waits as long as before', () => {
  const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 8, randomize: false }, hostsMax: 2 })
  const visit = (slot: string, nowMs: number) => {
    clock.taken(slot)
    clock.started(slot, nowMs)
    clock.ended(slot, true)
  }
  visit('slow', 0)
  clock.learn('slow', { delayMs: 500_000, failures: 3 }, 0)
  visit('slower', 0)
  clock.learn('slower', { delayMs: 900_500 }, 0)
  clock.learn('paused', { pauseMs: 70_000 }, 0)
  for (let n = 0; n < 8; n++) visit(`h${n}`, 1000)
  clock.learn('h3', { delayMs: 7 }, 1000)
  clock.forgetIdle(2000)
  expect(clock.stateOf('slow')).toEqual({ delayMs: 500_000, failures: 3 })
  expect(clock.stateOf('slower').delayMs).toBe(901_000)
  expect(clock.stateOf('h3').delayMs).toBe(7)
  expect(['slow', 'paused', 'h4'].map((slot) => clock.waitMs(slot, 2000))).toEqual([498_000, 68_000, 0])
  expect([clock.isPaced('slow'), clock.isPaced('h4')]).toEqual([true, false])
  clock.taken('slow')
  clock.started('slow', 500_000)
  clock.ended('slow', true)
  expect(clock.waitMs('slow', 500_000)).toBe(500_000)
})

test('until the last forgotten host may be asked, no unknown one is; then one request at a time brings its delay', () => {
  // Room for 64 hosts at rest.
  const clock = new MemoryHostClock({
    pace: { delayMs: 0, concurrency: 8, randomize: false },
    hostsMax: 4,
    restingBytesMax: 1,
  })
  for (let n = 0; n < 200; n++) {
    clock.taken(`h${n}`)
    clock.started(`h${n}`, 0)
    clock.ended(`h${n}`, true)
    clock.learn(`h${n}`, { delayMs: 60_000 }, 0)
    clock.forgetIdle(0)
  }
  expect(Array.from({ length: 200 }, (_, n) => clock.waitMs(`h${n}`, 0))).toEqual(Array(200).fill(60_000))
  const unknown = Array.from({ length: 200 }, (_, n) => `h${n}`).filter(
    (slot) => clock.stateOf(slot).delayMs === 0,
  )
  expect(unknown.length).toBeGreaterThan(100)
  const [slot] = unknown as [string]
  clock.taken(slot)
  clock.started(slot, 60_000)
  expect(clock.waitMs(slot, 60_000)).toBe(Number.POSITIVE_INFINITY)
  clock.ended(slot, true)
  clock.learn(slot, { delayMs: 60_000 }, 61_000)
  expect(clock.waitMs(slot, 61_000)).toBe(59_000)
})
