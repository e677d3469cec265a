import { gzipSync } from 'node:zlib'
import { type GivenUp, Request } from '@webloom/core'
import { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'
import { expect, test } from 'vitest'
import { ledgerFilter, readFailed, readFailures, readResponse } from './read-failures.ts'

const missing: GivenUp = {
  reason: 'status',
  kind: 'HttpError',
  message: 'status 404',
  signature: 'status-404',
  status: 404,
}

async function ledgerOf(failures: readonly GivenUp[]) {
  const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
  const queue = new MemoryRequestQueue({ clock, failedMax: 5 })
  await queue.open()
  for (const [n, failure] of failures.entries()) {
    await queue.push(
      [{ id: `${n}`, request: new Request(`http://h${n}.test/`, { method: 'POST' }) }],
      `o${n}`,
    )
    const [lease] = await queue.lease(1)
    await queue.commit(lease!, { failure })
  }
  return queue.failures
}

test('failures by signature, with examples; all of it is JSON', async () => {
  const seen = await readFailures(await ledgerOf([missing, missing, missing, missing, missing, missing]))
  expect(JSON.parse(JSON.stringify(seen))).toEqual(seen)
  expect(seen).toMatchObject({ count: 5, trimmed: 1 })
  const [group] = seen.groups
  expect(group).toMatchObject({ signature: 'status-404', reason: 'status', status: 404, count: 5, total: 6 })
  expect(group!.examples.map(({ url }) => url)).toEqual([
    'http://h5.test/',
    'http://h4.test/',
    'http://h3.test/',
  ])
  expect(group!.examples[0]).toMatchObject({ id: '5', method: 'POST', attempts: 1, message: 'status 404' })
  expect(Date.parse(group!.firstAt!)).toBeLessThanOrEqual(Date.parse(group!.lastAt!))
})

test('those that a filter means, as many as are wanted', async () => {
  const ledger = await ledgerOf([missing, { ...missing, signature: 'status-410', status: 410 }, missing])
  expect((await readFailed(ledger, { status: 404 }, 9)).map(({ id }) => id)).toEqual(['2', '0'])
  expect((await readFailed(ledger, { host: 'h1.test' }, 9)).map(({ id }) => id)).toEqual(['1'])
  expect(await readFailed(ledger, {}, 2)).toHaveLength(2)
  const at = '2026-11-25T16:00:00.000Z'
  expect(ledgerFilter({ since: at, reason: 'status', ids: ['1'] })).toEqual({
    since: Date.parse(at),
    reason: 'status',
    ids: ['1'],
  })
})

test('the first response of a signature, as text', async () => {
  const body = gzipSync('<h1>gone</h1>').toString('base64')
  const snapshot = { url: 'http://h0.test/', status: 404, contentType: 'text/html', bytes: 13, body }
  const ledger = await ledgerOf([{ ...missing, snapshot }])
  expect(await readResponse(ledger, 'status-404')).toEqual({
    url: 'http://h0.test/',
    status: 404,
    headers: [['content-type', 'text/html']],
    text: '<h1>gone</h1>',
    bytes: 13,
  })
  expect(await readResponse(ledger, 'status-500')).toBeUndefined()
})
