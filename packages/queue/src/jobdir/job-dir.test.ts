import { DatabaseSync } from 'node:sqlite'
import { CrawlUrlRules, createFingerprinter, type QueueOrder, Request, type UrlRules } from '@webloom/core'
import {
  dupeFilterContract,
  requestQueueContract,
  withoutForget,
  withoutSharedStore,
} from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { clockOf, newJob } from '../../testing/new-job.ts'
import { HostSlots } from '../politeness/host-slots.ts'
import { JobDir } from './job-dir.ts'

requestQueueContract(
  { describe, test },
  {
    name: 'The queue of a JOBDIR',
    create: async ({ order = 'priority', ...pace }) => {
      const { job, dispose } = await newJob({ clock: clockOf(pace), order })
      return { queue: job.queue, dispose }
    },
  },
)

dupeFilterContract(
  { describe, test },
  {
    name: 'The filter of a JOBDIR',
    deviations: [
      ...withoutForget(
        'DUPEFILTER_CLASS chooses a filter that forgets; this one is for the crawl that is resumed',
      ),
      ...withoutSharedStore('one process at a time has a JOBDIR, and its queue is in the same file'),
    ],
    create: async () => {
      const { job, dispose } = await newJob()
      await job.filter.open()
      return {
        subject: job.filter,
        dispose: async () => {
          await job.filter.close()
          await dispose()
        },
      }
    },
  },
)

const on = (path: string, init = {}) => ({ id: path, request: new Request(`http://a.test/${path}`, init) })

async function opened(folder: string, order: QueueOrder = 'priority') {
  const jobDir = new JobDir({ folder, spiderName: 's', clock: clockOf(), order })
  const past = await jobDir.record.open()
  await jobDir.filter.open()
  await jobDir.queue.open()
  return { ...jobDir, queue: jobDir.queue, filter: jobDir.filter, record: jobDir.record, past }
}

/** Lets go of the file without a word to the queue, as a kill does. */
const killed = async ({ record }: Pick<JobDir, 'record'>) => record.close()

async function drained({ queue }: Pick<JobDir, 'queue'>): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const [lease] = await queue.lease(1)
    if (!lease) return ids
    ids.push(lease.id)
    await queue.commit(lease)
  }
}

describe('what the next run finds', () => {
  test('a lease that was taken by a killed process comes back, and says so', async () => {
    await using dir = await tempDir()
    const first = await opened(dir.path)
    await first.queue.push([on('1'), on('2'), on('3')], 'o')
    const [one, two] = await first.queue.lease(2)
    await first.queue.commit(one!)
    expect(two?.attempt).toBe(1)
    await killed(first)
    const second = await opened(dir.path)
    expect(await second.queue.counts()).toEqual({ waiting: 2, delayed: 0, leased: 0, quarantined: 0 })
    const leases = await second.queue.lease(5)
    expect(leases.map(({ id, attempt, redelivered }) => ({ id, attempt, redelivered }))).toEqual([
      { id: '2', attempt: 2, redelivered: true },
      { id: '3', attempt: 1, redelivered: false },
    ])
    await second.queue.retry(leases[0]!, leases[0]!.request, 0)
    const [again] = await second.queue.lease(1)
    expect(again).toMatchObject({ id: '2', attempt: 2, redelivered: true })
    await killed(second)
  })

  test('links are seen if and only if they are queued', async () => {
    await using dir = await tempDir()
    const first = await opened(dir.path)
    await first.queue.push([on('page')], 'start/0')
    const [page] = await first.queue.lease(1)
    const links = [on('x'), on('y')]
    const requests = links.map(({ request }) => request)
    expect(await first.filter.requestsSeen(requests, 'page')).toEqual([false, false])
    await killed(first)
    const second = await opened(dir.path)
    expect(page?.id).toBe('page')
    const [again] = await second.queue.lease(1)
    expect(await second.filter.requestsSeen(requests, 'page')).toEqual([false, false])
    await second.queue.commit(again!, { children: links })
    await killed(second)
    const third = await opened(dir.path)
    expect(await third.filter.requestsSeen(requests, 'page')).toEqual([true, true])
    expect(await drained(third)).toEqual(['x', 'y'])
    await killed(third)
  })

  test('the start cursor has moved with what was pushed', async () => {
    await using dir = await tempDir()
    const first = await opened(dir.path)
    expect(first.past).toEqual({ begun: false })
    expect(await first.record.takeStart(AbortSignal.timeout(1000))).toBe(0)
    await first.queue.push([on('s')], 'start/0')
    await first.queue.push([], 'start/1')
    await first.record.startMoved(2, 3)
    await killed(first)
    const second = await opened(dir.path)
    expect(second.past).toEqual({ begun: true })
    expect(await second.record.takeStart(AbortSignal.timeout(1000))).toBe(3)
    await second.record.startEnded(3)
    await drained(second)
    await second.record.ended('finished')
    await killed(second)
    const third = await opened(dir.path)
    expect(third.past).toMatchObject({ finishedAt: expect.any(Date) })
    expect(await third.record.takeStart(AbortSignal.timeout(1000))).toBeNull()
    await killed(third)
  })

  test('a delayed request is still delayed, and comes', async () => {
    await using dir = await tempDir()
    const first = await opened(dir.path)
    await first.queue.push([on('1')], 'o')
    const [lease] = await first.queue.lease(1)
    await first.queue.retry(lease!, lease!.request.replace({ meta: { retry_times: 1 } }), 300)
    await killed(first)
    const second = await opened(dir.path)
    expect(await second.queue.counts()).toMatchObject({ waiting: 0, delayed: 1 })
    const [again] = await second.queue.lease(1)
    expect(again?.request.meta.retry_times).toBe(1)
    await killed(second)
  })

  test('another order than before is kept to', async () => {
    await using dir = await tempDir()
    const first = await opened(dir.path, 'fifo')
    await first.queue.push([on('1'), on('2', { priority: 3 }), on('3', { priority: 1 })], 'o')
    await killed(first)
    const second = await opened(dir.path, 'priority')
    expect(await second.queue.lease(1)).toMatchObject([{ id: '2' }])
    await killed(second)
    const third = await opened(dir.path, 'lifo')
    expect(await drained(third)).toEqual(['3', '2', '1'])
    await killed(third)
  })

  test('a request of a newer form is left alone, and the crawl is not called finished for it', async () => {
    await using dir = await tempDir()
    const first = await opened(dir.path)
    await first.queue.push([on('1'), on('2')], 'o')
    await killed(first)
    const database = new DatabaseSync(dir.join('webloom.sqlite'))
    database.exec("UPDATE requests SET request = json_set(request, '$.v', 99) WHERE id = '1'")
    database.close()
    const second = await opened(dir.path)
    expect(await drained(second)).toEqual(['2'])
    expect(await second.queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 1 })
    await second.record.ended('finished')
    await killed(second)
    const third = await opened(dir.path)
    expect(third.past.finishedAt).toBeUndefined()
    expect((await third.queue.counts()).waiting).toBe(1)
    await killed(third)
  })
})

test('a crawl of an older release goes on by the rules of w3lib 2.4, unless others are chosen', async () => {
  await using dir = await tempDir()
  const by = (rules: UrlRules, isSet = false) =>
    createFingerprinter({}, undefined, new CrawlUrlRules(rules, isSet))
  const opened = async (rules: UrlRules, isSet = false) => {
    const fingerprinter = by(rules, isSet)
    const job = new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf(), fingerprinter })
    return { job, fingerprinter }
  }
  // `;` separates parameters by the rules of 2.4 only.
  const odd = () => new Request('https://example.com/?b=1;a=2')
  const before = await opened('w3lib-2.4')
  await before.job.filter.open()
  expect(await before.job.filter.requestSeen(odd())).toBe(false)
  await before.job.filter.close()
  await before.job.record.close()

  const after = await opened('w3lib-2.5')
  await after.job.filter.open()
  expect(await after.job.filter.requestSeen(odd())).toBe(true)
  expect(await after.job.filter.describe()).toMatchObject({ fingerprinter: 'scrapy', urlRules: 'w3lib-2.4' })
  await after.job.filter.close()
  await after.job.record.close()

  const chosen = await opened('w3lib-2.5', true)
  await expect(chosen.job.filter.open()).rejects.toThrow(
    /URL_RULES is w3lib-2\.5, and JOBDIR .* was begun by the rules of w3lib-2\.4.*set URL_RULES=w3lib-2\.4/,
  )
  await chosen.job.record.close()
})

test('a JOBDIR of the release before is opened, and refused by that release from then on; what is in doubt outlives its run', async () => {
  await using dir = await tempDir()
  const first = await opened(dir.path)
  await first.queue.push([on('1')], 'start/0')
  await first.queue.close()
  await first.record.close()
  const file = `${dir.path}/webloom.sqlite`
  const formOf = (set?: number) => {
    const database = new DatabaseSync(file)
    if (set !== undefined) database.exec(`PRAGMA user_version = ${set}`)
    const row = database.prepare('PRAGMA user_version').get() as { user_version: number }
    database.close()
    return row.user_version
  }
  formOf(1)
  const second = await opened(dir.path)
  await second.queue.push([{ ...on('2'), inDoubt: 'page' }], 'page')
  expect(await second.queue.counts()).toMatchObject({ waiting: 1, delayed: 1 })
  await second.queue.close()
  await second.record.close()
  expect(formOf()).toBe(2)
  const third = await opened(dir.path)
  expect((await third.queue.doubts.take(9)).map(({ id }) => id)).toEqual(['2'])
  expect(await third.queue.doubts.end([on('2')], [])).toEqual(['2'])
  expect(await third.queue.counts()).toMatchObject({ waiting: 2, delayed: 0 })
  await third.queue.close()
  await third.record.close()
  formOf(3)
  await expect(opened(dir.path)).rejects.toThrow(
    /written by Webloom \d+\.\d+\.\d+ \(form 3; this one knows 2\); npm install webloom@\d+\.\d+\.\d+, or/,
  )
})

test('what waits keeps its POLITENESS_GROUP_BY: another one is refused until nothing waits', async () => {
  await using dir = await tempDir()
  const opened = async (groupBy: 'host' | 'domain') => {
    const slots = new HostSlots({ groupBy, resolve: async () => [] })
    const job = new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf(), slots })
    await job.record.open()
    await job.queue.open()
    return job
  }
  const first = await opened('host')
  await first.record.close()
  const second = await opened('domain')
  await second.queue.push([on('a')], 'start/0')
  await killed(second)
  await expect(opened('host')).rejects.toThrow(
    /was queued with domain: .*-s POLITENESS_GROUP_BY=domain until/,
  )
  const third = await opened('domain')
  await third.queue.commit((await third.queue.lease(1))[0]!)
  await killed(third)
  await killed(await opened('host'))
})
