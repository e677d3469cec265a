import { PROTOCOL_TIMES } from '@webloom/core'
import { MachineLag, startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bullKey, ids, page, pages } from '../../testing/job-bench.ts'
import { leased } from '../../testing/leased.ts'
import { quarantined } from '../../testing/quarantined.ts'
import { JobProcessBench } from '../../testing/workers/job-processes.ts'
import { historyKey } from '../leasing/quarantine-history.ts'
import type { JobLease } from './job-lease.ts'

const bench = new JobProcessBench()
beforeAll(() => bench.start())
afterAll(async () => {
  await bench.closeAll()
  await bench.stop()
})

// Each with its own crawl; most of it is waiting.
describe.concurrent('workers that die', () => {
  test('what a killed worker had is taken over within ten seconds, nothing lost, each once more', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys, workerId: 'living' })
    await queue.push(pages(3), 'o')
    const dying = bench.worker(keys, 'dying')
    await dying.waitForOutput(/leased 2 1/)
    dying.kill('SIGKILL')
    using lag = new MachineLag()
    const killedAt = performance.now()
    const [first] = await leased(queue, 1)
    expect(performance.now() - killedAt).toBeLessThan(10_000 + lag.ms)
    expect([first!.attempt, first!.redelivered]).toEqual([2, true])
    expect(await bench.connect().hgetall(keys.alone)).toEqual({ living: first!.id })
    expect(await queue.counts()).toEqual({ waiting: 2, delayed: 0, leased: 1, quarantined: 0 })
    await queue.commit(first!)
    expect(await bench.connect().exists(keys.alone)).toBe(0)
  })

  test('suspects run alone, one after the other; others go on with the rest', async () => {
    const keys = bench.nextKeys()
    // No suspect goes on beside others before this test is over.
    const engine = { ...PROTOCOL_TIMES.engine, suspectPatienceMs: 60_000 }
    const times = { ...PROTOCOL_TIMES, engine }
    const [queue, other] = [await bench.open({ keys, times }), await bench.open({ keys, times })]
    await queue.push(pages(2), 'o')
    const dying = bench.worker(keys, 'dying')
    await dying.waitForOutput(/leased 1 1/)
    dying.kill('SIGKILL')
    await dying.exited
    await queue.push([page('new', { priority: 5 })], 'p')
    const [innocent] = await leased(queue, 1)
    expect(innocent!.id).toBe('new')
    await bench.expireLocks(keys, 'dying')
    // It waits for the end of what this worker has.
    await vi.waitFor(async () => expect((await queue.counts()).leased).toBe(1))
    expect(await queue.lease(8)).toEqual([])
    await queue.commit(innocent!)
    const [suspect] = await leased(queue, 1)
    expect(await queue.lease(8)).toEqual([])
    const [elsewhere] = await leased(other, 1)
    expect(new Set([suspect!.id, elsewhere!.id])).toEqual(new Set(['0', '1']))
    await queue.push([page('late')], 'q')
    expect(await queue.lease(8)).toEqual([])
    await queue.commit(suspect!)
    expect(ids(await leased(queue, 1))).toEqual(['late'])
  })

  test('a request that kills its worker alone is quarantined with its history; its neighbours are not', async () => {
    const keys = bench.nextKeys()
    const survivor = await bench.open({ keys, quarantineAfter: 2 })
    await survivor.push([page('poison', { priority: 1 }), page('neighbour')], 'o')
    const redis = bench.connect()
    /** @param taken what it takes at the moment of its death, too late to give it back */
    const die = async (workerId: string, said: RegExp, taken?: string) => {
      const worker = bench.worker(keys, workerId, { quarantineAfter: 2 })
      await worker.waitForOutput(said)
      worker.kill('SIGKILL')
      await worker.exited
      if (taken) {
        await survivor.push([page(taken)], 'p')
        await redis.zrem(bullKey(keys, 'prioritized'), `r-${taken}`)
        await redis.hset(bullKey(keys, `r-${taken}`), 'pb', workerId)
        await redis.lpush(bullKey(keys, 'active'), `r-${taken}`)
      }
      await bench.expireLocks(keys, workerId)
      await vi.waitFor(async () => expect((await survivor.counts()).leased).toBe(0))
    }
    await die('first', /leased neighbour 1/)
    await die('second', /leased poison 2/, 'late')
    await die('third', /leased poison 3/)
    expect(await survivor.counts()).toEqual({ waiting: 2, delayed: 0, leased: 0, quarantined: 1 })
    const others = await leased(survivor, 1)
    await survivor.commit(others[0]!)
    others.push(...(await leased(survivor, 1)))
    await survivor.commit(others[1]!)
    const suspects = (others as JobLease[]).map(({ id, attempt, suspect }) => `${id} ${attempt} ${suspect}`)
    expect(suspects.sort()).toEqual(['late 2 false', 'neighbour 2 true'])
    const [entry] = await quarantined({ redis: bench.connect(), keys })
    expect(entry).toMatchObject({ id: 'poison', reason: 'it killed 2 workers that ran it alone' })
    expect(
      entry!.history.map(({ worker, what }) => [worker, what.replace(/^.*, (with|while)/, '$1')]),
    ).toEqual([
      ['first', 'with this request in flight'],
      ['second', 'while it ran this request alone'],
      ['third', 'while it ran this request alone'],
    ])
    expect(await bench.connect().exists(keys.alone, historyKey(keys))).toBe(0)
  })

  test('a worker that slept and woke is refused: another has its request, and its children come once', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page(1)], 'o')
    const sleeper = bench.worker(keys, 'sleeper', { max: 1 })
    await sleeper.waitForOutput(/leased 1 1/)
    sleeper.kill('SIGSTOP')
    await bench.expireLocks(keys, 'sleeper')
    const [lease] = await leased(queue, 1)
    sleeper.write('commit 1\n')
    sleeper.kill('SIGCONT')
    await sleeper.waitForOutput(/refused 1 WL_LEASE_LOST/)
    await queue.commit(lease!, { children: [page(2)] })
    expect(ids(await leased(queue, 1))).toEqual(['2'])
    expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 1, quarantined: 0 })
  })
})

describe.concurrent('a Redis that goes away', () => {
  test('a reply to a commit that is lost: it is sent again, is not a lost lease, and the children come once', async () => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const queue = await bench.open({ url: proxy.url })
    await queue.push([page('before'), page(1)], 'o')
    const [before] = await queue.lease(1)
    await queue.commit(before!) // Redis knows the script from here on.
    const [lease] = await queue.lease(1)
    const fault = proxy.cutReplyOf((command) => command.includes(lease!.id) || command.includes('r-1'))
    await queue.commit(lease!, { children: [page(2), page(3)] })
    expect(fault.count).toBe(1)
    fault.cancel()
    expect(await queue.counts()).toEqual({ waiting: 2, delayed: 0, leased: 0, quarantined: 0 })
  })

  test('a restart in between: what was leased can be committed, what waits is handed out', async () => {
    await using server = await startRedis({ appendonly: 'always' })
    const queue = await bench.open({ url: server.url })
    await queue.push(pages(5), 'o')
    const [lease, open2] = await queue.lease(2)
    await server.kill()
    const committed = queue.commit(lease!, { children: [page('child')] })
    await server.restart()
    await committed
    expect((await leased(queue, 4, 10_000)).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
    await queue.commit(open2!)
    expect(await queue.counts()).toEqual({ waiting: 0, delayed: 0, leased: 4, quarantined: 0 })
  })

  test('locks that have expired while Redis was away are renewed by the living before anything is reclaimed', async () => {
    const keys = bench.nextKeys()
    const queue = await bench.open({ keys })
    await queue.push([page(1)], 'o')
    const [lease] = await queue.lease(1)
    const redis = bench.connect()
    await redis.del(bullKey(keys, 'r-1:lock'))
    // Nobody has looked for a long time.
    await redis.set(bullKey(keys, 'stalled-check'), 1)
    const newcomer = await bench.open({ keys })
    expect(await newcomer.lease(1)).toEqual([])
    await vi.waitFor(async () => expect(await redis.exists(bullKey(keys, 'r-1:lock'))).toBe(1))
    expect(lease!.signal.aborted).toBe(false)
    await queue.commit(lease!)
  })
})
