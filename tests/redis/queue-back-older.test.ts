/**
 * A page is told that a link is seen, as another page has queued it. The queue's Redis loses the other page's commit, and comes
 * back before the page's own. The other page runs again, and no longer shows the link: it is fetched all the same.
 */

import { type CommitOptions, type Lease, Request } from '@webloom/core'
import { RedisSetDupeFilter } from '@webloom/dupefilter'
import { InUse, type RedisServer, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { schedulerOf } from '../../packages/scheduler/testing/scheduler-of.ts'
import { connectedTo, leased, queueOf, SCHEDULER_TIMES } from '../dupefilters/scheduling.ts'

const SERVER = { appendonly: 'everysec', config: { appendfsync: 'no' } } as const
const page = (path: string) => new Request(`http://${path}.test/${path}`)
type Servers = Readonly<Record<'queue' | 'filter', RedisServer>>

async function worker(
  name: string,
  mode: 'turns' | 'job',
  { servers, used }: { servers: Servers; used: InUse },
) {
  const redis = connectedTo(servers.queue.url, used)
  const filter = new RedisSetDupeFilter({
    redis: connectedTo(servers.filter.url, used),
    key: 'seen',
    pendingStaleMs: 1000,
    times: SCHEDULER_TIMES,
    cacheSize: 100,
    redisRunId: async () => /^run_id:(\S+)/m.exec(await redis.info('server'))![1]!,
    onQueueBack: (listener) => void redis.on('ready', listener),
  })
  const queue = queueOf(mode, redis, name)
  const { scheduler } = schedulerOf({ filter, queue, times: SCHEDULER_TIMES })
  await scheduler.open()
  used.defer(() => scheduler.close())
  return { scheduler, filter, queue }
}

test.each([
  ['turns', 1],
  ['turns', 2],
  ['job', 1],
  ['job', 2],
] as const)('QUEUE_MODE=%s, queue and filter on %s servers', async (mode, count) => {
  await using used = new InUse()
  const queue = used.use(await startRedis(SERVER))
  const servers = { queue, filter: count === 1 ? queue : used.use(await startRedis(SERVER)) }
  const one = await worker('one', mode, { servers, used })
  const two = await worker('two', mode, { servers, used })
  await one.scheduler.enqueue([page('changing')], 'start/0')
  const changing = (await leased(one.scheduler, 1)).get('changing')!
  await two.scheduler.enqueue([page('other')], 'start/1')
  const other = (await leased(two.scheduler, 1)).get('other')!
  const { commit } = two.queue
  const [isTold, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  two.queue.commit = async (lease: Lease, options?: CommitOptions) => {
    isTold.resolve()
    await mayCommit.promise
    return commit.call(two.queue, lease, options)
  }
  await queue.remember()
  await one.scheduler.commit(changing, [page('once')])
  await one.filter.requestsSeen([page('elsewhere')], 'carries the settling')
  const committed = two.scheduler.commit(other, [page('once')]).catch((error: Error) => error)
  await isTold.promise
  await queue.setBack()
  mayCommit.resolve()
  await committed
  const fetched = new Set<string>()
  const until = AbortSignal.timeout(20_000)
  while (!(await two.scheduler.isEmpty(until))) {
    for (const lease of await two.scheduler.next(8, until)) {
      const path = new URL(lease.request.url).pathname.slice(1)
      fetched.add(path)
      const links = { changing: ['then'], other: ['once'] }[path] ?? []
      await two.scheduler.commit(lease, links.map(page)).catch(() => {})
    }
  }
  expect([...fetched].sort()).toEqual(expect.arrayContaining(['changing', 'once', 'then']))
})
