import { writeFileSync } from 'node:fs'
import { tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { Settings } from '../settings/settings.ts'
import { redisTargets } from './redis-options.ts'
import { parseRedisUrl, withoutPassword } from './redis-url.ts'

const read = (url: string) => parseRedisUrl(url, 'REDIS_URL')
const target = (settings: Record<string, unknown>, role: 'queue' | 'dupefilter' = 'queue') =>
  redisTargets(Settings.fromLayers({ command: settings }), role)[0]!

describe('what a URL says', () => {
  test.each([
    ['redis://h', { kind: 'server', addresses: [{ host: 'h', port: 6379 }] }],
    ['rediss://[fd00::1]:6390/2', { isTls: true, addresses: [{ host: 'fd00::1', port: 6390 }], db: 2 }],
    ['redis://u:a@b%2F%3F%23%25:c@h', { username: 'u', password: 'a@b/?#%:c' }],
    ['REDIS+Sentinel://H/Crawls', { kind: 'sentinel', isTls: false, name: 'Crawls' }],
    ['redis://:p@h:6379/', { password: 'p', addresses: [{ host: 'h', port: 6379 }] }],
    [
      'redis+sentinel://u:p@a:1,b,[::1]:3/crawls/4',
      {
        kind: 'sentinel',
        addresses: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26_379 },
          { host: '::1', port: 3 },
        ],
        name: 'crawls',
        db: 4,
        username: 'u',
        password: 'p',
      },
    ],
    [
      'rediss+cluster://a, b:7/',
      {
        kind: 'cluster',
        isTls: true,
        addresses: [
          { host: 'a', port: 6379 },
          { host: 'b', port: 7 },
        ],
      },
    ],
    ['redis://h/1?db=3&ssl_cert_reqs=none', { db: 3, params: { ssl_cert_reqs: 'none' } }],
  ])('%s', (url, said) => expect(read(url)).toMatchObject(said))
})

test.each([
  ['redis://a,b', /"redis:\/\/a,b"; it names several servers, as only redis\+sentinel:/],
  [
    'redis+sentinel://a:1',
    /does not say what the Sentinels call the server; expected redis\+sentinel:\/\/host:port,host:port\/name/,
  ],
  [
    'redis+cluster://a/1',
    /a Redis Cluster has only database 0\. Leave \/1 away: CRAWL_ID keeps crawls apart/,
  ],
  ['redis+cluster://a?db=2', /only database 0/],
  ['redis://h:70000', /expected redis:\/\/host:port\/db/],
  ['redis+sentinel://a/n/x', /expected redis\+sentinel/],
  ['redis+unix://a', /expected redis:\/\/host:port\/db, redis\+sentinel/],
  ['redis://:sec/ret@h', /"redis:\/\/:\*\*\*@h"; in a user or password write %2F for \//],
  ['redis://u:12#ret@h', /"redis:\/\/u:\*\*\*@h"; in a user or password write %2F/],
  ['redis://u:12?sec@h', /"redis:\/\/u:\*\*\*@h"; in a user or password write %2F/],
  ['redis://h#x', /nothing may stand behind a #/],
  [
    'redis+sentinel://h/n?passwd=sec',
    /"redis\+sentinel:\/\/h\/n\?passwd=\*\*\*"; there is no parameter "passwd"/,
  ],
  ['redis+sentinel://h/n?sentinel_pasword=sec&%74oken=ret', /\?sentinel_pasword=\*\*\*&%74oken=\*\*\*"/],
  [
    'redis+cluster://:sec@h,:ret@i',
    /"redis\+cluster:\/\/:\*\*\*@i"; it has a user or password at more than one host\. They stand once, before the first/,
  ],
  [
    'redis+sentinel://u:sec@h:1,u:ret@i:2/n',
    /They stand once, before the first: redis\+sentinel:\/\/user:password@host/,
  ],
  ['redis://h?ssl_ca_cert=x', /there is no parameter "ssl_ca_cert"\. Did you mean "?ssl_ca_certs/],
])('%s is refused with what to write, without its password', (url, words) => {
  expect(() => read(url)).toThrow(words)
  expect(() => read(url)).toThrow(/^(?!.*(?:sec|ret@|12))/s)
})

test('passwords of Sentinels are not shown either', () => {
  expect(withoutPassword('redis+sentinel://:a@h/n?sentinel_password=b&ssl_cert_reqs=none')).toBe(
    'redis+sentinel://:***@h/n?sentinel_password=***&ssl_cert_reqs=none',
  )
})

describe('a connection by Sentinels', () => {
  test('has the server’s user, the Sentinels’ own, and a database', () => {
    const REDIS_URL = 'redis+sentinel://u:p@a:1,b/crawls/2?sentinel_username=s&sentinel_password=w'
    expect(target({ REDIS_URL })).toMatchObject({
      options: {
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26_379 },
        ],
        name: 'crawls',
        db: 2,
        username: 'u',
        password: 'p',
        sentinelUsername: 's',
        sentinelPassword: 'w',
      },
      shown: 'redis+sentinel://a:1,b:26379/crawls/2',
    })
  })
  test('takes redis-py’s sentinel_kwargs, and speaks TLS to both unless these say otherwise', () => {
    const sentinel_kwargs = { password: 'w', ssl: false }
    const REDIS_PARAMS = { sentinel_kwargs }
    expect(target({ REDIS_URL: 'rediss+sentinel://a/n', REDIS_PARAMS }).options).toMatchObject({
      tls: {},
      sentinelPassword: 'w',
      sentinelTLS: null,
    })
    expect(target({ REDIS_URL: 'rediss+sentinel://a/n' }).options).toMatchObject({ tls: {}, sentinelTLS: {} })
  })
  test('is still made by REDIS_PARAMS alone, but not for a role whose URL says otherwise', () => {
    const settings = {
      REDIS_HOST: 'h',
      REDIS_PARAMS: { sentinels: [{ host: 'a', port: 1 }], name: 'n' },
      DUPEFILTER_REDIS_URL: 'redis+sentinel://d/filter',
    }
    expect(target(settings).shown).toBe('redis+sentinel://a:1/n/0')
    expect(target(settings, 'dupefilter').shown).toBe('redis+sentinel://d:26379/filter/0')
  })
})

test('in a list of filters’ servers a URL keeps its own commas', () => {
  const DUPEFILTER_REDIS_URL = 'redis+sentinel://a:1,b:2/one,redis://c'
  const shown = redisTargets(Settings.fromLayers({ command: { DUPEFILTER_REDIS_URL } }), 'dupefilter').map(
    (one) => one.shown,
  )
  expect(shown).toEqual(['redis+sentinel://a:1,b:2/one/0', 'redis://c:6379/0'])
})

describe('TLS', () => {
  test('has its files by redis-py’s names, in REDIS_PARAMS or in the URL', async () => {
    await using folder = await tempDir()
    writeFileSync(folder.join('ca.pem'), 'CA')
    writeFileSync(folder.join('own.pem'), 'OWN')
    const { options } = target({
      REDIS_URL: `rediss://h?ssl_certfile=${folder.join('own.pem')}&ssl_check_hostname=false`,
      REDIS_PARAMS: { ssl_ca_certs: folder.join('ca.pem'), ssl_cert_reqs: 'none', ssl_password: 'x' },
    })
    expect(options.tls).toEqual({
      ca: 'CA',
      cert: 'OWN',
      passphrase: 'x',
      rejectUnauthorized: false,
      checkHostname: false,
      files: { ssl_ca_certs: folder.join('ca.pem'), ssl_certfile: folder.join('own.pem') },
    })
  })
  test('says which file cannot be read', () => {
    const REDIS_PARAMS = { ssl: true, ssl_ca_certs: 'gone.pem' }
    expect(() => target({ REDIS_URL: 'redis://h', REDIS_PARAMS })).toThrow(
      /ssl_ca_certs of REDIS_PARAMS is "gone.pem", which cannot be read \(ENOENT\); expected the path of a PEM file, absolute or from \//,
    )
  })
  test('is not asked for by a file alone', () => {
    expect(target({ REDIS_URL: 'redis://h', REDIS_PARAMS: { ssl_ca_certs: 'gone.pem' } }).options.tls).toBe(
      undefined,
    )
  })
  test.each(['maybe', 1])('refuses ssl_cert_reqs %s', (ssl_cert_reqs) => {
    expect(() => target({ REDIS_URL: 'rediss://h', REDIS_PARAMS: { ssl_cert_reqs } })).toThrow(
      /ssl_cert_reqs of REDIS_PARAMS is .*expected "required", or "none"/,
    )
  })
})

test.each([{ socket_timeout: 0 }, { socket_connect_timeout: 'long' }])('%j is refused', (REDIS_PARAMS) => {
  expect(() => target({ REDIS_URL: 'redis://h', REDIS_PARAMS })).toThrow(/expected seconds, such as 4/)
})
