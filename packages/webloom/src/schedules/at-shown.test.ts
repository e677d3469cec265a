import { expect, test } from 'vitest'
import { atShown } from './at-shown.ts'

test.each([
  [-400, 'now'],
  [400, 'now'],
  [-3000, '3 s ago'],
  [90_000, 'in 1 min 30 s'],
])('a moment %i ms from now is told as “%s”', (ms, words) => {
  expect(atShown(new Date(ms), 'UTC', 0)).toContain(`(${words})`)
})
