/**
 * What of the contracts of queue and ledger is about more than one host, kept by shards on a real Redis Cluster. All of both:
 * sharded-contract.soak.test.ts.
 */

import { Request } from '@webloom/core'
import { failureLedgerContract, requestQueueContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ShardBench } from '../../testing/shard-bench.ts'

const TESTS = [
  'a waiting lease gets the children of a page that was in flight',
  'a waiting lease ends with none when the last page in flight had no children',
  'what is in doubt is set aside with the commit, in nobody’s line, counted as delayed, and once',
  'what was in doubt goes to the line of its host, also when it is given back as it was taken',
  'what elements of start() are in doubt of is set aside with them',
  'a host never has more in flight than its concurrency, and others go on',
  'a document that goes to another host waits for its delay, and that host for the document',
  'clear deletes everything that waits',
  'a lease can be ended only once',
  'entries come in pages, each once, all or those of a signature',
  'of two that retry the same pages each page is queued by one',
]

const bench = new ShardBench(3)
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const run: string[] = []
const runner = {
  describe,
  test: (name: string, body: () => unknown) => {
    if (!TESTS.includes(name)) return
    run.push(name)
    test(name, body)
  },
}

requestQueueContract(runner, { name: 'ShardedQueue', create: (options) => bench.queue(options) })

failureLedgerContract(runner, {
  name: 'The ledger of a ShardedQueue',
  create: ({ failedMax }) => bench.queue({ givingUp: { failedMax } }),
})

test('each of these is a test of a contract', () => {
  expect(run.toSorted()).toEqual(TESTS.toSorted())
})

test('what is pushed, and what comes with a commit, is counted once it has come to its shard', async () => {
  const { queue, dispose } = await bench.queue({})
  await queue.open()
  const page = (host: string, n: number) => ({
    id: `${host}/${n}`,
    request: new Request(`http://${host}.test/${n}`),
  })
  const becomes = (counts: object) =>
    expect.poll(() => queue.counts(), { interval: 5 }).toEqual({ delayed: 0, quarantined: 0, ...counts })
  await queue.push([page('a', 1)], 'o')
  await becomes({ waiting: 1, leased: 0 })
  const [lease] = await queue.lease(1)
  await becomes({ waiting: 0, leased: 1 })
  await queue.commit(lease!, { children: [page('a', 2), page('b', 1), page('c', 1)] })
  await becomes({ waiting: 3, leased: 0 })
  await dispose()
})
