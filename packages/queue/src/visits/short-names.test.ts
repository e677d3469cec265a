import { fingerprint, Request, type Visit } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RedisBench } from '../../testing/redis-bench.ts'
import { RedisVisits } from './redis-visits.ts'

const bench = new RedisBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const VISIT: Visit = {
  visitedAt: Date.UTC(2026, 0, 1),
  dueAt: Date.UTC(2026, 0, 2),
  visits: 1,
  changes: 0,
  evidence: { stillHours: 24, seen: 0, gapLogs: 0, dated: 0 },
  failures: 0,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
}

/** Ten hosts of eight pages each: later ones of each host are kept by a short name. */
function pages() {
  return Array.from({ length: 80 }, (_, n) => {
    const request = new Request(`https://shop${n % 10}.example/${n}`)
    return { fingerprint: fingerprint(request), request, visit: VISIT }
  })
}

test('a worker that forgets short names as it learns others reads all pages of more hosts than it can remember', async () => {
  const keys = bench.nextKeys()
  await new RedisVisits({ redis: bench.redis, keys, fingerprint }).record(pages())
  const other = new RedisVisits({ redis: bench.connect(), keys, fingerprint, namesMax: 3 })
  const urls = pages().map(({ request }) => request.url)
  for (const max of [10, 35, 80]) {
    const { pages: due, unreadable } = await other.due(VISIT.dueAt, max)
    expect(due.map(({ request }) => request.url)).toEqual(urls.slice(0, max))
    expect(unreadable).toBe(undefined)
  }
})

test('an entry that cannot be read is told, and keeps no other page from its line', async () => {
  const keys = bench.nextKeys()
  await new RedisVisits({ redis: bench.redis, keys, fingerprint }).record(pages())
  const names = await bench.redis.hkeysBuffer(`${keys.visits}:names`)
  const texts = await bench.redis.hvals(`${keys.visits}:names`)
  await bench.redis.hdel(`${keys.visits}:names`, names[texts.indexOf('https://shop3.example')]!)
  const other = new RedisVisits({ redis: bench.connect(), keys, fingerprint })
  const due = await other.due(VISIT.dueAt, 100)
  const lost = due.unreadable ?? []
  expect(lost.length).toBeGreaterThan(0)
  expect(String(lost[0])).toContain('nothing is known of the short name')
  expect(due.pages).toHaveLength(80 - lost.length)
})

test('pages whose forms all differ do not keep their hosts from short names', async () => {
  const keys = bench.nextKeys()
  const visits = new RedisVisits({ redis: bench.redis, keys, fingerprint, namesMax: 3 })
  for (let n = 0; n < 16; n++) {
    const request = new Request(`https://shop${n % 2}.example/${n}`, { meta: { page: n } })
    await visits.record([{ fingerprint: fingerprint(request), request, visit: VISIT }])
  }
  expect((await bench.redis.hvals(`${keys.visits}:names`)).sort()).toEqual([
    'https://shop0.example',
    'https://shop1.example',
  ])
})
