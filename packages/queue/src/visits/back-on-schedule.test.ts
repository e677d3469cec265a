import { readFileSync } from 'node:fs'
import { fingerprint, REJECTIONS_MAX, RedisScript, Request, type Visit } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { RedisFailures } from '../failures/redis-failures.ts'
import { packRequest } from '../leasing/packed-request.ts'
import { historyKey } from '../leasing/quarantine-history.ts'
import { dropFailed } from '../outside/failed-requests.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const VISIT: Visit = {
  visitedAt: Date.UTC(2026, 0, 1),
  dueAt: Date.UTC(2026, 0, 2),
  contentHash: '01234567',
  visits: 3,
  changes: 1,
  evidence: { stillHours: 24, seen: 0, gapLogs: 0, dated: 0 },
  failures: 0,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
}
const lua = readFileSync(new URL('../../lua/leasing/quarantine.lua', import.meta.url), 'utf8')
const quarantineScript = new RedisScript(`${lua}\nquarantine(KEYS[1], KEYS[2], unpack(ARGV))`)

test('a page whose request is dropped from quarantine is visited again, as one that failed', async () => {
  const keys = bench.nextKeys()
  const { visits } = await bench.queue({ keys, visits: { fingerprint }, isOutside: true })
  const pages = ['/killer', '/other'].map((path) => {
    const request = new Request(`https://shop.example${path}`, { callback: 'parseItem' })
    return { fingerprint: fingerprint(request), request, visit: VISIT }
  })
  await visits!.record(pages)
  const due = await visits!.due(VISIT.dueAt, 10)
  expect(await visits!.queueDue(due)).toBe(2)
  // As a worker does whose page has killed others: the request carries its visit.
  const quarantined = due.pages.map(({ fingerprint: id, request }) => packRequest({ id, request }))
  for (const text of [
    quarantined[0]!,
    packRequest({ id: 'f00d', request: new Request('https://shop.example/new') }),
  ])
    await quarantineScript.run(
      bench.redis,
      [keys.quarantine, historyKey(keys)],
      [text, 'it killed 3 workers', '5'],
    )
  const now = Date.now()
  const failures = new RedisFailures({ redis: bench.redis, keys })
  expect(await dropFailed(failures, { reason: 'quarantined' })).toHaveLength(2)
  const [killer, other] = await visits!.find(pages.map((page) => page.fingerprint))
  expect(killer).toMatchObject({ isInALine: false, failures: 1, visits: 3 })
  expect(killer!.dueAt - now).toBeGreaterThan(3_600_000)
  expect(other).toMatchObject({ isInALine: true, failures: 0 })
  const again = await visits!.due(now + 3 * 3_600_000, 10)
  expect(again.pages.map(({ request }) => request.url)).toEqual(['https://shop.example/killer'])
  expect(again.pages[0]!.request.meta).toEqual({})
})

test('a page that every worker rejects is back on its schedule, and not in quarantine', async () => {
  const keys = bench.nextKeys()
  const queue = await bench.queue({ keys, visits: { fingerprint }, rejectedMs: 1 })
  const request = new Request('https://shop.example/', { callback: 'parseItem' })
  const page = { fingerprint: fingerprint(request), request, visit: VISIT }
  const { visits } = queue
  await visits!.record([page])
  expect(await visits!.queueDue(await visits!.due(VISIT.dueAt, 10))).toBe(1)
  const visit = { ...VISIT, dueAt: VISIT.dueAt + 7_200_000, callbackVersion: 0 }
  for (let rejections = 1; rejections <= REJECTIONS_MAX; rejections++) {
    const [lease] = await queue.lease(1)
    const isBack = await queue.reject(lease!, 'no callback parseItem', { ...page, visit })
    expect(isBack).toBe(rejections === REJECTIONS_MAX)
  }
  expect(await queue.counts()).toMatchObject({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
  expect(await bench.redis.exists(keys.quarantine, historyKey(keys))).toBe(0)
  expect(await visits!.find([page.fingerprint])).toMatchObject([
    { isInALine: false, dueAt: visit.dueAt, visits: 3, contentHash: VISIT.contentHash },
  ])
  expect((await visits!.due(visit.dueAt, 10)).pages).toMatchObject([{ request: { callback: 'parseItem' } }])
})
