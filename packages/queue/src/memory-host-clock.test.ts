import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { MemoryHostClock } from './memory-host-clock.ts'

const clockOf = (pace = {}, random?: () => number) =>
  new MemoryHostClock({
    pace: { delayMs: 0, concurrency: 8, randomize: false, ...pace },
    ...(random && { random }),
  })

test.each([
  ['http://Example.com/a', 'example.com'],
  ['http://user:p@ss@example.com:8080/a@b', 'example.com'],
  ['http://example.com?x', 'example.com'],
  ['http://[::1]:80/', '[::1]'],
])('the slot of %s is %s', (url, slot) => {
  expect(clockOf().slotOf(new Request(url))).toBe(slot)
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

test('a floor is a floor under chance, and takes effect at once', () => {
  const clock = clockOf({ delayMs: 1000, randomize: true }, () => 0)
  clock.taken('a')
  clock.started('a', 0)
  clock.pace('a', 800)
  expect(clock.waitMs('a', 0)).toBe(800)
  clock.pace('a', 200)
  expect(clock.waitMs('a', 0)).toBe(500)
})

test('a paused host waits, others do not', () => {
  const clock = clockOf()
  clock.pause('a', 9000)
  expect(clock.waitMs('a', 1000)).toBe(8000)
  expect(clock.waitMs('b', 1000)).toBe(0)
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
  clock.forgetIdle(1000)
  expect(clock.waitMs('h0', 0), 'still in flight, so still known').toBe(10)
  expect(clock.waitMs('h1', 0), 'forgotten').toBe(0)
})
