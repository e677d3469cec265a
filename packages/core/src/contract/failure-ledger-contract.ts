import assert from 'node:assert/strict'
import type { FailureLedger, GivenUp, LedgerEntry } from '../ports/failure-ledger.ts'
import type { Lease, QueuedRequest, RequestQueue } from '../ports/request-queue.ts'
import { Request } from '../requests/request.ts'
import type { RequestInit } from '../requests/request-parts.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/** A queue whose ledger keeps so many failures. */
export interface LedgerImplementation {
  readonly name: string
  create(options: { readonly failedMax: number }): Promise<{ queue: RequestQueue; dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

type Make = (failedMax?: number) => Promise<RequestQueue>

const page = (path: string | number, init: RequestInit = {}): QueuedRequest => ({
  id: `${path}`,
  request: new Request(`http://a.test/${path}`, init),
})

const timedOut: GivenUp = {
  reason: 'download',
  kind: 'DownloadTimeoutError',
  message: 'took longer than 180 s',
  signature: 'DownloadTimeoutError:took-longer-than-s:00000001',
}
const missing: GivenUp = {
  reason: 'status',
  kind: 'HttpError',
  message: 'status 404',
  signature: 'status-404',
  status: 404,
}
const numbered = (n: number): GivenUp => ({ ...timedOut, signature: `Error:${n}` })

async function leased(queue: RequestQueue): Promise<Lease> {
  for (const until = performance.now() + 5000; performance.now() < until; ) {
    const [lease] = await queue.lease(1)
    if (lease) return lease
  }
  throw new Error('nothing was leased')
}

/** Pushes the requests, and gives each up. */
async function giveUp(queue: RequestQueue, failure: GivenUp, ...requests: QueuedRequest[]): Promise<void> {
  for (const one of requests) {
    await queue.push([one], `asker of ${one.id} ${Math.random()}`)
    await queue.commit(await leased(queue), { failure })
  }
}

async function all(ledger: FailureLedger, max = 3, signature?: string): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.page(max, { ...(cursor && { cursor }), ...(signature && { signature }) })
    found.push(...page.entries)
    if (page.cursor === undefined) return found
    cursor = page.cursor
  }
}
const ids = (entries: readonly { id: string }[]) => entries.map(({ id }) => id).sort()

const TESTS: ContractTests<Make> = {
  'a crawl without failures has an empty ledger': async (make) => {
    const { failures } = await make()
    assert.deepEqual(await failures.counts(), { kept: 0, total: 0, trimmed: 0, quarantined: 0 })
    assert.deepEqual(await failures.groups(), [])
    assert.deepEqual(await all(failures), [])
    assert.deepEqual(await failures.find(['a']), [])
    assert.equal(await failures.snapshot('status-404'), undefined)
    assert.deepEqual(await failures.drop([]), [])
  },
  'a page that is given up is in the ledger when its commit has resolved, and its links are queued': async (
    make,
  ) => {
    const queue = await make()
    const before = Date.now() - 1000
    await queue.push([page(1, { meta: { depth: 2, retry_times: 2 } })], 'o')
    await queue.commit(await leased(queue), { failure: missing, children: [page(2)] })
    const [entry] = await all(queue.failures)
    const { key, at, worker, request, ...told } = entry!
    assert.deepEqual(told, {
      id: '1',
      url: 'http://a.test/1',
      reason: 'status',
      kind: 'HttpError',
      message: 'status 404',
      status: 404,
      signature: 'status-404',
      attempts: 3,
    })
    assert.equal(typeof key, 'string')
    assert.equal(typeof worker, 'string')
    assert.ok(at > before && at < Date.now() + 1000)
    assert.equal(request?.url, 'http://a.test/1')
    assert.deepEqual(await queue.failures.find(['0', '1']), [entry])
    assert.equal((await queue.counts()).waiting, 1)
  },
  'entries come in pages, each once, all or those of a signature': async (make) => {
    const { failures, ...rest } = await withFailures(make)
    await giveUp(rest.queue, missing, page(1), page(2), page(3), page(4))
    await giveUp(rest.queue, timedOut, page(5), page(6), page(7))
    for (const max of [1, 2, 3, 4, 50]) {
      assert.deepEqual(ids(await all(failures, max)), ['1', '2', '3', '4', '5', '6', '7'])
      assert.deepEqual(ids(await all(failures, max, 'status-404')), ['1', '2', '3', '4'])
      assert.deepEqual(ids(await all(failures, max, timedOut.signature)), ['5', '6', '7'])
      assert.deepEqual(await all(failures, max, 'status-500'), [])
    }
    assert.deepEqual(
      (await all(failures, 50, 'status-404')).map(({ id }) => id),
      ['4', '3', '2', '1'],
    )
  },
  'failures of one signature are a group, with its first and its last': async (make) => {
    const { failures, queue } = await withFailures(make)
    await giveUp(queue, timedOut, page(1))
    await giveUp(queue, missing, page(2), page(3))
    const [most, other] = await failures.groups()
    const { first, last, ...counts } = most!
    assert.deepEqual(counts, { signature: 'status-404', total: 2, kept: 2, trimmed: 0 })
    assert.deepEqual([first.url, last.url], ['http://a.test/2', 'http://a.test/3'])
    assert.deepEqual([first.reason, first.kind, first.status], ['status', 'HttpError', 404])
    assert.deepEqual([other?.kept, other?.first.message], [1, timedOut.message])
  },
  'a page that fails again is in the ledger once, with its latest failure': async (make) => {
    const { failures, queue } = await withFailures(make)
    await giveUp(queue, timedOut, page(1))
    const [before] = await all(failures)
    await giveUp(queue, missing, page(1))
    const entries = await all(failures)
    assert.deepEqual(
      entries.map(({ id, signature }) => [id, signature]),
      [['1', 'status-404']],
    )
    assert.notEqual(entries[0]?.key, before?.key)
    assert.deepEqual(await failures.counts(), { kept: 1, total: 2, trimmed: 0, quarantined: 0 })
    assert.deepEqual(await failures.drop([before!]), [])
    assert.equal((await all(failures)).length, 1)
  },
  'past the most, the oldest of the most common signature go, and are counted': async (make) => {
    const { failures, queue } = await withFailures(make, 4)
    await giveUp(queue, timedOut, page('rare'))
    await giveUp(queue, missing, page(1), page(2), page(3), page(4), page(5))
    assert.deepEqual(ids(await all(failures)), ['3', '4', '5', 'rare'])
    assert.deepEqual(await failures.counts(), { kept: 4, total: 6, trimmed: 2, quarantined: 0 })
    const groups = new Map((await failures.groups()).map((group) => [group.signature, group]))
    const { total, kept, trimmed } = groups.get('status-404')!
    assert.deepEqual([total, kept, trimmed], [5, 3, 2])
  },
  'with 0 as the most nothing is kept': async (make) => {
    const { failures, queue } = await withFailures(make, 0)
    await giveUp(queue, missing, page(1))
    assert.deepEqual(await failures.counts(), { kept: 0, total: 0, trimmed: 0, quarantined: 0 })
  },
  'a hundred signatures are told apart; others count as one': async (make) => {
    const { failures, queue } = await withFailures(make)
    for (let n = 0; n < 103; n++) await giveUp(queue, numbered(n), page(n))
    const groups = await failures.groups()
    assert.equal(groups.length, 101)
    assert.equal(groups.find(({ signature }) => signature === 'other')?.kept, 3)
    assert.deepEqual(ids(await all(failures, 50, 'other')), ['100', '101', '102'])
  },
  'a retried page is leased as if it had never been tried, and has left the ledger': async (make) => {
    const { failures, queue } = await withFailures(make)
    const init = {
      priority: 3,
      meta: { depth: 2, retry_times: 2, host_retry_times: 1 },
      body: 'a',
      method: 'POST',
    }
    await giveUp(queue, missing, page(1, init), page(2))
    const entries = await all(failures)
    const [one] = entries.filter(({ id }) => id === '1')
    assert.deepEqual(await failures.retry([one!]), ['1'])
    assert.deepEqual(ids(await all(failures)), ['2'])
    assert.equal((await queue.counts()).waiting, 1)
    const lease = await leased(queue)
    const { meta, priority, body } = lease.request
    assert.deepEqual([lease.id, lease.attempt, lease.redelivered, priority], ['1', 1, false, 3])
    assert.deepEqual(meta, { depth: 2 })
    assert.deepEqual(Buffer.from(body).toString(), 'a')
    await queue.commit(lease)
    assert.deepEqual(await failures.retry([one!]), [], 'a second time it is not there')
    assert.equal((await queue.counts()).waiting, 0)
  },
  'of two that retry the same pages each page is queued by one': async (make) => {
    const { failures, queue } = await withFailures(make)
    const pages = Array.from({ length: 20 }, (_, n) => page(n))
    await giveUp(queue, missing, ...pages)
    const entries = await all(failures, 50)
    const [one, other] = await Promise.all([failures.retry(entries), failures.retry(entries)])
    assert.deepEqual([...(one as string[]), ...(other as string[])].sort(), ids(pages))
    assert.equal((await queue.counts()).waiting, 20)
  },
  'what is dropped is gone and not queued; its signature is still counted': async (make) => {
    const { failures, queue } = await withFailures(make)
    await giveUp(queue, missing, page(1), page(2))
    assert.deepEqual(await failures.drop(await failures.find(['1'])), ['1'])
    assert.deepEqual(ids(await all(failures)), ['2'])
    assert.equal((await queue.counts()).waiting, 0)
    const [group] = await failures.groups()
    assert.deepEqual([group?.total, group?.kept], [2, 1])
  },
  'what was counted of failures that are gone is forgotten when none is left, and not before': async (
    make,
  ) => {
    const { failures, queue } = await withFailures(make)
    await giveUp(queue, missing, page(1), page(2))
    await failures.drop(await failures.find(['1']))
    await failures.forgetGone()
    assert.deepEqual((await failures.groups()).length, 1)
    assert.deepEqual(await failures.counts(), { kept: 1, total: 2, trimmed: 0, quarantined: 0 })
    await failures.drop(await failures.find(['2']))
    assert.deepEqual((await failures.groups()).length, 1)
    await failures.forgetGone()
    assert.deepEqual(await failures.groups(), [])
    assert.deepEqual(await failures.counts(), { kept: 0, total: 0, trimmed: 0, quarantined: 0 })
  },
  'the response of the first failure of a signature is kept': async (make) => {
    const { failures, queue } = await withFailures(make)
    const snapshot = { url: 'http://a.test/1', status: 404, contentType: 'text/html', bytes: 9, body: 'H4sI' }
    await giveUp(queue, missing, page(1))
    assert.equal(await failures.snapshot('status-404'), undefined)
    await giveUp(queue, { ...missing, snapshot }, page(2))
    await giveUp(queue, { ...missing, snapshot: { ...snapshot, bytes: 10 } }, page(3))
    for (const until = performance.now() + 3000; (await failures.snapshot('status-404')) === undefined; )
      assert.ok(performance.now() < until, 'no snapshot')
    assert.deepEqual(await failures.snapshot('status-404'), snapshot)
  },
  'a request that is too large is listed, and cannot be retried': async (make) => {
    const { failures, queue } = await withFailures(make)
    await giveUp(queue, missing, page(1, { method: 'POST', body: 'x'.repeat(300_000) }))
    const entries = await all(failures)
    assert.deepEqual([entries[0]?.url, entries[0]?.request], ['http://a.test/1', undefined])
    assert.deepEqual(await failures.retry(entries), [])
    assert.equal((await failures.counts()).kept, 1)
  },
  'the ledger outlives a queue that is cleared, and is empty when it is cleared itself': async (make) => {
    const { failures, queue } = await withFailures(make)
    await giveUp(queue, missing, page(1))
    await queue.clear()
    assert.equal((await failures.counts()).kept, 1)
    await failures.clear()
    assert.deepEqual(await failures.counts(), { kept: 0, total: 0, trimmed: 0, quarantined: 0 })
    assert.deepEqual(await failures.groups(), [])
  },
}

async function withFailures(make: Make, failedMax?: number) {
  const queue = await make(failedMax)
  return { queue, failures: queue.failures }
}

/** Every RequestQueue runs this, too: what it keeps of requests that were given up. */
export function failureLedgerContract(runner: TestRunner, implementation: LedgerImplementation): void {
  const { name, create, deviations } = implementation
  runContract<Make>(runner, 'FailureLedger', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const made: (() => Promise<void>)[] = []
      const make: Make = async (failedMax = 1000) => {
        const { queue, dispose } = await create({ failedMax })
        made.push(dispose)
        await queue.open()
        return queue
      }
      return {
        subject: make,
        dispose: async () => {
          for (const dispose of made) await dispose()
        },
      }
    },
  })
}
