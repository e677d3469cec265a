import { expect, test } from 'vitest'
import { type Hit, HitLog } from '../index.ts'

function hitAt(atMs: number, endedAtMs: number, more: Partial<Hit> = {}): Hit {
  const hit = { url: 'http://127.0.0.1/', host: 0, method: 'GET', headers: {}, connectionId: 1, status: 200 }
  return { ...hit, atMs, endedAtMs, aborted: false, ...more }
}

function logOf(...hits: Hit[]): HitLog {
  const log = new HitLog()
  for (const hit of hits) log.add(hit)
  return log
}

test('the smallest gap is between neighbours of the same host', () => {
  const log = logOf(hitAt(0, 1), hitAt(3, 4, { host: 1 }), hitAt(10, 11), hitAt(17, 18))
  expect(log.smallestGapMs(0)).toBe(7)
})

test('requests that overlap are concurrent; one that ends as the next begins is not', () => {
  expect(logOf(hitAt(0, 10), hitAt(10, 20), hitAt(20, 30)).maxConcurrent(0)).toBe(1)
  expect(logOf(hitAt(0, 10), hitAt(5, 20), hitAt(15, 30)).maxConcurrent(0)).toBe(2)
  expect(logOf(hitAt(0, 100), hitAt(1, 2), hitAt(3, 4), hitAt(5, 6)).maxConcurrent(0)).toBe(2)
})

test('a request that has not ended counts as concurrent with all after it', () => {
  const { endedAtMs: _, ...unended } = hitAt(0, 0)
  expect(logOf(unended, hitAt(5, 6), hitAt(7, 8)).maxConcurrent()).toBe(2)
})

test('waiting for hits ends with the hit that makes the number, also of one URL', async () => {
  const log = logOf(hitAt(0, 1))
  await log.waitForHits(1)
  const two = log.waitForHits(2, 1_000, 'http://127.0.0.1/two')
  log.add(hitAt(1, 2, { url: 'http://127.0.0.1/two' }))
  log.add(hitAt(2, 3, { url: 'http://127.0.0.1/two' }))
  await two
  expect(log.count).toBe(3)
})

test('waiting for hits that do not come says how many did', async () => {
  await expect(logOf(hitAt(0, 1)).waitForHits(2, 20)).rejects.toThrow('only 1 of 2 hits after 20 ms')
})

test('past hitsMax the hits are counted, and reading the log refuses to show a part of them', () => {
  const log = new HitLog({ hitsMax: 1 })
  log.add(hitAt(0, 1))
  log.add(hitAt(1, 2))
  expect(log.count).toBe(2)
  expect(() => log.hits).toThrow('raise hitsMax')
  log.reset()
  expect(log.hits).toEqual([])
})
