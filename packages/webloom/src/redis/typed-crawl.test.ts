import { Settings, type SettingsLayers } from '@webloom/core'
import { expect, test } from 'vitest'
import { noteArguments } from '../loading/typed-spider.ts'
import { typedCrawl, typedWorker } from './typed-crawl.ts'

const spider = { name: 'web' }
const settings = (command: Record<string, unknown>, others: SettingsLayers = {}) =>
  Settings.fromLayers({ ...others, command })

test.each([
  ['REDIS_KEY_PREFIX', 't:'],
  ['REDIS_URL', 'redis://127.0.0.1:6379/2'],
  ['QUEUE_PREFIX', 'bull'],
  ['QUEUE_REDIS_URL', 'redis://127.0.0.1:6379/2'],
  ['FILTER_URL', 'redis://127.0.0.1:6379/2'],
  ['REDIS_DB', '2'],
  ['STATS_KEY', 'mine:stats'],
])('a line is about the crawl that is where -s %s says', (name, value) => {
  expect(typedCrawl(spider, settings({ [name]: value }))).toBe(`web -s ${name}=${value}`)
  expect(typedWorker(spider, settings({ [name]: value }))).toBe(`web -s ${name}=${value}`)
})

test('a command is typed with what says where the crawl is, a worker with all that was set', () => {
  const all = settings({
    CRAWL_ID: 'a',
    DOWNLOAD_DELAY: '0.5',
    SCHEDULER_PERSIST: 'true',
    QUEUE_PREFIX: 'a b',
  })
  noteArguments(spider, { tag: "it's", token: 'geheim' })
  expect(typedCrawl(spider, all)).toBe("web -s CRAWL_ID=a -s 'QUEUE_PREFIX=a b'")
  expect(typedWorker(spider, all)).toBe(
    "web -s CRAWL_ID=a -a 'tag=it'\\''s' -a 'token=***' -s DOWNLOAD_DELAY=0.5 -s 'QUEUE_PREFIX=a b' -s SCHEDULER_PERSIST=true",
  )
  noteArguments(spider, {})
})

test('what the config file or the spider says is said again by them', () => {
  expect(
    typedCrawl(spider, settings({}, { config: { REDIS_KEY_PREFIX: 't:' }, spider: { QUEUE_PREFIX: 'b' } })),
  ).toBe('web')
})

test('a place with a password is typed without it: the line asks nothing elsewhere', () => {
  const redis = 'redis://u:geheim@127.0.0.1:6379/2'
  expect(typedCrawl(spider, settings({ REDIS_URL: redis }))).toBe(
    "web -s 'REDIS_URL=redis://***@127.0.0.1:6379/2'",
  )
  // Where the variable is exported, the shell knows it.
  expect(
    typedCrawl(
      spider,
      settings({}, { config: { REDIS_URL: 'redis://h' }, environment: { REDIS_URL: redis } }),
    ),
  ).toBe('web -s "REDIS_URL=$REDIS_URL"')
})

test('a variable may be of one command: without its prefix, or its Redis beside that of the config file, the line would be about another crawl', () => {
  const url = 'redis://127.0.0.1:6379/2'
  const environment = { REDIS_URL: url, REDIS_KEY_PREFIX: 't:' }
  expect(typedCrawl(spider, settings({}, { environment }))).toBe('web -s REDIS_KEY_PREFIX=t:')
  expect(typedCrawl(spider, settings({}, { environment, config: { REDIS_URL: 'redis://h' } }))).toBe(
    `web -s REDIS_KEY_PREFIX=t: -s REDIS_URL=${url}`,
  )
})
