import { expect, test } from 'vitest'
import { silentCrawl } from './silent-replies.ts'

test.concurrent.each([
  ['turns', 2],
  ['turns', 3],
  ['job', 1],
  ['job', 2],
] as const)(
  'QUEUE_MODE=%s, call %s of each kind of command is not answered: every page is fetched, and the crawl ends',
  async (mode, nth) => {
    const { finishReason, fetched, pages } = await silentCrawl(mode, nth)
    expect(finishReason).toBe('finished')
    expect(new Set(fetched)).toEqual(pages)
  },
  120_000,
)
