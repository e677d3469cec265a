/** Dupefilters of one's own, on Redis: the examples of docs/own-components.md in crawls of the real command line. */

import { writeFileSync } from 'node:fs'
import { startRedis } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { type OwnProject, ownProject } from './own-project.ts'

let project: OwnProject
let commands: CommandLine
let origin: string

beforeAll(() => {
  commands = new CommandLine()
})
afterAll(() => commands[Symbol.asyncDispose]())

beforeEach(async () => {
  project = await ownProject(commands)
  origin = project.origin
})
afterEach(() => project[Symbol.asyncDispose]())

const crawled: OwnProject['crawled'] = (...given) => project.crawled(...given)

const start = () =>
  ['a?isbn=1', 'b?isbn=1', 'c?isbn=2'].map((path) => `yield new Request('${origin}/${path}')`).join('\n')

test('a dupefilter of one’s own has the connection of its role, which the crawl closes', async () => {
  await using redis = await startRedis()
  const settings = {
    DUPEFILTER_CLASS: './isbn-filter.ts#IsbnFilter',
    REDIS_URL: redis.url,
    SCHEDULER_PERSIST: true,
  }
  const { code, items, log } = await crawled(start(), settings)
  expect({ code, log }).toMatchObject({ code: 0 })
  expect(items).toHaveLength(2)
  expect(await redis.command('SMEMBERS', 'reader:books')).toEqual(['1', '2'])
  expect(await crawled(start(), settings), 'seen stays seen').toMatchObject({ code: 0, items: [] })
  await crawled(start(), { ...settings, SCHEDULER_PERSIST: false })
  expect(await redis.command('EXISTS', 'reader:books'), 'it was emptied with the crawl').toBe(0)
})

test('without a Redis the crawl does not begin, and says what to set', async () => {
  const { code, log } = await crawled(start(), { DUPEFILTER_CLASS: './isbn-filter.ts#IsbnFilter' })
  expect(code).toBe(2)
  expect(log).toContain('no Redis is named. Set REDIS_URL=redis://host:6379, or DUPEFILTER_REDIS_URL')
  expect(project.asked).toEqual([])
})

test('nor with several for one connection', async () => {
  const { code, log } = await crawled(start(), {
    DUPEFILTER_CLASS: './isbn-filter.ts#IsbnFilter',
    DUPEFILTER_REDIS_URL: 'redis://127.0.0.1:1,redis://127.0.0.1:2',
  })
  expect(code).toBe(2)
  expect(log).toContain('DUPEFILTER_REDIS_URL names 2 servers')
})

test('one that extends a built-in filter is made itself, and knows who asks as that does', async () => {
  await using redis = await startRedis()
  const settings = {
    DUPEFILTER_CLASS: './linked-filter.ts#LinkedFilter',
    REDIS_URL: redis.url,
    SCHEDULER_PERSIST: true,
  }
  const twice = ['a', 'b', 'a'].map((path) => `yield new Request('${origin}/${path}')`).join('\n')
  const { code, items, log } = await crawled(twice, settings)
  expect({ code, log }).toMatchObject({ code: 0 })
  expect(items).toHaveLength(2)
  expect(log).not.toContain('does not know who asks')
  expect(await redis.command('SCARD', 'reader:dupefilter')).toBe(2)
  expect(await redis.command('HGET', 'reader:dupefilter:links', `${origin}/b`)).toBe('1')
  await crawled(twice, { ...settings, SCHEDULER_PERSIST: false })
  expect(await redis.command('EXISTS', 'reader:dupefilter:links'), 'it was emptied with the filter').toBe(0)
})

test('one with a store of its own on Redis knows who asks, can forget, and may be on several servers', async () => {
  await using redis = await startRedis()
  await using other = await startRedis()
  const settings = {
    DUPEFILTER_CLASS: './first-met.ts#FirstMet',
    REDIS_URL: redis.url,
    SCHEDULER_PERSIST: true,
    DUPEFILTER_RELEASE_ON_FAILURE: true,
  }
  const twice = ['a', 'b', 'a'].map((path) => `yield new Request('${origin}/${path}')`).join('\n')
  const { code, items, log } = await crawled(twice, settings)
  expect({ code, log }).toMatchObject({ code: 0 })
  expect(items).toHaveLength(2)
  expect(log).not.toContain('does not know who asks')
  const met = (await redis.command('HVALS', 'reader:dupefilter')) as string[]
  expect(met).toHaveLength(2)
  for (const at of met) expect(Date.now() - Number(at)).toBeLessThan(60_000)
  expect(await crawled(twice, settings), 'seen stays seen').toMatchObject({ code: 0, items: [] })
  await crawled(twice, { ...settings, SCHEDULER_PERSIST: false })
  expect(await redis.command('EXISTS', 'reader:dupefilter'), 'it was emptied with the crawl').toBe(0)
  const many = Array.from({ length: 20 }, (_, n) => `yield new Request('${origin}/${n}')`).join('\n')
  const spread = { ...settings, DUPEFILTER_REDIS_URL: `${redis.url},${other.url}` }
  expect((await crawled(many, spread)).items).toHaveLength(20)
  const counts = [redis, other].map((server) => server.command('HLEN', 'reader:dupefilter'))
  const [here, there] = (await Promise.all(counts)) as number[]
  expect([here, there]).not.toContain(0)
  expect(here! + there!).toBe(20)
})

test('DUPEFILTER_TTL has an effect on a class that extends redis-key', async () => {
  await using redis = await startRedis()
  writeFileSync(
    project.folder.join('brief.ts'),
    "import { RedisKeyDupeFilter } from 'webloom/ports'\nexport class Brief extends RedisKeyDupeFilter {}\n",
  )
  const settings = { REDIS_URL: redis.url, DUPEFILTER_TTL: 60 }
  const brief = await crawled(start(), { ...settings, DUPEFILTER_CLASS: './brief.ts#Brief' })
  expect(brief.items).toHaveLength(3)
  expect(brief.log).not.toContain('DUPEFILTER_TTL has no effect')
  const { log } = await crawled(start(), settings)
  expect(log).toContain('DUPEFILTER_TTL has no effect: only redis-key keeps requests for a while')
})

test('workers are refused one that extends a filter in memory, as they are refused that filter', async () => {
  await using redis = await startRedis()
  writeFileSync(
    project.folder.join('mine.ts'),
    "import { MemoryDupeFilter } from 'webloom/ports'\nexport class Mine extends MemoryDupeFilter {}\n",
  )
  const settings = { DUPEFILTER_CLASS: './mine.ts#Mine', REDIS_URL: redis.url }
  const { code, file } = await crawled(start(), settings)
  expect(code, 'one process may have it').toBe(0)
  const asked = project.asked.length
  const given = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`])
  const worker = await commands.run(['worker', file, ...given], { cwd: project.folder.path })
  expect(worker.code).toBe(2)
  expect(worker.stderr).toContain('DUPEFILTER_CLASS is ./mine.ts#Mine, which workers cannot share')
  expect(project.asked).toHaveLength(asked)
})
