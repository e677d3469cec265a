import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, stopped } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { RedisCrawlRecord } from './redis-crawl-record.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const never = new AbortController().signal

describe('a reply is lost, and the script sent again', () => {
  const lost = async (
    step: (record: RedisCrawlRecord, keys: CrawlRedisKeys) => Promise<unknown>,
    before = async (_record: RedisCrawlRecord) => {},
  ) => {
    await using proxy = await startTcpProxy({ target: bench.server.url })
    const keys = bench.nextKeys()
    const record = bench.record(keys, { redis: bench.connect(proxy.url) })
    await before(record)
    const fault = proxy.cutReplyOf(([name]) => /^EVAL/.test(name!))
    const answer = await step(record, keys)
    expect(fault.count).toBe(1)
    return { answer, keys }
  }
  const open = async (record: RedisCrawlRecord) => {
    await record.open()
    await record.takeStart(never)
  }

  test('open: it has begun all the same', async () => {
    await bench.record(bench.nextKeys()).open() // Redis knows the script now.
    const { answer, keys } = await lost((record) => record.open())
    expect(answer).toEqual({ begun: false })
    expect(await bench.entriesOf(keys)).toBe(1)
  })

  test('startMoved and startEnded: they are no lost lease', async () => {
    const { keys } = await lost((record) => record.startMoved(0, 3), open)
    expect(await bench.redis.hget(keys.record, 'startCursor')).toBe('3')
    const ended = await lost((record) => record.startEnded(0), open)
    expect(await bench.redis.hget(ended.keys.record, 'startEnded')).toBe('1')
  })

  test('finish: it is finished', async () => {
    const { answer } = await lost(
      (record) => record.finish(),
      async (record) => {
        await open(record)
        await record.startEnded(0)
      },
    )
    expect(answer).toBe(true)
  })

  test('leave, and late, when all is emptied: it need not be emptied again', async () => {
    const keys = bench.nextKeys()
    const [record, copy] = [1, 2].map(() => bench.record(keys, { workerId: 'the-same:1:1' }))
    await record!.open()
    await copy!.open()
    await stopped(record!)
    await bench.doOwed(keys)
    expect(await stopped(copy!)).toMatchObject({ last: true, owes: false })
  })

  test('leave: it was the last one', async () => {
    const { answer, keys } = await lost(stopped, open)
    expect(answer).toMatchObject({ last: true, owes: true })
    expect(await bench.stateOf(keys)).toBe('stopped')
  })
})

// These wait, each for its own crawl.
