/** `webloom stop` of a crawl that is lost. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Spider } from 'webloom'
import { stop } from '../../packages/webloom/src/commands/crawl-control.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

class Pages extends Spider {
  override name = 'pages'
  override *parse(): Generator<unknown> {}
}

test.each([
  { persists: '1', keeps: / -s SCHEDULER_PERSIST=true\. To prevent/ },
  { persists: '0', keeps: /^(?!.*SCHEDULER_PERSIST)/ },
])('says by which line it is crawled again as it was: persists $persists', async ({ persists, keeps }) => {
  const refused = ['finishReason', 'not_opened', 'refusedAs', 'crawl_lost', 'persists', persists]
  await redis.command('HSET', 'webloom:{pages}:record', 'run', 'n.1', 'state', 'stopped', ...refused)
  const said = vi.spyOn(console, 'log').mockReturnValue()
  const nowhere = { path: import.meta.dirname, folder: import.meta.dirname, spiders: [], settings: {} }
  await stop(Pages, { set: [`REDIS_URL=${redis.url}`] }, nowhere)
  const [line] = said.mock.lastCall!
  expect(line).toMatch(/^stopped before: .*webloom worker pages/)
  expect(line).toMatch(keeps)
})
