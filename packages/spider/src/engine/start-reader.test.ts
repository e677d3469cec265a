import { setTimeout as sleep } from 'node:timers/promises'
import { Request, START_BATCH_MAX } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { StartReader } from './start-reader.ts'

const never = new AbortController().signal
const page = (n: number, body?: string) =>
  new Request(`http://a.test/${n}`, body === undefined ? {} : { body })

/** Yields pages, and says how many were asked for. */
function pages(count: number, body?: string) {
  const asked = { count: 0 }
  const read = async function* () {
    while (asked.count < count) yield page(asked.count++, body)
  }
  return { asked, elements: read() }
}

/** Until nothing more is read: that can only be waited for. */
async function settled(asked: { readonly count: number }): Promise<number> {
  // Waits: it tells nobody that it reads no further.
  for (let before = -1; before !== asked.count; await sleep(20)) before = asked.count
  return asked.count
}

describe('start() is read ahead', () => {
  test('what has come meanwhile goes together, and all of it in order', async () => {
    const { elements } = pages(1000)
    const reader = new StartReader(elements, { cursor: 3, batchMax: START_BATCH_MAX, stopping: never })
    const batches: number[][] = []
    for (let taken = await reader.take(); taken.length > 0; taken = await reader.take()) {
      batches.push(taken.map((element) => Number((element as Request).url.split('/').at(-1))))
      // Waits: whoever takes a batch has work with it, and more is read meanwhile.
      await sleep(5)
    }
    expect(batches.flat()).toEqual(Array.from({ length: 997 }, (_, n) => n + 3))
    expect(batches.length).toBeLessThan(20)
  })

  test('a slow one hands each element over at once', async () => {
    const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = async function* () {
      yield page(0)
      for (const [n, { promise }] of next.entries()) {
        await promise
        yield page(n + 1)
      }
    }
    const reader = new StartReader(slow(), { cursor: 0, batchMax: START_BATCH_MAX, stopping: never })
    expect(await reader.take()).toHaveLength(1)
    for (const { resolve } of next) {
      const taking = reader.take()
      resolve()
      expect(await taking).toHaveLength(1)
    }
    expect(await reader.take()).toEqual([])
  })

  test('no further than a batch, or a megabyte of bodies', async () => {
    const [small, large] = [pages(10_000), pages(10_000, 'x'.repeat(100_000))]
    const readers = [small, large].map(
      ({ elements }) => new StartReader(elements, { cursor: 0, batchMax: START_BATCH_MAX, stopping: never }),
    )
    expect(await settled(small.asked)).toBeLessThanOrEqual(START_BATCH_MAX)
    expect(await settled(large.asked)).toBeLessThanOrEqual(11)
    for (const reader of readers) reader.close()
  })

  test('what it throws comes behind what it has yielded', async () => {
    const threw = Promise.withResolvers<void>()
    const failing = async function* () {
      yield page(0)
      yield page(1)
      threw.resolve()
      throw new Error('no more')
    }
    const reader = new StartReader(failing(), { cursor: 0, batchMax: START_BATCH_MAX, stopping: never })
    await threw.promise
    expect(await reader.take()).toHaveLength(2)
    await expect(reader.take()).rejects.toThrow('no more')
  })

  test('whoever waits for it is let go when the crawl stops', async () => {
    const stopping = new AbortController()
    const silent = async function* () {
      await new Promise(() => {})
      yield page(0)
    }
    const reader = new StartReader(silent(), { cursor: 0, batchMax: 8, stopping: stopping.signal })
    const taking = reader.take()
    stopping.abort()
    expect(await taking).toEqual([])
  })
})
