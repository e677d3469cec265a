import { type Lease, PROTOCOL_TIMES, type ProtocolTimes, type RequestQueue } from '@webloom/core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { BucketBench, page } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { LeftToOthers } from './left-to-others.ts'

const turns = new BucketBench()
const jobs = new JobBench()
beforeAll(() => Promise.all([turns.start(), jobs.start()]))
afterAll(() => Promise.all([turns.stop(), jobs.stop()]))
// What is leased of a queue that is closed is nothing, at once: a test that has failed must not ask for it on and on.
let stopped = new AbortController()
afterEach(() => {
  stopped.abort()
  return jobs.closeAll()
})

/** Soon due; and a busy machine may take its time for the first try. */
const held = { rejectedMs: 500, othersFirstMs: 3000 }
const times: ProtocolTimes = {
  ...PROTOCOL_TIMES,
  turns: { ...PROTOCOL_TIMES.turns, ...held },
  jobs: { ...PROTOCOL_TIMES.jobs, ...held },
}

/** The older worker refuses what it gets, until `signal` says stop or it gets something again. Returns what it has refused. */
async function refuseAll(older: RequestQueue, signal: AbortSignal): Promise<string[]> {
  const refused: string[] = []
  while (!signal.aborted && new Set(refused).size === refused.length) {
    for (const lease of await older.lease(16, signal)) {
      refused.push(lease.id)
      await older.reject(lease, 'the spider has no callback parseDetail')
    }
  }
  return refused
}

test.each(['turns', 'job'])(
  'QUEUE_MODE=%s: what an idle worker of an older release has refused, one that can do it is the next to get',
  async (mode) => {
    const bench = mode === 'job' ? jobs : turns
    const keys = bench.nextKeys()
    const open = (): Promise<RequestQueue> =>
      bench === jobs ? jobs.open({ keys, times }) : turns.queue({ keys, times })
    const newer = await open()
    const older = await open()
    const hosts = [...'abcdefgh']
    await older.push(
      hosts.map((host) => page(host, 1)),
      'o',
    )
    stopped = new AbortController()
    const refusing = refuseAll(older, stopped.signal)
    await expect.poll(() => older.counts()).toMatchObject({ waiting: 0, delayed: 8, leased: 0 })
    const done: Lease[] = []
    while (done.length < hosts.length && !stopped.signal.aborted) {
      for (const lease of await newer.lease(16, stopped.signal)) {
        await newer.commit(lease)
        done.push(lease)
      }
    }
    stopped.abort()
    expect((await refusing).sort()).toEqual(hosts.map((host) => `${host}/1`))
  },
)

test('others have the first try once for each refusal', async () => {
  const left = new LeftToOthers(50)
  expect(left.waitMs('one')).toBe(0)
  left.rejected('one')
  expect(left.waitMs('one')).toBe(50)
  await expect.poll(() => left.waitMs('one'), { interval: 5 }).toBe(0)
  expect(left.waitMs('one')).toBe(0)
  left.rejected('one')
  expect(left.waitMs('one')).toBe(50)
})
