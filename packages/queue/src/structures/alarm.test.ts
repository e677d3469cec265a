import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Alarm } from './alarm.ts'

function newAlarm() {
  let rings = 0
  let onRing = () => {}
  const alarm = new Alarm(() => {
    rings++
    onRing()
  })
  const rung = () => new Promise<void>((resolve) => (onRing = resolve))
  return { set: (inMs: number) => alarm.set(performance.now() + inMs), alarm, rung, rings: () => rings }
}

test('it rings at the earliest moment, once, and may be set again', async () => {
  const { set, rung, rings } = newAlarm()
  set(60_000)
  set(40)
  set(80)
  await rung()
  // Waits: for a second ring, which is not to come.
  await sleep(120)
  expect(rings()).toBe(1)
  set(10)
  await rung()
  expect(rings()).toBe(2)
})

test('one that was cleared does not ring, and may be set to a later moment', async () => {
  const { set, alarm, rung, rings } = newAlarm()
  set(10)
  alarm.clear()
  set(60)
  // Waits: for a ring that is not to come.
  await sleep(30)
  expect(rings()).toBe(0)
  await rung()
})

test('set to never, or to decades from now, it does not ring, and a nearer moment counts', async () => {
  const { set, alarm, rung, rings } = newAlarm()
  alarm.set(Number.POSITIVE_INFINITY)
  set(1e12)
  // Waits: for a ring that is not to come.
  await sleep(30)
  expect(rings()).toBe(0)
  set(10)
  await rung()
  expect(rings()).toBe(1)
})
