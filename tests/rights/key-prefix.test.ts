/** Two teams on one Redis, each as a user who may use the keys of its own prefix and no others. */

import { Settings } from '@webloom/core'
import { type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crawl, type SettingsInput } from 'webloom'
import { clearFromOutside } from '../../packages/webloom/src/assembly/clear-crawl.ts'
import { withCrawlFromOutside } from '../../packages/webloom/src/assembly/crawl-from-outside.ts'
import { RegistryDesks } from '../../packages/webloom/src/desk/registry-desks.ts'
import { checkRedisServers } from '../../packages/webloom/src/doctor/redis-checkup.ts'
import { deskServers } from '../../packages/webloom/src/redis/desk-servers.ts'
import { aclLine } from '../../packages/webloom/src/redis/redis-rights.ts'
import { keepingLogger, SeededPages } from '../seeds/seeded-pages.ts'

const ROLES = ['queue', 'dupefilter', 'seeds', 'items'] as const
const TEAMS = {
  red: { REDIS_KEY_PREFIX: 'red:', QUEUE_MODE: 'turns', DUPEFILTER_CLASS: 'redis-set' },
  blue: {
    REDIS_KEY_PREFIX: 'blue.',
    QUEUE_PREFIX: 'bull',
    QUEUE_MODE: 'job',
    DUPEFILTER_CLASS: 'redis-bloom',
  },
} as const
type Team = keyof typeof TEAMS
const names = Object.keys(TEAMS) as Team[]

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
  for (const team of names) {
    const { REDIS_KEY_PREFIX: keyPrefix, ...others } = TEAMS[team]
    const queuePrefix = 'QUEUE_PREFIX' in others ? { queuePrefix: others.QUEUE_PREFIX } : {}
    const line = aclLine(ROLES, { spider: 'pages', keyPrefix, ...queuePrefix })
    await redis.command(...line.replace('<user>', team).replace('<password>', 'pw').split(' '))
  }
})
afterAll(() => redis.stop())

const settingsOf = (team: Team): SettingsInput => ({
  REDIS_URL: redis.url.replace('://', `://${team}:pw@`),
  ...TEAMS[team],
  ITEM_PIPELINES: [['redis', 300]],
  COOKIES_SHARED: true,
  ROBOTSTXT_OBEY: true,
  SCHEDULER_PERSIST: true,
  PRIVATE_ADDRESSES_ALLOWED: ['*'],
})

/** By team: those that begin with its prefix, also as a hash tag. */
async function keysByTeam(): Promise<Record<string, string[]>> {
  const keys = (await redis.command('KEYS', '*')) as string[]
  const ownerOf = (key: string) => /^\{?(red(?=:)|blue(?=\.))/.exec(key)?.[1] ?? 'nobody'
  return Object.fromEntries(Map.groupBy(keys, ownerOf))
}

const typedSettings = (team: Team) =>
  Object.entries(settingsOf(team))
    .filter(([, value]) => typeof value === 'string')
    .map(([name, value]) => `${name}=${value}`)

test('two crawls of one spider with two prefixes do not see one another, and clear deletes only its own', async () => {
  const lines: string[] = []
  const crawls = names.map(async (team) => {
    await using web = await startFakeWeb({ seed: 1, pagesPerHost: 8 })
    await redis.command('RPUSH', `${TEAMS[team].REDIS_KEY_PREFIX}pages:start_urls`, ...web.seeds)
    const options = { settings: settingsOf(team), logger: keepingLogger(lines) }
    const { finishReason, stats } = await crawl(SeededPages, options)
    expect(finishReason).toBe('finished')
    const pages = web.hits.map(({ url }) => url).filter((url) => !url.endsWith('/robots.txt'))
    expect(new Set(pages)).toEqual(web.linked())
    expect(pages).toHaveLength(web.linked().size)
    const items = `${TEAMS[team].REDIS_KEY_PREFIX}pages:items`
    expect(await redis.command('LLEN', items)).toBe(stats.item_scraped_count)
  })
  await Promise.all(crawls)
  expect(lines.filter((line) => /NOPERM|ACL/.test(line))).toEqual([])

  const before = await keysByTeam()
  expect(Object.keys(before).sort()).toEqual(['blue', 'red'])
  expect(before.red).toEqual(expect.arrayContaining(['red:webloom:crawls', 'red:pages:dupefilter']))
  expect(before.blue).toEqual(expect.arrayContaining(['blue.bull:crawls', 'blue.pages:bloomfilter']))

  for (const team of names) {
    const desks = new RegistryDesks(deskServers({ set: typedSettings(team) }, undefined))
    const [seen, ...others] = await desks.crawls()
    expect([seen?.spider, seen?.state, others]).toEqual(['pages', 'finished', []])
    expect((await (await desks.desk('pages'))!.status()).stats.item_scraped_count).toBeGreaterThan(0)
    await desks.close()
    const found = await checkRedisServers(Settings.fromLayers({ command: settingsOf(team) }), 'pages')
    expect(found.filter(({ check }) => check === 'Redis rights')).toEqual([])
  }

  const config = { settings: settingsOf('red'), folder: import.meta.dirname } as never
  expect(await withCrawlFromOutside(SeededPages, {}, config, (it) => clearFromOutside(it))).toBe(0)
  const after = await keysByTeam()
  expect(after.blue?.sort()).toEqual(before.blue?.sort())
  // Seeds and items are not the crawl's own, and what its runs came to stays.
  expect(after.red?.sort()).toEqual([
    'red:pages:items',
    'red:webloom:crawls',
    'red:webloom:{pages}:runs',
    '{red:pages:start_urls}:record',
  ])
})

test('a prefix that no key can begin with is refused, with what it may be', async () => {
  const settings = { ...settingsOf('red'), REDIS_KEY_PREFIX: '{red}*', QUEUE_PREFIX: 'bull:' }
  await expect(crawl(SeededPages, { settings })).rejects.toMatchObject({
    problems: [
      'REDIS_KEY_PREFIX is "{red}*"; expected at most 100 letters, digits and characters of : . _ / -, as in REDIS_KEY_PREFIX=team7:',
      expect.stringMatching(/^QUEUE_PREFIX is "bull:"; .* no colon at its end: one follows it$/),
    ],
  })
})
