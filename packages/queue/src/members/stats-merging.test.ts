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

test('a field of items is counted whatever its name', () => {
  const names = ['price_max', 'price_min', 'max', 'min', 'size/max', 'title']
  const counts = Object.fromEntries(names.map((name) => [`item_field_count/${name}`, 3]))
  const merged = Object.values(mergedStats([counts, counts]))
  expect(merged).toEqual(names.map(() => 6))
  const pages = (page: string) => ({ 'monitors/pages/price_min': JSON.stringify([page]) })
  expect(mergedStats([pages('a'), pages('b')])).toEqual(pages('b'))
})
