/**
 * A page is told that a link is new, and runs again without showing it; another page that has it asked meanwhile, and is
 * done. The link is fetched all the same.
 */

import { type Lease, Request } from '@webloom/core'
import { RedisBloomDupeFilter, RedisSetDupeFilter } from '@webloom/dupefilter'
import { InUse, MachineLag, type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { schedulerOf } from '../../packages/scheduler/testing/scheduler-of.ts'
import { connectedTo, fetchedRest, leased, queueOf, SCHEDULER_TIMES } from './scheduling.ts'

const STALE_MS = 1000
const page = (path: string) => new Request(`http://${path}.test/${path}`)

export function linksInDoubt(mode: 'turns' | 'job', kind: 'redis-set' | 'redis-bloom'): void {
  describe(`QUEUE_MODE=${mode}, ${kind}`, () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await startRedis()
    })
    afterAll(() => server.stop())

    const used = new InUse()
    beforeEach(async () => {
      await used.close()
      await server.command('FLUSHALL')
    })

    async function worker(name: string, { filterUrl = server.url } = {}) {
      const connections = new InUse()
      used.defer(() => connections.close())
      const filterOptions = {
        redis: connectedTo(filterUrl, connections),
        key: 'seen',
        pendingStaleMs: STALE_MS,
        times: SCHEDULER_TIMES,
        redisRunId: () => 'run',
      }
      const filter =
        kind === 'redis-set'
          ? new RedisSetDupeFilter(filterOptions)
          : new RedisBloomDupeFilter({ ...filterOptions, capacity: 1000, errorRate: 1e-9 })
      const queue = queueOf(mode, connectedTo(server.url, connections), name)
      const { scheduler, stats } = schedulerOf({ filter, queue, times: SCHEDULER_TIMES })
      await scheduler.open()
      /** The process is gone: nothing of it reaches Redis any more. */
      const dies = () => connections.close()
      return { scheduler, stats, filter, queue, dies }
    }

    test('it has gone back, as a retry does', async () => {
      const { scheduler, stats, filter } = await worker('one')
      await scheduler.enqueue([page('changing'), page('other')], 'start/0')
      const { changing, other } = Object.fromEntries(await leased(scheduler, 2)) as Record<string, Lease>
      expect(await filter.requestsSeen([page('once')], changing!.id)).toEqual([false])
      await scheduler.commit(other!, [page('once')])
      expect(stats.get('dupefilter/in_doubt')).toBe(1)
      expect((await scheduler.counts()).delayed).toBe(1)
      await scheduler.retry(changing!, changing!.request, 'first')
      const again = (await leased(scheduler, 1)).get('changing')
      await scheduler.commit(again!, [page('then')])
      expect(await fetchedRest(scheduler, AbortSignal.timeout(8000))).toEqual(['once', 'then'])
      expect(stats.get('dupefilter/filtered') ?? 0).toBe(0)
      await scheduler.close()
    })

    test('its worker is lost', async () => {
      const [lost, other] = [await worker('lost'), await worker('other')]
      await lost.scheduler.enqueue([page('changing')], 'start/0')
      const changing = (await leased(lost.scheduler, 1)).get('changing')!
      expect(await lost.filter.requestsSeen([page('once'), page('both')], changing.id)).toEqual([
        false,
        false,
      ])
      await lost.dies()
      await other.scheduler.enqueue([page('other')], 'start/1')
      const { other: of } = Object.fromEntries(await leased(other.scheduler, 1)) as Record<string, Lease>
      await other.scheduler.commit(of!, [page('once')])
      const again = (await leased(other.scheduler, 1)).get('changing')!
      await other.scheduler.commit(again, [page('both')])
      expect(await fetchedRest(other.scheduler, AbortSignal.timeout(8000))).toEqual(['both', 'once'])
      await other.scheduler.close()
    })

    test('its worker is lost, and its second run asks the filter about nothing', async () => {
      const [lost, other] = [await worker('lost'), await worker('other')]
      await lost.scheduler.enqueue([page('changing')], 'start/0')
      const changing = (await leased(lost.scheduler, 1)).get('changing')!
      expect(await lost.filter.requestsSeen([page('once')], changing.id)).toEqual([false])
      await lost.dies()
      await other.scheduler.enqueue([page('other')], 'start/1')
      const of = (await leased(other.scheduler, 1)).get('other')!
      await other.scheduler.commit(of, [page('once')])
      const again = (await leased(other.scheduler, 1)).get('changing')!
      // A captcha, so that it yields itself.
      await other.scheduler.commit(again, [page('changing').replace({ dontFilter: true })])
      expect(await fetchedRest(other.scheduler, AbortSignal.timeout(8000))).toEqual(['changing', 'once'])
      await other.scheduler.close()
    })

    test('a link that is queued after all is not fetched twice, and is counted as filtered then', async () => {
      const [one, other] = [await worker('one'), await worker('other')]
      await one.scheduler.enqueue([page('first'), page('second')], 'start/0')
      const { first, second } = Object.fromEntries(await leased(one.scheduler, 2)) as Record<string, Lease>
      expect(await one.filter.requestsSeen([page('link')], first!.id)).toEqual([false])
      await one.scheduler.commit(second!, [page('link')])
      expect([one.stats.get('dupefilter/in_doubt'), one.stats.get('dupefilter/filtered') ?? 0]).toEqual([
        1, 0,
      ])
      await one.scheduler.commit(first!, [page('link')])
      expect(await fetchedRest(one.scheduler, AbortSignal.timeout(8000))).toEqual(['link'])
      const filtered = () =>
        [one, other].reduce((sum, { stats }) => sum + Number(stats.get('dupefilter/filtered') ?? 0), 0)
      await vi.waitFor(() => expect(filtered()).toBe(1))
      await Promise.all([one.scheduler.close(), other.scheduler.close()])
    })

    test('one that the filter fails for is quarantined, and holds up no other', async () => {
      const { scheduler, filter } = await worker('one')
      await scheduler.enqueue([page('first'), page('second')], 'start/0')
      const { first, second } = Object.fromEntries(await leased(scheduler, 2)) as Record<string, Lease>
      await filter.requestsSeen([page('bad'), page('good')], first!.id)
      const ask = filter.requestsSeen.bind(filter)
      filter.requestsSeen = async (requests, asker) => {
        if (asker.startsWith('doubt/') && requests[0]!.url.includes('bad'))
          throw new TypeError('not this one')
        return ask(requests, asker)
      }
      await scheduler.commit(second!, [page('bad'), page('good')])
      await scheduler.retry(first!, first!.request, 'first')
      const again = (await leased(scheduler, 1)).get('first')!
      await scheduler.commit(again, [page('then')])
      expect(await fetchedRest(scheduler, AbortSignal.timeout(8000))).toEqual(['good', 'then'])
      expect((await scheduler.counts()).quarantined).toBe(1)
      await scheduler.close()
    })

    test.runIf(mode === 'turns')(
      'a page that stands in the queue twice and runs twice at once has its links queued once',
      async () => {
        const { scheduler, queue, stats } = await worker('one')
        const twice = { id: 'twice', request: page('page') }
        await queue.push([twice], 'start/0')
        await queue.push([twice], 'start/1')
        const leases: Lease[] = []
        while (leases.length < 2) leases.push(...(await scheduler.next(2 - leases.length)))
        const links = ['a', 'b', 'c'].map(page)
        await Promise.all(leases.map((lease) => scheduler.commit(lease, links)))
        expect(await fetchedRest(scheduler, AbortSignal.timeout(8000))).toEqual(['a', 'b', 'c'])
        expect(stats.get('dupefilter/filtered')).toBe(3)
        await scheduler.close()
      },
    )

    test.runIf(mode === 'turns' && kind === 'redis-set')(
      'whoever leaves the crawl does not wait for a Redis of the filter that does not answer',
      async () => {
        await using proxy = await startTcpProxy({ target: server.url })
        const { scheduler, filter } = await worker('one', { filterUrl: proxy.url })
        await scheduler.enqueue([page('first'), page('second')], 'start/0')
        const { first, second } = Object.fromEntries(await leased(scheduler, 2)) as Record<string, Lease>
        await filter.requestsSeen([page('link')], first!.id)
        await scheduler.commit(second!, [page('link')])
        const asked = vi.spyOn(filter, 'requestsSeen')
        proxy.hang()
        await vi.waitFor(() => expect(asked).toHaveBeenCalled())
        using lag = new MachineLag()
        const startedAt = performance.now()
        await scheduler.close()
        expect(performance.now() - startedAt).toBeLessThan(8000 + lag.ms)
      },
    )
  })
}
