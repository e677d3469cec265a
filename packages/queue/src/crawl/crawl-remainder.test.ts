import { PROTOCOL_TIMES } from '@webloom/core'
import { expect, test } from 'vitest'
import { CrawlRemainder } from './crawl-remainder.ts'

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
    remainder: new CrawlRemainder({ turns, counts, times: PROTOCOL_TIMES }),
    asked: () => asked,
  }
}

test('while others have something to do, Redis is asked once, and not at all when that was heard', async () => {
  const one = workerIn({ requests: 2 })
  for (let n = 0; n < 3; n++) expect(await one.remainder.isNone()).toBe(false)
  expect(one.asked()).toBe(1)
  const other = workerIn({ requests: 2 })
  other.remainder.heard(2)
  expect(await other.remainder.isNone()).toBe(false)
  expect(other.asked()).toBe(0)
})

test('whoever has done the last of it finds nothing left at once, whatever it has heard', async () => {
  const crawl = { requests: 1 }
  const { turns, remainder } = workerIn(crawl)
  turns.size = 1
  expect(await remainder.isNone()).toBe(false)
  remainder.heard(1)
  crawl.requests = 0
  turns.size = 0
  turns.removedAtMs = performance.now()
  expect(await remainder.isNone()).toBe(true)
})

test('whoever hears that nothing is left asks Redis', async () => {
  const crawl = { requests: 1 }
  const { remainder, asked } = workerIn(crawl)
  expect(await remainder.isNone()).toBe(false)
  crawl.requests = 0
  remainder.heard(0)
  expect(await remainder.isNone()).toBe(true)
  expect(asked()).toBe(2)
})
