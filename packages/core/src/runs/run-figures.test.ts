import { expect, test } from 'vitest'
import { totalsOf } from '../desk/crawl-status.ts'
import { runFigures } from './run-figures.ts'

test('lines of the log that tell of alerts are no errors of the crawl: in its totals as in the record of its run', () => {
  const stats = {
    'log_count/ERROR': 5,
    'monitors/log_count/ERROR': 2,
    'log_count/WARNING': 4,
    'monitors/log_count/WARNING': 1,
  }
  expect(totalsOf(stats).errors).toBe(3)
  expect(totalsOf({ 'log_count/ERROR': 5 }).errors).toBe(5)
  expect(runFigures(stats)).toMatchObject({ errors: 3, warnings: 3 })
})
