import { Spider } from '@webloom/spider'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lostCrawls } from './lost-crawls.ts'

const RECORD = 'webloom:{pages@a}:record'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.command('FLUSHALL')
})

class Pages extends Spider {
  override name = 'pages'
}

const config = { path: '', folder: process.cwd(), spiders: [], settings: {} }
const looked = () => lostCrawls([{ Class: Pages, config }], { set: [`REDIS_URL=${redis.url}`, 'CRAWL_ID=a'] })

test('a crawl whose workers have ended as it is lost is named, with the lines that begin it anew', async () => {
  const refused = ['finishReason', 'not_opened', 'refusedAs', 'crawl_lost', 'persists', '1']
  await redis.command('HSET', RECORD, 'run', 'n.1', 'state', 'stopped', ...refused)
  const [lost, ...more] = await looked()
  expect(more).toEqual([])
  expect(lost).toMatchObject({ check: 'crawl', state: 'warn' })
  expect(lost?.found).toContain(`is gone from Redis at ${redis.url}`)
  expect(lost?.type).toMatch(
    /^webloom clear \S+.* -s CRAWL_ID=a.* && webloom worker .* -s CRAWL_ID=a.* -s SCHEDULER_PERSIST=true$/,
  )
})

test('so is one of which a shard has lost the run, or whose run is noted while its filter is there; not one that was cleared', async () => {
  await redis.command('HSET', RECORD, 'run', 'n.1', 'state', 'running', 'shards', '2')
  expect(await looked()).toHaveLength(1)
  await redis.command('DEL', RECORD)
  const known = { form: 1, run: 'n.1', begunAt: 1, pages: 3, items: 3, errors: 0, statuses: {}, fields: {} }
  const run = JSON.stringify({ ...known, state: 'lost', finishReason: 'crawl_lost' })
  await redis.command('HSET', 'webloom:{pages@a}:runs', 'n.1', run)
  expect(await looked()).toEqual([])
  await redis.command('SADD', 'pages:a:dupefilter', 'x')
  expect(await looked()).toHaveLength(1)
})

test('a crawl that is well, or was never begun, is not spoken of', async () => {
  expect(await looked()).toEqual([])
  await redis.command('HSET', RECORD, 'run', 'n.1', 'state', 'running')
  expect(await looked()).toEqual([])
})
