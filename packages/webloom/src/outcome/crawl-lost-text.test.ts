import { expect, test } from 'vitest'
import { exitCodeOf } from '../exit-codes.ts'
import { lostBefore, lostTarget, shardLost } from './crawl-lost-text.ts'

const lost = {
  crawl: 'pages -s CRAWL_ID=a',
  worker: 'pages -s CRAWL_ID=a -s DOWNLOAD_DELAY=2',
  redis: 'redis://h:6379/0',
}

test('a command that brings a lost crawl something says what the next worker would do, as SCHEDULER_PERSIST has it', () => {
  expect(lostTarget(lost, true).message).toMatch(/leave out .* no worker begins/)
  expect(lostTarget(lost, false).message).toMatch(/begins from the start, and would empty the dupefilter/)
})

test.each([
  ['a worker', shardLost(lost)],
  ['a command', lostTarget(lost, true)],
])('%s says before the line that deletes what is left that data may be given back', (_who, { message }) => {
  expect(message).toMatch(/given its data back.*webloom clear pages -s CRAWL_ID=a, then/)
})

test.each([
  ['a worker', lostBefore(lost)],
  ['a worker, of a shard,', shardLost(lost)],
  ['a command', lostTarget(lost, true)],
])(
  '%s says that the crawl is lost, and not that a setting is wrong; running again cures nothing',
  (_who, error) => {
    expect(error).toMatchObject({
      code: 'WL_CRAWL_LOST',
      message: expect.not.stringContaining('setting is wrong'),
    })
    expect(exitCodeOf(error)).toBe(2)
  },
)

test('the worker that crawls again has what this one had', () => {
  expect(lostBefore(lost).message).toContain(
    'run webloom clear pages -s CRAWL_ID=a, then webloom worker pages -s CRAWL_ID=a -s DOWNLOAD_DELAY=2. To prevent',
  )
})
