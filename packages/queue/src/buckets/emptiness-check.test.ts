import { PROTOCOL_TIMES } from '@webloom/core'
import { expect, test } from 'vitest'
import { EmptinessCheck } from './emptiness-check.ts'

/** A worker that has so many turns, in a crawl with so many requests. */
function workerIn(crawl: { requests: number }) {
  const turns = { size: 0, removedAtMs: Number.NEGATIVE_INFINITY }
  let asked = 0
  const counts = async () => {
    asked++
    return { waiting: 0, delayed: 0, leased: crawl.requests, quarantined: 1 }
  }
  return {
    turns,
    check: new EmptinessCheck({ turns, counts, times: PROTOCOL_TIMES }),
    asked: () => asked,
  }
}

test('while others have something to do, Redis is asked once, and not at all when that was heard', async () => {
  const one = workerIn({ requests: 2 })
  for (let n = 0; n < 3; n++) expect(await one.check.isEmpty()).toBe(false)
  expect(one.asked()).toBe(1)
  const other = workerIn({ requests: 2 })
  other.check.heard(2)
  expect(await other.check.isEmpty()).toBe(false)
  expect(other.asked()).toBe(0)
})

test('whoever has done the last of it finds nothing left at once, whatever it has heard', async () => {
  const crawl = { requests: 1 }
  const { turns, check } = workerIn(crawl)
  turns.size = 1
  expect(await check.isEmpty()).toBe(false)
  check.heard(1)
  crawl.requests = 0
  turns.size = 0
  turns.removedAtMs = performance.now()
  expect(await check.isEmpty()).toBe(true)
})

test('whoever hears that nothing is left asks Redis', async () => {
  const crawl = { requests: 1 }
  const { check, asked } = workerIn(crawl)
  expect(await check.isEmpty()).toBe(false)
  crawl.requests = 0
  check.heard(0)
  expect(await check.isEmpty()).toBe(true)
  expect(asked()).toBe(2)
})
