import { readFileSync } from 'node:fs'
import { type QueuedRequest, RedisScript, Request, requestToJson } from '@webloom/core'
import { beforeEach, expect, test } from 'vitest'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { packRequest } from './packed-request.ts'
import { historyKey, Quarantine } from './quarantine.ts'

const { redis } = await redisOfFile()
const keys = crawlRedisKeys({ spider: 'quotes', crawlId: null })
const lua = readFileSync(new URL('../../lua/leasing/quarantine.lua', import.meta.url), 'utf8')

beforeEach(() => redis.flushall())

/** Runs a line of Lua that uses what lua/leasing/quarantine.lua defines. */
const run = (line: string, ...args: string[]) =>
  new RedisScript(`${lua}\n${line}`).run(redis, [keys.quarantine, historyKey(keys)], args)
const note = (id: string, at: number, worker: string, what: string) =>
  run('note(KEYS[2], unpack(ARGV))', id, String(at), worker, what)
const quarantine = (text: string, reason: string, at: number) =>
  run('quarantine(KEYS[1], KEYS[2], unpack(ARGV))', text, reason, String(at))

const page = (id: string, init = {}): QueuedRequest => ({
  id,
  request: new Request(`https://example.com/${id}`, init),
})

/** A queue that remembers what it was given. */
class GivenBack {
  readonly said: string[] = []
  readonly requests: QueuedRequest[] = []
  async push(batch: readonly QueuedRequest[], asker: string) {
    this.requests.push(...batch)
    this.said.push(`push ${asker}`)
    return batch.length
  }
  async settled(asker: string) {
    this.said.push(`settled ${asker}`)
  }
}

test('a request is quarantined with its reason and all that happened to it', async () => {
  await note('f00d', 1_790_000_000_001, 'host:1:a', 'worker died while it ran this request alone')
  await note('f00d', 1_790_000_000_002, 'host:2:"b"', 'it died again')
  await note('other', 1_790_000_000_003, 'host:3:c', 'worker died')
  await quarantine(packRequest(page('f00d'), { kills: 2 }), 'it killed 2 workers', 1_790_000_000_004)
  const subject = new Quarantine({ redis, keys })
  expect(await subject.size).toBe(1)
  expect(await subject.list(10)).toEqual([
    {
      id: 'f00d',
      url: 'https://example.com/f00d',
      reason: 'it killed 2 workers',
      history: [
        {
          at: 1_790_000_000_001,
          worker: 'host:1:a',
          what: 'worker died while it ran this request alone',
        },
        { at: 1_790_000_000_002, worker: 'host:2:"b"', what: 'it died again' },
      ],
      quarantinedAt: 1_790_000_000_004,
    },
  ])
  expect(await redis.hkeys(historyKey(keys))).toEqual(['other'])
})

test('a history has a bound: its oldest lines go', async () => {
  for (let at = 1; at <= 300; at++) await note('f00d', at, 'host:1:a', 'worker died'.padEnd(60, '.'))
  await quarantine(packRequest(page('f00d')), 'enough', 301)
  const [{ history } = { history: [] }] = await new Quarantine({ redis, keys }).list(1)
  expect(history.length).toBeGreaterThan(30)
  expect(history.length).toBeLessThan(300)
  expect(history.at(-1)?.at).toBe(300)
})

test('what is taken is queued under an asker of its own, then gone; numbers and empty lists are as they were', async () => {
  const given = page('f00d', { meta: { big: 123_456_789_012_345, list: [], nested: { none: [] } } })
  await quarantine(packRequest(given, { attempt: 4, kills: 3 }), 'it killed 3 workers', 5)
  await quarantine(packRequest(page('beef')), 'no callback', 6)
  const queue = new GivenBack()
  const subject = new Quarantine({ redis, keys })
  expect(await subject.take(['f00d', 'unknown'], queue)).toEqual(['f00d'])
  expect(queue.said).toEqual(['push quarantine/f00d/5', 'settled quarantine/f00d/5'])
  expect(requestToJson(queue.requests[0]!.request)).toEqual(requestToJson(given.request))
  expect((await subject.list(10)).map(({ id }) => id)).toEqual(['beef'])
})

test('a queue that takes nothing leaves it in quarantine', async () => {
  await quarantine(packRequest(page('f00d')), 'no callback', 5)
  const subject = new Quarantine({ redis, keys })
  const full = new GivenBack()
  full.push = async () => {
    throw new Error('OOM')
  }
  await expect(subject.take('all', full)).rejects.toThrow('OOM')
  expect(await subject.size).toBe(1)
})

test.each(['f00d\n\nno JSON', 'f00d', 'f00d\n\n{"v":9,"url":"https://example.com/"}', 'f00d\n\nnull'])(
  'what cannot be read (%j) is listed and stays when all are taken',
  async (text) => {
    await quarantine(text, 'unreadable', 5)
    await quarantine(packRequest(page('beef')), 'no callback', 6)
    const subject = new Quarantine({ redis, keys })
    expect((await subject.list(10)).map(({ id }) => id)).toEqual(['beef', 'f00d'])
    expect(await subject.take('all', new GivenBack())).toEqual(['beef'])
    expect((await subject.list(10)).map(({ id }) => id)).toEqual(['f00d'])
  },
)

test('a long list is read in parts, and all of it is taken', async () => {
  for (let n = 0; n < 700; n++) await quarantine(packRequest(page(`p${n}`)), 'no callback', n)
  const subject = new Quarantine({ redis, keys })
  expect((await subject.list(20)).length).toBe(20)
  expect((await subject.take('all', new GivenBack())).length).toBe(700)
  expect(await subject.size).toBe(0)
})
