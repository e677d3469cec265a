import { readFileSync } from 'node:fs'
import { type QueuedRequest, RedisScript, Request } from '@webloom/core'
import { beforeEach, expect, test } from 'vitest'
import { quarantined } from '../../testing/quarantined.ts'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { RedisFailures } from '../failures/redis-failures.ts'
import { dropFailed, retryFailed } from '../outside/failed-requests.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { packRequest } from './packed-request.ts'
import { historyKey } from './quarantine-history.ts'

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

const list = () => quarantined({ redis, keys })

test('a request is quarantined with its reason and all that happened to it', async () => {
  await note('f00d', 1_790_000_000_001, 'host:1:a', 'worker died while it ran this request alone')
  await note('f00d', 1_790_000_000_002, 'host:2:"b"', 'it died again')
  await note('other', 1_790_000_000_003, 'host:3:c', 'worker died')
  await quarantine(packRequest(page('f00d'), { kills: 2 }), 'it killed 2 workers', 1_790_000_000_004)
  expect(await list()).toEqual([
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
  const [{ history } = { history: [] }] = await list()
  expect(history.length).toBeGreaterThan(30)
  expect(history.length).toBeLessThan(300)
  expect(history.at(-1)?.at).toBe(300)
})

test('it is a failure of the reason quarantined: listed, found, grouped by why it is there, and dropped', async () => {
  const failures = new RedisFailures({ redis, keys })
  await note('f00d', 1, 'host:1:a', 'worker died')
  await quarantine(packRequest(page('f00d')), 'it killed 2 workers', 5)
  await quarantine(packRequest(page('cafe')), 'it killed 3 workers', 6)
  await quarantine(packRequest(page('beef')), 'no callback parseList', 7)
  expect(await failures.counts()).toEqual({ kept: 0, total: 0, trimmed: 0, quarantined: 3 })
  const [entry] = await failures.find(['f00d', 'unknown'])
  expect(entry).toMatchObject({
    key: 'q5',
    at: 5,
    url: 'https://example.com/f00d',
    reason: 'quarantined',
    message: 'it killed 2 workers',
    worker: 'host:1:a',
    request: { url: 'https://example.com/f00d' },
  })
  const groups = await failures.groups()
  expect(groups.map(({ kept, first, last }) => [kept, first.at, last.at])).toEqual([
    [2, 5, 6],
    [1, 7, 7],
  ])
  expect(await dropFailed(failures, { signature: groups[1]!.signature })).toEqual(['beef'])
  expect(await dropFailed(failures, { ids: ['f00d'] })).toEqual(['f00d'])
  expect((await list()).map(({ id }) => id)).toEqual(['cafe'])
})

test('one that was retried and quarantined again is not the one that was listed before', async () => {
  const failures = new RedisFailures({ redis, keys })
  await quarantine(packRequest(page('f00d')), 'it killed 2 workers', 5)
  const listed = await failures.find(['f00d'])
  await quarantine(packRequest(page('f00d')), 'it killed 2 workers', 6)
  expect(await failures.drop(listed)).toEqual([])
  expect(await failures.drop(await failures.find(['f00d']))).toEqual(['f00d'])
})

test.each(['f00d\n\nno JSON', 'f00d', 'f00d\n\n{"v":9,"url":"https://example.com/"}', 'f00d\n\nnull'])(
  'what cannot be read (%j) is listed and stays when all are retried',
  async (text) => {
    await quarantine(text, 'unreadable', 5)
    await quarantine(packRequest(page('beef')), 'no callback', 6)
    expect((await list()).map(({ id }) => id)).toEqual(['beef', 'f00d'])
    const retry = async (retried: readonly { id: string }[]) => retried.map(({ id }) => id)
    const failures = new RedisFailures({ redis, keys, retry })
    const answer = await retryFailed(failures, {}, { reopen: async () => {} })
    expect(answer).toEqual({ queued: ['beef'], unreadable: ['f00d'] })
  },
)

test('a long list is read in parts, and all of it is dropped', async () => {
  for (let n = 0; n < 700; n++) await quarantine(packRequest(page(`p${n}`)), 'no callback', n)
  expect(await list()).toHaveLength(700)
  const failures = new RedisFailures({ redis, keys })
  expect(await dropFailed(failures, { reason: 'quarantined' })).toHaveLength(700)
  expect(await failures.counts()).toEqual({ kept: 0, total: 0, trimmed: 0, quarantined: 0 })
})
