/** Pages that come back (RECRAWL), and pipelines that do not take all their items. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DropItem, type SettingsInput } from 'webloom'
import { Days, type Item } from './recrawl-days.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

test('issue 22: items that a pipeline failed to write are written when their pages are visited again', async () => {
  await using days = await Days.of({ pages: 4 })
  let isAway = false
  const lost = new Set<string>()
  class Database {
    processItem(item: unknown) {
      const { path } = item as Item
      if (isAway && lost.has(path)) throw new Error('the database is away')
      if (path === '/p/3') throw new DropItem('nobody wants it')
      return item
    }
  }
  const settings: SettingsInput = { ITEM_PIPELINES: [[Database, 1]] }
  const written = () => days.items.map(({ path }) => path).sort()

  // At their first visit, and the page's next one is two hours later.
  isAway = true
  lost.add('/p/0')
  const first = await days.run(0, settings)
  expect(written()).toEqual(['/p/1', '/p/2'])
  expect(first.stats).toMatchObject({ item_error_count: 1, 'recrawl/failed_count': 1 })
  isAway = false
  await days.run(3, settings)
  expect(written()).toEqual(['/p/0'])

  // A change of a page that is known, though its host says by then that nothing has changed since.
  days.web.change('/p/1')
  isAway = true
  lost.add('/p/1')
  await days.run(24, settings)
  expect(written()).toEqual([])
  isAway = false
  await days.run(24, settings)
  expect(days.items).toMatchObject([{ path: '/p/1', price: '11 EUR', changed: true }])
  await days.run(24, settings)
  expect(written()).toEqual([])
})
