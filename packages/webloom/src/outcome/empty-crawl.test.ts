import { expect, test } from 'vitest'
import { lostText } from './empty-crawl.ts'

test('items that no output could write are told at the end, with an output or without', () => {
  expect(lostText({ item_scraped_count: 4 })).toBeUndefined()
  expect(lostText({ item_unwritable_count: 3, 'spider_output/refused_count': 1 })).toBe(
    'of what the spider yielded is lost: 3 items that no output could write, 1 request that could not be queued; the ERROR lines above say which and why',
  )
})
