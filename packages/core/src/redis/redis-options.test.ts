import { describe, expect, test } from 'vitest'
import { Settings } from '../settings/settings.ts'
import { redisTargets } from './redis-options.ts'
import { withoutPassword } from './redis-url.ts'

const shown = (settings: Record<string, unknown>, role: 'queue' | 'dupefilter' | 'seeds' | 'items') =>
  redisTargets(Settings.fromLayers({ command: settings }), role).map((target) => target.shown)

describe('the server of a role', () => {
  test('is nothing without a setting that names one', () => {
    expect(shown({}, 'queue')).toEqual([])
  })
  test('is REDIS_URL for all, unless a role has its own', () => {
    const settings = {
      REDIS_URL: 'redis://all:6379/1',
      QUEUE_REDIS_URL: 'redis://q',
      DUPEFILTER_REDIS_URL: 'redis://d:1,redis://e:2',
      ITEMS_REDIS_URL: 'rediss://i:6390',
    }
    expect(shown(settings, 'queue')).toEqual(['redis://q:6379/0'])
    expect(shown(settings, 'dupefilter')).toEqual(['redis://d:1/0', 'redis://e:2/0'])
    expect(shown(settings, 'seeds')).toEqual(['redis://all:6379/1'])
    expect(shown(settings, 'items')).toEqual(['rediss://i:6390/0'])
  })
  test('may be named as scrapy-redis and the fork name it', () => {
    expect(shown({ REDIS_HOST: 'h', REDIS_PORT: 7000, REDIS_DB: 2 }, 'queue')).toEqual(['redis://h:7000/2'])
    expect(shown({ REDIS_HOST: 'h', FILTER_HOST: 'f', FILTER_DB: 3 }, 'dupefilter')).toEqual([
      'redis://f:6379/3',
    ])
    expect(shown({ REDIS_URL: 'redis://h', FILTER_URL: 'redis://g' }, 'dupefilter')).toEqual([
      'redis://g:6379/0',
    ])
  })
})

test('user, password and parameters reach the client, the URL’s before REDIS_PARAMS', () => {
  const settings = Settings.fromLayers({
    command: {
      REDIS_URL: 'redis://me:p%40ss@[::1]:6380/4',
      REDIS_PARAMS: { password: 'other', socket_timeout: 2, retry_on_timeout: true },
    },
  })
  const [target] = redisTargets(settings, 'queue')
  expect(target?.options).toEqual({
    host: '::1',
    port: 6380,
    db: 4,
    username: 'me',
    password: 'p@ss',
    connectTimeout: 5000,
    socketTimeout: 2000,
  })
  expect(target?.shown).toBe('redis://[::1]:6380/4')
})

test.each([
  ['pa%24s', 'pa$s'],
  ['pa%zz%ss', 'pa%zz%ss'],
  ['%C3%BC%', 'ü%'],
])('a password %s is %s, as redis-py has it', (written, password) => {
  const settings = Settings.fromLayers({ command: { REDIS_URL: `redis://me:${written}@a` } })
  expect(redisTargets(settings, 'queue')[0]?.options).toMatchObject({ username: 'me', password })
})

test('the database is the one that redis-py would take: of the URL, then of REDIS_PARAMS', () => {
  const REDIS_PARAMS = { db: '5' }
  expect(shown({ REDIS_URL: 'redis://h', REDIS_PARAMS }, 'queue')).toEqual(['redis://h:6379/5'])
  expect(shown({ REDIS_URL: 'redis://h/0', REDIS_PARAMS }, 'queue')).toEqual(['redis://h:6379/0'])
  expect(shown({ REDIS_URL: 'redis://h/1?db=3' }, 'queue')).toEqual(['redis://h:6379/3'])
  expect(shown({ REDIS_HOST: 'h', REDIS_PARAMS }, 'queue')).toEqual(['redis://h:6379/5'])
  expect(shown({ REDIS_HOST: 'h', REDIS_DB: 2, REDIS_PARAMS }, 'queue')).toEqual(['redis://h:6379/2'])
})

test.each(['two', -1, 1.5, null])('REDIS_PARAMS.db %s is refused', (db) => {
  expect(() => shown({ REDIS_URL: 'redis://h', REDIS_PARAMS: { db } }, 'queue')).toThrow(
    /REDIS_PARAMS\.db is .*expected the number of a database/,
  )
})

test.each(['http://h', 'redis://', 'redis://h/one', 'redis://h?db=one', 'redis://h/-1', 'h:6379'])(
  '%s is refused',
  (url) => {
    expect(() => shown({ REDIS_URL: url }, 'queue')).toThrow(
      /REDIS_URL is .*expected redis:\/\/host:port\/db/,
    )
  },
)

test('a password is never shown, however broken the URL', () => {
  expect(withoutPassword('redis://user:se:cr@et@host/x')).toBe('redis://user:***@host/x')
  expect(() => shown({ REDIS_URL: 'redis://u:secret@/x' }, 'queue')).toThrow(/^(?!.*secret)/s)
})
