import { expect, test } from 'vitest'
import { mergedStats } from './stats-merging.ts'

test('counts are added, of largest and earliest ones each is kept, and one reason stands', () => {
  const one = {
    item_scraped_count: 3,
    'memusage/max': 100,
    start_time: '2026-01-02',
    finish_reason: 'finished',
  }
  const other = { item_scraped_count: 4, 'memusage/max': 90, start_time: '2026-01-01', 'retry/count': 1 }
  expect(mergedStats([one, other])).toEqual({
    item_scraped_count: 7,
    'memusage/max': 100,
    start_time: '2026-01-01',
    finish_reason: 'finished',
    'retry/count': 1,
  })
  expect(mergedStats([])).toEqual({})
})
