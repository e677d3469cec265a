import { describe, expect, expectTypeOf, test } from 'vitest'
import { SettingsError } from '../errors/errors.ts'
import { environmentSettings, unreadVariables } from './environment-settings.ts'
import type { Component, ComponentEntry } from './setting-row.ts'
import { Settings } from './settings.ts'
import type { SettingsInput } from './settings-input.ts'

function problemsOf(act: () => unknown): readonly string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}

describe('layers', () => {
  const layers = {
    config: { CONCURRENT_REQUESTS: 1, DOWNLOAD_DELAY: 1, RETRY_TIMES: 1, DEPTH_LIMIT: 1 },
    spider: { DOWNLOAD_DELAY: 2, RETRY_TIMES: 2, DEPTH_LIMIT: 2 },
    environment: { RETRY_TIMES: '3', DEPTH_LIMIT: '3' },
    command: { DEPTH_LIMIT: '4' },
  }

  test('command line before environment before spider before config file before default', () => {
    const settings = Settings.fromLayers(layers)
    expect(settings.getInt('CONCURRENT_ITEMS')).toBe(100)
    expect(settings.getInt('CONCURRENT_REQUESTS')).toBe(1)
    expect(settings.getFloat('DOWNLOAD_DELAY')).toBe(2)
    expect(settings.getMs('DOWNLOAD_DELAY')).toBe(2000)
    expect(settings.getInt('RETRY_TIMES')).toBe(3)
    expect(settings.getInt('DEPTH_LIMIT')).toBe(4)
  })

  test('the layer that won is told', () => {
    const settings = Settings.fromLayers(layers)
    expect(settings.source('CONCURRENT_ITEMS')).toBe('default')
    expect(settings.source('CONCURRENT_REQUESTS')).toBe('config')
    expect(settings.source('DEPTH_LIMIT')).toBe('command')
    expect(settings.isSet('CONCURRENT_ITEMS')).toBe(false)
    expect(settings.isSet('DEPTH_LIMIT')).toBe(true)
    expect(settings.namesSet()).toEqual([
      'CONCURRENT_REQUESTS',
      'DEPTH_LIMIT',
      'DOWNLOAD_DELAY',
      'RETRY_TIMES',
    ])
  })

  test('explain lists what every layer says, and the winner', () => {
    expect(Settings.fromLayers(layers).explain('RETRY_TIMES')).toEqual({
      name: 'RETRY_TIMES',
      value: 3,
      source: 'environment',
      layers: [
        { layer: 'default', place: 'the default', value: 2 },
        { layer: 'config', place: 'the config file', value: 1 },
        { layer: 'spider', place: "the spider's customSettings", value: 2 },
        { layer: 'environment', place: 'WEBLOOM_RETRY_TIMES in the environment', value: 3 },
      ],
    })
  })

  test('a plain object is the command layer: nothing overrides it', () => {
    const settings = new Settings({ DOWNLOAD_DELAY: 1 }).with('spider', { DOWNLOAD_DELAY: 2, RETRY_TIMES: 0 })
    expect(settings.getFloat('DOWNLOAD_DELAY')).toBe(1)
    expect(settings.getInt('RETRY_TIMES')).toBe(0)
    expect(settings.source('DOWNLOAD_DELAY')).toBe('command')
  })

  test('with() keeps what the layer held, and leaves the original as it was', () => {
    const before = Settings.fromLayers({ spider: { RETRY_TIMES: 5 } })
    const after = before.with('spider', { DEPTH_LIMIT: 7 })
    expect([after.getInt('RETRY_TIMES'), after.getInt('DEPTH_LIMIT')]).toEqual([5, 7])
    expect(before.getInt('DEPTH_LIMIT')).toBe(0)
  })

  test('undefined is not a value', () => {
    expect(Settings.fromLayers({ config: { RETRY_TIMES: undefined } }).getInt('RETRY_TIMES')).toBe(2)
  })

  test('the short name of a setting sets it, and its own name wins over that', () => {
    const short = Settings.fromLayers({
      config: { BLOOMFILTER_HASH_NUMBER: 5 },
      command: { HASH_NUMBER: '7' },
    })
    expect(short.getInt('BLOOMFILTER_HASH_NUMBER')).toBe(7)
    expect(short.getInt('HASH_NUMBER')).toBe(7)
    const both = Settings.fromLayers({ config: { BLOOMFILTER_HASH_NUMBER: 5, HASH_NUMBER: 7 } })
    expect(both.getInt('BLOOMFILTER_HASH_NUMBER')).toBe(5)
  })
})

describe('values cannot be changed', () => {
  test('neither through what was given nor through what is read', () => {
    const given = { RETRY_HTTP_CODES: [500], FEEDS: { 'a.jsonl': { format: 'jsonl' } } }
    const settings = new Settings(given)
    given.RETRY_HTTP_CODES.push(404)
    given.FEEDS['a.jsonl'].format = 'csv'
    expect(settings.getList('RETRY_HTTP_CODES')).toEqual([500])
    expect(settings.getDict('FEEDS')).toEqual({ 'a.jsonl': { format: 'jsonl' } })
    expect(() => ((settings.getDict('FEEDS') as Record<string, unknown>).b = {})).toThrow(TypeError)
    expect(Object.isFrozen(new Settings().getDict('DEFAULT_REQUEST_HEADERS'))).toBe(true)
    expect(Object.isFrozen(settings)).toBe(true)
  })

  test('classes and objects that hold themselves pass through', () => {
    class Mine {}
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const settings = new Settings({ ITEM_PIPELINES: [[Mine, 300]], CUSTOM_CIRCLE: circle })
    expect(settings.get('ITEM_PIPELINES')).toEqual([[Mine, 300]])
    const copy = settings.get('CUSTOM_CIRCLE') as typeof circle
    expect(copy.self).toBe(copy)
  })
})

describe('reading', () => {
  test('a name that is in no table throws, with a suggestion', () => {
    const wrong = 'DOWNLOAD_DELLAY' as 'DOWNLOAD_DELAY'
    for (const act of [
      () => new Settings().get(wrong),
      () => new Settings().getFloat(wrong),
      () => new Settings().isSet(wrong),
      () => new Settings().source(wrong),
      () => new Settings().explain(wrong),
    ]) {
      expect(problemsOf(act)[0]).toContain('DOWNLOAD_DELAY?')
    }
  })

  test('the wrong getter throws and names the right one', () => {
    expect(() => new Settings().getInt('DOWNLOAD_DELAY' as 'RETRY_TIMES')).toThrow('getFloat()')
    expect(() => new Settings().getString('LOG_FILE' as 'USER_AGENT')).toThrow('get()')
  })

  test('a wrong value throws, also when nobody validated', () => {
    const settings = Settings.fromLayers({ command: { RETRY_TIMES: 'often' } })
    expect(problemsOf(() => settings.getInt('RETRY_TIMES'))).toHaveLength(1)
  })

  test("a user's own settings are always allowed, and read as the getter says", () => {
    const settings = Settings.fromLayers({ command: { CUSTOM_TIMES: '3', CUSTOM_TAGS: 'a,b' } })
    settings.validate()
    expect(settings.get('CUSTOM_TIMES')).toBe('3')
    expect(settings.getInt('CUSTOM_TIMES')).toBe(3)
    expect(settings.getList('CUSTOM_TAGS')).toEqual(['a', 'b'])
    expect(settings.getBool('CUSTOM_ABSENT', true)).toBe(true)
    expect(settings.get('CUSTOM_ABSENT')).toBeUndefined()
    expect(settings.source('CUSTOM_ABSENT')).toBeUndefined()
    expect(problemsOf(() => settings.getInt('CUSTOM_ABSENT'))[0]).toContain('CUSTOM_ABSENT is not set')
    expect(problemsOf(() => settings.getInt('CUSTOM_TAGS'))[0]).toContain('CUSTOM_TAGS is "a,b"')
  })
})

describe('problems', () => {
  test('all are told at once, each with its value, its place and what was expected', () => {
    const settings = Settings.fromLayers(
      {
        config: { CONCURRENT_REQUESTS: 0, DOWNLOAD_DELAY: -1, RETRY_TIMES: 1.5 },
        spider: { LOG_FORMAT: '%(message)s' },
        environment: { COMPRESSION_ENABLED: 'yes' },
        command: { CONCURRENT_REQUESTS: 'abc', FEEDS: '{"a"', DOWNLOD_TIMEOUT: '3' },
      },
      { config: 'webloom.config.ts' },
    )
    expect(problemsOf(() => settings.validate())).toEqual([
      'CONCURRENT_REQUESTS is 0 (from webloom.config.ts); expected a whole number ≥ 1',
      'CONCURRENT_REQUESTS is "abc" (from -s on the command line); expected a whole number ≥ 1',
      'DOWNLOAD_DELAY is -1 (from webloom.config.ts); expected a number from 0 to 2147483',
      'RETRY_TIMES is 1.5 (from webloom.config.ts); expected a whole number ≥ 0',
      `LOG_FORMAT is "%(message)s" (from the spider's customSettings); expected one of auto, pretty, json`,
      'COMPRESSION_ENABLED is "yes" (from WEBLOOM_COMPRESSION_ENABLED in the environment); expected true or false (1 and 0 will do)',
      expect.stringMatching(
        /^FEEDS is "\{\\"a\\"" \(from -s on the command line\); expected an object.*not JSON: /,
      ),
      'DOWNLOD_TIMEOUT (from -s on the command line) is not a setting. Did you mean DOWNLOAD_TIMEOUT? For a setting of your own use a name that begins with CUSTOM_',
    ])
  })

  test('settings given in code are called so', () => {
    const settings = new Settings({ RETRY_TIMES: -1 })
    expect(settings.problems()).toEqual([
      'RETRY_TIMES is -1 (from the settings given in code); expected a whole number ≥ 0',
    ])
  })

  test('a long value, a control character or a value without JSON cannot spoil the message', () => {
    const circle: Record<string, unknown> = { big: 1n }
    circle.self = circle
    const [long, control, cyclic] = Settings.fromLayers({
      config: { RETRY_TIMES: 'x'.repeat(1000), DEPTH_LIMIT: '\u001b[2J', CONCURRENT_ITEMS: circle },
    }).problems()
    expect(long!.length).toBeLessThan(200)
    expect(control).toContain('"\\u001b[2J"')
    expect(cyclic).toContain('an object of class Object')
  })

  test('no settings, no problems', () => {
    expect(new Settings().problems()).toEqual([])
    expect(new Settings().warnings()).toEqual([])
  })
})

describe('warnings', () => {
  test('a name that is known but not used, only when it was set', () => {
    const settings = Settings.fromLayers({
      config: { REDIS_QUEUE_NAME: 'shared', DOWNLOAD_DELAY: 1 },
      environment: { FTP_PASSWORD: 'secret' },
    })
    settings.validate()
    expect(settings.warnings()).toEqual([
      expect.stringMatching(
        /^REDIS_QUEUE_NAME \(from the config file\) is known from .* but not used: two spiders/,
      ),
      expect.stringMatching(
        /^FTP_PASSWORD \(from WEBLOOM_FTP_PASSWORD in the environment\) is known from Scrapy/,
      ),
    ])
    expect(settings.warnings().join()).not.toContain('secret')
  })

  test('an unused setting with a wrong value stops nothing', () => {
    expect(new Settings({ REDIS_KEY_CHECK_INTERVAL: 'long' } as unknown as SettingsInput).problems()).toEqual(
      [],
    )
  })
})

describe('the environment', () => {
  test('prefixed names, and the few that go without', () => {
    const env = {
      REDIS_URL: 'redis://a',
      LOG_LEVEL: 'DEBUG',
      WEBLOOM_DOWNLOAD_DELAY: '2',
      DOWNLOAD_TIMEOUT: '1',
      WEBLOOM_CUSTOM_TAG: 'x',
      NO_COLOR: '1',
      HOME: '/root',
    }
    expect(environmentSettings(env)).toEqual({
      REDIS_URL: 'redis://a',
      LOG_LEVEL: 'DEBUG',
      DOWNLOAD_DELAY: '2',
      CUSTOM_TAG: 'x',
    })
  })

  test('the prefixed name wins, an empty variable is none', () => {
    const env = { WEBLOOM_LOG_LEVEL: 'ERROR', LOG_LEVEL: 'DEBUG', REDIS_URL: '', WEBLOOM_RETRY_TIMES: '' }
    expect(environmentSettings(env)).toEqual({ LOG_LEVEL: 'ERROR' })
  })

  test('a setting without the prefix is known as one that is not read', () => {
    const env = {
      RETRY_TIMES: '1',
      WEBLOOM_DEPTH_LIMIT: '2',
      DEPTH_LIMIT: '3',
      JOBDIR: '',
      LOG_LEVEL: 'DEBUG',
    }
    expect(unreadVariables(env, ['RETRY_TIMES', 'DEPTH_LIMIT', 'JOBDIR', 'LOG_LEVEL'])).toEqual([
      'RETRY_TIMES',
    ])
  })

  test('the token of a dashboard is not a setting, which a crawl would tell others', () => {
    expect(environmentSettings({ WEBLOOM_DASH_TOKEN: 'secret' })).toEqual({})
  })

  test('an unknown prefixed name is reported like any other', () => {
    const environment = environmentSettings({ WEBLOOM_DELAY_DOWNLOAD: '1' })
    expect(Settings.fromLayers({ environment }).problems()[0]).toContain(
      'DELAY_DOWNLOAD (from WEBLOOM_DELAY_DOWNLOAD in the environment) is not a setting. Did you mean DOWNLOAD_DELAY?',
    )
  })
})

describe('types help the author', () => {
  test('a wrong type, choice or name does not compile', () => {
    const wrong: SettingsInput[] = [
      // @ts-expect-error a number
      { DOWNLOAD_DELAY: 'x' },
      // @ts-expect-error one of three
      { SCHEDULER_QUEUE_CLASS: 'random' },
      // @ts-expect-error numbers
      { RETRY_HTTP_CODES: ['500'] },
      // @ts-expect-error not nullable
      { USER_AGENT: null },
      // @ts-expect-error no such name
      { DOWNLOD_DELAY: 1 },
    ]
    expect(wrong).toHaveLength(5)
  })

  test('what is right compiles', () => {
    class Mine {}
    const right: SettingsInput = {
      DOWNLOAD_DELAY: 0.5,
      SCHEDULER_QUEUE_CLASS: 'scrapy_redis.queue.LifoQueue',
      LOG_FILE: null,
      RETRY_HTTP_CODES: [500, 503],
      ITEM_PIPELINES: [
        [Mine, 300],
        ['./other.ts#Other', null],
      ],
      SPIDER_MIDDLEWARES: { './mine.ts#Mine': 500 },
      FEED_EXPORT_FIELDS: ['title'],
      CUSTOM_ANYTHING: new Date(),
    }
    new Settings(right).validate()
  })

  test('reading is typed by the table', () => {
    const settings = new Settings({ LOG_FILE: 'x.log' })
    expectTypeOf(settings.get('DOWNLOAD_DELAY')).toEqualTypeOf<number>()
    expectTypeOf(settings.get('LOG_FILE')).toEqualTypeOf<string | null>()
    expectTypeOf(settings.get('SCHEDULER_QUEUE_CLASS')).toEqualTypeOf<'priority' | 'fifo' | 'lifo'>()
    expectTypeOf(settings.get('DUPEFILTER_CLASS')).toEqualTypeOf<Component | null>()
    expectTypeOf(settings.get('ITEM_PIPELINES')).toEqualTypeOf<readonly ComponentEntry[]>()
    expectTypeOf(settings.getList('RETRY_HTTP_CODES')).toEqualTypeOf<readonly number[]>()
    expectTypeOf(settings.getList('FINGERPRINT_INCLUDE_HEADERS')).toEqualTypeOf<readonly string[]>()
    expectTypeOf(settings.get('CUSTOM_X')).toEqualTypeOf<unknown>()
  })
})
