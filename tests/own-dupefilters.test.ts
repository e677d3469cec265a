/** Dupefilters of one's own, on Redis: the examples of docs/own-components.md in crawls of the real command line. */

import { startRedis } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type OwnProject, ownProject } from './own-project.ts'

let project: OwnProject
let origin: string

beforeEach(async () => {
  project = await ownProject()
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
  expect(await crawled(start(), settings), 'met stays met').toMatchObject({ code: 0, items: [] })
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
