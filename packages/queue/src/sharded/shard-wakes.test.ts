import { expect, test } from 'vitest'
import { ShardRest } from '../shards/shard-rest.ts'
import { ShardWakes } from './shard-wakes.ts'

/** Resolves to whether the wait is over after all that could end it now. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  // Waits: time is what this is about: a wait that goes on says nothing.
  const soon = new Promise((resolve) => setTimeout(resolve, 10, false))
  return (await Promise.race([waiting.then(() => true), soon])) as boolean
}

const never = new Promise<undefined>(() => {})

test('who waits goes on when turns come, and does not wait for those that came since it last looked', async () => {
  const wakes = new ShardWakes(() => {})
  const waiting = wakes.wait(never)
  expect(await isOver(waiting)).toBe(false)
  wakes.heard()
  expect(await isOver(waiting)).toBe(true)
  wakes.heard()
  expect(await isOver(wakes.wait(never))).toBe(true)
  const next = wakes.wait(never)
  expect(await isOver(next)).toBe(false)
  wakes.close()
  expect(await isOver(next)).toBe(true)
  expect(await isOver(wakes.wait(never))).toBe(true)
})

test('a turn that is delayed is looked for when it is due', async () => {
  const wakes = new ShardWakes(() => {})
  await wakes.wait(Promise.resolve(5))
  expect(await isOver(wakes.wait(Promise.resolve(900)))).toBe(false)
  wakes.close()
})

test('what comes within a moment is told to the others once, and before this worker goes', () => {
  let told = 0
  const wakes = new ShardWakes(() => told++)
  wakes.tell()
  wakes.tell()
  expect(told).toBe(0)
  wakes.close()
  wakes.tell()
  expect(told).toBe(1)
})

test('who waits at a shard that has nothing goes on as soon as it has', async () => {
  const rest = new ShardRest()
  const wakes = new ShardWakes(() => {}, rest)
  rest.swept(true, false)
  const waiting = wakes.wait(never)
  expect(await isOver(waiting)).toBe(false)
  rest.stirred()
  expect(await isOver(waiting)).toBe(true)
  wakes.close()
})
