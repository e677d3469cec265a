import { expect, test } from 'vitest'
import { lostTarget, shardLost } from './crawl-lost-text.ts'

const lost = { crawl: 'pages -s CRAWL_ID=a', redis: 'redis://h:6379/0' }

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
