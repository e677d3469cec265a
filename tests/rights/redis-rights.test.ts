/** Webloom as a user of Redis who has the rights that docs/deploy.md names, and no others. */

import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { requestToJson } from '@webloom/core'
import { type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { crawl, Request, type SettingsInput } from 'webloom'
import { aclLine } from '../../packages/webloom/src/redis/redis-rights.ts'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { listeningLogger } from '../crawls/crawl-web.ts'
import { keepingLogger, SEEDED_PAGES_FILE, SeededPages } from '../seeds/seeded-pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const ROLES = ['queue', 'dupefilter', 'seeds', 'items'] as const

let servers: Record<(typeof ROLES)[number], RedisServer>
beforeAll(async () => {
  const [queue, dupefilter, seeds, items] = await Promise.all(ROLES.map(() => startRedis()))
  servers = { queue: queue!, dupefilter: dupefilter!, seeds: seeds!, items: items! }
  for (const role of ROLES) await servers[role].command(...typed(aclLine([role])))
})
afterAll(async () => {
  for (const role of ROLES) await servers[role].stop()
})

/** The line as an administrator types it for the spider `pages`. */
const typed = (line: string) =>
  line.replaceAll('<spider>', 'pages').replace('<user>', 'loom').replace('<password>', 'pw').split(' ') as [
    string,
    ...string[],
  ]

const asLoom = (role: (typeof ROLES)[number]) => servers[role].url.replace('://', '://loom:pw@')

const settings = (more: SettingsInput): SettingsInput => ({
  QUEUE_REDIS_URL: asLoom('queue'),
  DUPEFILTER_REDIS_URL: [asLoom('dupefilter')],
  SEEDS_REDIS_URL: asLoom('seeds'),
  ITEMS_REDIS_URL: asLoom('items'),
  ITEM_PIPELINES: [['redis', 300]],
  COOKIES_SHARED: true,
  ROBOTSTXT_OBEY: true,
  PRIVATE_ADDRESSES_ALLOWED: ['*'],
  ...more,
})

// Without shards, with turns and redis-set: key-prefix.test.ts.
test.concurrent.each([
  { id: 'job', QUEUE_MODE: 'job', DUPEFILTER_CLASS: 'redis-bloom' },
  { id: 'shards', QUEUE_SHARDS: 3, DUPEFILTER_SHARDS: 2, DUPEFILTER_CLASS: 'redis-set' },
] as const)('whoever has just these rights crawls: $id, $DUPEFILTER_CLASS', async ({ id, ...mode }) => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 8 })
  const key = `pages:${id}:start_urls`
  await servers.seeds.command('RPUSH', key, ...web.seeds)
  const lines: string[] = []
  const { finishReason, stats } = await crawl(SeededPages, {
    settings: settings({ ...mode, CRAWL_ID: id }),
    logger: keepingLogger(lines),
  })
  expect(lines.filter((line) => /NOPERM|ACL/.test(line))).toEqual([])
  expect(finishReason).toBe('finished')
  const pages = web.hits.map(({ url }) => url).filter((url) => !url.endsWith('/robots.txt'))
  expect(new Set(pages)).toEqual(web.linked())
  expect(await servers.items.command('LLEN', `pages:${id}:items`)).toBe(stats.item_scraped_count)
  await expectNothingRefused()
})

test.concurrent('so do the commands that look at a crawl, and tell it something', {
  timeout: 60_000,
}, async () => {
  class Waiting extends SeededPages {
    override maxIdleTime = 600
  }
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 1 })
  const project = settings({ CRAWL_ID: 'told' })
  await using folder = await ClusterFolder.of(web, project, SEEDED_PAGES_FILE)
  const lines: string[] = []
  const crawling = crawl(Waiting, { settings: project, logger: keepingLogger(lines) })
  const workers = 'webloom:{pages@told}:workers'
  await vi.waitUntil(async () => (await servers.queue.command('HLEN', workers)) === 1)
  const told = [
    ...(await Promise.all(
      [
        ['status', 'pages'],
        ['pause', 'pages'],
        ['dupefilter', 'stats', 'pages'],
        ['seed', 'pages', 'http://a.test/'],
      ].map((words) => folder.run(...words)),
    )),
    await folder.run('stop', 'pages'),
  ]
  await crawling
  await writeFile(
    folder.path('waits.jsonl'),
    `${JSON.stringify(requestToJson(new Request('http://b.test/', { callback: 'parse' })))}\n`,
  )
  told.push(
    await folder.run('import', 'waits.jsonl', 'pages'),
    await folder.run('export', 'pages', '-o', 'left.jsonl'),
    await folder.run('export', 'pages', '--to', 'scrapy-redis'),
    await folder.run('clear', 'pages'),
  )
  for (const { code, stderr } of told) expect(code, stderr).toBe(0)
  expect(lines.filter((line) => /NOPERM|ACL/.test(line))).toEqual([])
  await expectNothingRefused()
})

test.concurrent('a command that Redis refuses ends with exit code 2, without a stack, and with the line for this spider', {
  timeout: 60_000,
}, async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 1 })
  await using redis = await startRedis()
  await redis.command(...typed(aclLine(['queue', 'dupefilter', 'seeds', 'items'])))
  await redis.command('ACL', 'SETUSER', 'loom', '-eval', '-evalsha')
  const url = redis.url.replace('://', '://loom:pw@')
  await using folder = await ClusterFolder.of(web, { REDIS_URL: url }, SEEDED_PAGES_FILE)
  await redis.command('ACL', 'SETUSER', 'blind', 'on', '>pw', 'allkeys', 'allchannels', '+@all', '-info')
  const [wrong, blind] = ['loom:other', 'blind:pw'].map((as) => redis.url.replace('://', `://${as}@`))
  const [worker, cleared, refused, notTold] = await Promise.all([
    folder.run('worker', 'pages'),
    folder.run('clear', 'pages'),
    folder.run('status', 'pages', '-s', `REDIS_URL=${wrong}`),
    folder.run('worker', 'pages', '-s', `REDIS_URL=${blind}`),
  ])
  expect(notTold.code).toBe(2)
  expect(notTold.stderr).toMatch(/'info' command.*\[WL_REDIS_REFUSED\]/)
  expect(notTold.stderr).not.toContain('Skipping the ready check')
  for (const { code, stderr } of [worker, cleared]) {
    expect(code, stderr).toBe(2)
    expect(stderr).toMatch(/~pages:\*.*\[WL_REDIS_REFUSED\]/)
    expect(stderr).not.toMatch(/unexpected error|\n {4}at |<spider>/)
  }
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(/the user and password that REDIS_URL gives/)
  expect(refused.stderr).not.toMatch(/Is it running/)
})

test('a right that is taken away in mid-crawl is named, with the line that gives all of them', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 60, latencyMs: 20 })
  await servers.seeds.command('RPUSH', 'pages:later:start_urls', ...web.seeds)
  const lines: string[] = []
  const crawling = crawl(SeededPages, {
    settings: settings({ CRAWL_ID: 'later', CONCURRENT_REQUESTS_PER_DOMAIN: 16 }),
    logger: keepingLogger(lines),
  })
  await web.waitForHits(10, 20_000)
  await servers.queue.command('ACL', 'SETUSER', 'loom', '-hset')
  expect((await crawling).finishReason).toBe('internal_error')
  const [told, ...more] = lines.filter((line) => line.includes('the crawl cannot go on'))
  expect(more).toEqual([])
  expect(told).toMatch(
    /EVAL(?:SHA)? at redis:.*no right to that command.*ACL SETUSER <user>.*~webloom:.*\+hset/,
  )
  expect(told).not.toContain('loom:pw')
  await servers.queue.command('ACL', 'SETUSER', 'loom', '+hset')
})

test('a user who is gone in mid-crawl is told once, in words, where items go to that Redis, too; and no line has the password', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 60, latencyMs: 20 })
  await using redis = await startRedis()
  await redis.command('ACL', 'SETUSER', 'leaver', 'on', '>s3cr3t-pw', '~*', '&*', '+@all')
  await redis.command('RPUSH', 'pages:start_urls', ...web.seeds)
  const { logger, lines } = listeningLogger()
  const crawling = crawl(SeededPages, {
    settings: {
      REDIS_URL: redis.url.replace('://', '://leaver:s3cr3t-pw@'),
      PRIVATE_ADDRESSES_ALLOWED: ['*'],
      ITEM_PIPELINES: [['redis', 300]],
    },
    logger,
  }).then(
    ({ finishReason }) => finishReason,
    (error: Error) => error.message,
  )
  await web.waitForHits(10, 20_000)
  await redis.command('ACL', 'DELUSER', 'leaver')
  const end = await crawling
  expect(end).toBe('internal_error')
  const shown = lines.map(
    ({ level, message, fields }) => `${level} ${message} ${inspect(fields, { depth: 8 })}`,
  )
  expect(shown.filter((line) => line.startsWith('error'))).toEqual([
    expect.stringMatching(
      /^error the crawl.*does not let this process in any more: it does not know the user and password that REDIS_URL gives/s,
    ),
  ])
  expect(shown.join('\n')).not.toContain('s3cr3t-pw')
})

// What nobody misses where it is refused: CONFIG GET save (are there snapshots?), and how a client introduces itself.
const MAY_BE_REFUSED = ['config|get', 'client|setinfo']

/** As the servers themselves have it. */
async function expectNothingRefused(): Promise<void> {
  for (const role of ROLES) {
    const refused = ((await servers[role].command('ACL', 'LOG')) as string[][]).map(
      (entry) => entry[entry.indexOf('object') + 1]!,
    )
    expect(
      refused.filter((object) => !MAY_BE_REFUSED.includes(object)),
      role,
    ).toEqual([])
  }
}

test('the rights of each role name every command of its scripts', () => {
  const named = (role: (typeof ROLES)[number], pattern: string, without = /^$/) => {
    const commands = globSync(join(ROOT, pattern))
      .filter((path) => !without.test(path))
      .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/call\('(\w+)'(?:, '([A-Z]+)')?/g)])
      .map(([, name = '', sub]) => (name === 'PUBSUB' ? `${name}|${sub}` : name).toLowerCase())
    expect(commands.length).toBeGreaterThan(0)
    expect(
      commands.filter((command) => !aclLine([role]).split(' ').includes(`+${command}`)),
      role,
    ).toEqual([])
  }
  named('queue', 'packages/queue/lua/**/*.lua', /\/seeds\//)
  named('seeds', 'packages/queue/lua/seeds/*.lua')
  named('dupefilter', 'packages/dupefilter/lua/**/*.lua')
  named('items', 'packages/spider/lua/*.lua')
})

test('docs/deploy.md has the lines to paste', () => {
  const page = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')
  for (const role of ROLES) expect(page).toContain(aclLine([role]))
})
