import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cpuMs } from '@webloom/testkit'
import { editDistance } from '@webloom/url'
import { describe, expect, test } from 'vitest'
import { shownValue } from './setting-shown.ts'
import { suggestedNames } from './setting-suggestions.ts'
import { readValue } from './setting-value.ts'
import { SETTING_THEMES, SETTINGS_TABLE, settingRow } from './settings-table.ts'

const names = SETTINGS_TABLE.map(({ name }) => name)

function fromRoot(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url))
}

describe('the table', () => {
  test('every setting of Scrapy 2.19 is in it', () => {
    const scrapy = JSON.parse(readFileSync(fromRoot('packages/core/testdata/scrapy-settings.json'), 'utf8'))
    expect(scrapy.names.length).toBeGreaterThan(200)
    expect(scrapy.names.filter((name: string) => !names.includes(name))).toEqual([])
  })

  test('no name stands in it twice', () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('every default is a value that the setting accepts', () => {
    const wrong = SETTINGS_TABLE.filter((row) => 'expected' in readValue(row, row.default))
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  test('every synonym leads to a choice, where there are choices', () => {
    for (const row of SETTINGS_TABLE) {
      if (row.type !== 'enum') continue
      const meant = Object.values(row.synonyms ?? {})
      expect([row.name, meant.filter((choice) => !row.choices?.includes(choice))]).toEqual([row.name, []])
    }
  })

  test('another name for a setting has its type and default', () => {
    for (const { aliasOf, name, ...row } of SETTINGS_TABLE) {
      if (aliasOf === undefined) continue
      expect({ name, ...row }).toMatchObject({ name, type: row.type, default: settingRow(aliasOf)!.default })
    }
  })

  test('names are upper case, summaries one sentence or more on one line', () => {
    for (const { name, summary } of SETTINGS_TABLE) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/)
      expect(summary).toMatch(/^[^\n]+\.\)?$/)
    }
  })

  test('every used setting stands in a theme', () => {
    const themed = SETTING_THEMES.flatMap(({ settings }) => settings.map(({ name }) => name))
    expect(SETTINGS_TABLE.filter(({ use }) => use === 'used').map(({ name }) => name)).toEqual(themed)
  })
})

describe('shown values', () => {
  test.each([
    ['REDIS_URL', 'redis://user:pa@ss@host:1/0', '"redis://***@host:1/0"'],
    ['REDIS_URL', 'redis://host', '"redis://host"'],
    ['REDIS_URL', null, 'null'],
    ['HTTPAUTH_PASS', 'secret', '(not shown)'],
    ['DUPEFILTER_REDIS_URL', ['redis://:secret@a'], '["redis://***@a"]'],
    ['PROXY_LIST', ['http://u:secret@a:1', 'u:secret@b'], '["http://***@a:1","(not shown)"]'],
    [
      'REDIS_PARAMS',
      { host: 'h', password: 'secret', tls: { key: 'secret' } },
      '{"host":"h","password":"***","tls":{"key":"***"}}',
    ],
    [
      'FEEDS',
      { 's3://KEY:secret@bucket/a.csv': { format: 'csv' } },
      '{"s3://***@bucket/a.csv":{"format":"csv"}}',
    ],
    [
      'DEFAULT_REQUEST_HEADERS',
      { Authorization: 'Bearer secret', Accept: '*/*' },
      '{"Authorization":"***","Accept":"*/*"}',
    ],
    ['HTTPPROXY_X', 'http://user:secret@proxy:3128', '"http://***@proxy:3128"'],
    ['CUSTOM_HOOK', 'https://h/x?api_key=secret&a=1', '"https://h/x?api_key=***&a=1"'],
    ['CUSTOM_API_TOKEN', 'secret', '(not shown)'],
    ['CUSTOM_OPTIONS', { a: [{ dbPassword: 'secret', port: 1 }] }, '{"a":[{"dbPassword":"***","port":1}]}'],
    ['CUSTOM_OPTIONS', new URL('http://u:secret@h/'), '"http://***@h/"'],
    [
      'CUSTOM_OPTIONS',
      new (class Client {
        token = 'secret'
      })(),
      '"an object of class Client"',
    ],
    [
      'CUSTOM_HEADERS',
      ['Authorization: Bearer secret', 'Accept: */*'],
      '["Authorization: ***","Accept: */*"]',
    ],
    ['CUSTOM_DSN', 'Server=db;Password=secret;Timeout=5', '"Server=db;Password=***;Timeout=5"'],
    ['CUSTOM_NOTE', 'tokens and passwords are elsewhere', '"tokens and passwords are elsewhere"'],
    ['USER_AGENT', 'bot (+https://example.com/a@b; a@b.com)', '"bot (+https://example.com/a@b; a@b.com)"'],
    ['REDIS_URL', 'redis://:sec/ret@h:1', '"redis://***@h:1"'],
    ['USER_AGENT', 'a\u001b[2J', '"a\\u001b[2J"'],
    ['ITEM_PIPELINES', [[class Mine {}, 300]], '[["the function Mine",300]]'],
    ['CUSTOM_X', undefined, 'undefined'],
    [
      'MONITOR_WEBHOOKS',
      ['https://hooks.slack.com/services/T0/B0/key', 'https://h.example'],
      '["https://hooks.slack.com/***","https://h.example"]',
    ],
    [
      'MONITOR_WEBHOOKS',
      'https://a.example/x,https://b.example/y?z=1,https://c.example?key=1',
      '"https://a.example/***,https://b.example/***,https://c.example?***"',
    ],
  ])('%s %j is shown as %s', (name, value, shown) => expect(shownValue(name, value)).toBe(shown))
})

test('no long value takes a long time to be shown', () => {
  const began = cpuMs()
  for (const unit of ['a://', '@', '?pass', 'pass=', 'token  ', '&token', 'a', '://a', '?a=', '&a=&'])
    for (const name of ['USER_AGENT', 'REDIS_URL', 'CUSTOM_X'])
      shownValue(name, unit.repeat(300_000 / unit.length))
  expect(cpuMs() - began).toBeLessThan(2000)
})

describe('docs/settings.md', () => {
  test('is what the table says', () => {
    const options = { encoding: 'utf8', stdio: 'pipe' } as const
    const script = ['--conditions=webloom-source', fromRoot('scripts/settings-docs.ts'), '--check']
    expect(execFileSync(process.execPath, script, options)).toBe('')
  })
})

describe('suggestions', () => {
  test.each([
    ['DOWNLOD_DELAY', 'DOWNLOAD_DELAY'],
    ['DOWNLAOD_DELAY', 'DOWNLOAD_DELAY'],
    ['DELAY_DOWNLOAD', 'DOWNLOAD_DELAY'],
    ['downloadDelay', 'DOWNLOAD_DELAY'],
    ['download-delay', 'DOWNLOAD_DELAY'],
    ['WEBLOOM_DOWNLOAD_DELAY', 'DOWNLOAD_DELAY'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['DELAY', 'DOWNLOAD_DELAY'],
    ['CONCURRENT_REQUEST', 'CONCURRENT_REQUESTS'],
    ['CONCURRENT_REQUESTS_PER_HOST', 'CONCURRENT_REQUESTS_PER_DOMAIN'],
    ['RETRY_MAX_TIMES', 'RETRY_TIMES'],
    ['REDIE_URL', 'REDIS_URL'],
    ['USERAGENT', 'USER_AGENT'],
    ['DEPTH', 'DEPTH_LIMIT'],
    ['AUTO_THROTTLE', 'AUTOTHROTTLE_ENABLED'],
    ['BLOOM_BIT', 'BLOOMFILTER_BIT'],
  ])('%s → %s', (written, meant) => expect(suggestedNames(written)).toContain(meant))

  test('at most three, and none for what is like nothing', () => {
    expect(suggestedNames('REDIS').length).toBeLessThanOrEqual(3)
    expect(suggestedNames('ZZZZQQQQ')).toEqual([])
    expect(suggestedNames('')).toEqual([])
  })

  test('two swapped letters are one slip', () => {
    expect(editDistance('ab', 'ba')).toBe(1)
    expect(editDistance('kitten', 'sitting')).toBe(3)
    expect(editDistance('', 'abc')).toBe(3)
  })
})
