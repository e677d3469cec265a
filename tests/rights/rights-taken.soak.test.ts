/** Each command with which Webloom writes to Redis, taken from its user in mid-crawl. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REDIS_RIGHTS } from '../../packages/webloom/src/redis/redis-rights.ts'
import { crawlWithRightTaken } from './rights-taken.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const READS =
  /^(?:exists|get|h(?:exists|get|getall|keys|len|mget|randfield|scan|vals)|l(?:index|len|pos|range)|mget|pttl|s(?:can|card|ismember|members|mismember|trlen|randmember)|bitcount|bitfield_ro|getbit|getrange|time|type|memory.*|z(?:card|count|range|rangebyscore|revrange|revrangebyscore|scan|score)|(?:un)?subscribe|pubsub.*)$/
const WRITES = [...new Set([...REDIS_RIGHTS.queue.commands, ...REDIS_RIGHTS.dupefilter.commands])]
  .filter((command) => !READS.test(command))
  .sort()

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test.concurrent.each(WRITES)(
    'whoever loses the right to %s in mid-crawl, and gets it back, loses no page',
    async (command) => {
      const { lost, finishReasons, told } = await crawlWithRightTaken(server, { command, mode, seed: 1 })
      expect(lost).toEqual([])
      expect(finishReasons[1]).toBe('finished')
      // Where the crawl came to the command at all.
      if (finishReasons[0] === 'internal_error')
        expect(told).toContain('the user has no right to that command')
    },
    120_000,
  )
})
