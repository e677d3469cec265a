import { expect, test } from 'vitest'
import { silentCrawl } from './silent-replies.ts'

/** What a crawl sends again and again, and its end. */
const KINDS = [
  'queue: INFO server',
  'queue: buckets/exchange',
  'queue: buckets/begin',
  'queue: buckets/renew',
  'queue: bullmq moveToActive',
  'queue: members/beat',
  'queue: crawl/finish',
  'filter: redis/ask',
]

test('whichever command is not answered, on a connection that stays open: every page is fetched, and the crawl ends', async () => {
  const { finishReason, fetched, pages, unanswered } = await silentCrawl(
    'turns',
    1,
    new RegExp(`^(?:${KINDS.join('|')})$`),
  )
  expect(finishReason).toBe('finished')
  expect(new Set(fetched)).toEqual(pages)
  expect([...unanswered].sort()).toEqual([...KINDS].sort())
})
