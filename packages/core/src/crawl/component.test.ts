import { expect, test } from 'vitest'
import { noRedis, type RedisRole } from '../redis/redis-options.ts'
import { Settings } from '../settings/settings.ts'
import { fromCrawler } from './component.ts'
import type { ComponentClass, Crawler } from './crawler.ts'
import { silentLogger } from './logger.ts'
import { Signals } from './signals.ts'
import { MemoryStatsCollector } from './stats.ts'

const crawler: Crawler = {
  settings: Settings.fromLayers({}),
  stats: new MemoryStatsCollector(),
  signals: new Signals(() => {}),
  logger: silentLogger,
  spider: { name: 'test' },
  redis: noRedis,
  close() {},
}

/** The error of a component that is made so. */
function refusal(make: (crawler: Crawler) => unknown): unknown {
  class Own {
    static fromCrawler = make
    readonly name = 'own'
  }
  try {
    fromCrawler(Own as ComponentClass<object>, crawler)
    return undefined
  } catch (error) {
    return error
  }
}

test.each([
  ['nothing', () => undefined, 'fromCrawler of Own returned undefined; expected the component'],
  ['a number', () => 5, 'fromCrawler of Own returned 5 (a number); expected the component'],
  ['a promise', async () => ({}), 'fromCrawler of Own returned a Promise; it may not be async'],
  ['a promise that fails', () => Promise.reject(new Error('late')), 'it may not be async'],
])('a fromCrawler that returns %s is named, with what to return', (_, make, message) => {
  expect(refusal(make)).toMatchObject({
    code: 'WL_COMPONENT_LOAD',
    message: expect.stringContaining(message),
  })
})

test('a component that asks for a Redis is named where there is none, and where there is no such role', () => {
  expect(refusal(({ redis }) => redis('items'))).toMatchObject({
    code: 'WL_SETTINGS_INVALID',
    message: expect.stringContaining('Own asks for the Redis of role items, and no Redis is named'),
  })
  expect(refusal(({ redis }) => redis('item' as RedisRole))).toMatchObject({
    code: 'WL_COMPONENT_LOAD',
    message:
      'Own asks for the Redis of role item; the roles are queue, dupefilter, seeds, items. Did you mean items?',
  })
  expect(refusal(({ redis }) => redis('items', 'SHARED is true'))).toMatchObject({
    message: expect.stringContaining('SHARED is true, and no Redis is named'),
  })
})

test.each([
  [
    'fromCrawler',
    class Own {
      table = 1
      static fromCrawler(): Own {
        throw new TypeError('no table')
      }
    },
    'Own could not be made: fromCrawler threw TypeError: no table',
  ],
  [
    'its constructor',
    class Own {
      constructor() {
        throw 'no table'
      }
    },
    'Own could not be made: its constructor threw "no table"',
  ],
])('what %s throws names the class', (_, Own, message) => {
  expect(() => fromCrawler(Own as ComponentClass<object>, crawler)).toThrow(message)
})
