import { WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { exitCodeOf, exitCodeOfReason } from './exit-codes.ts'

test.each([
  ['finished', 0],
  ['shutdown', 0],
  ['cleared', 0],
  ['crawl_lost', 1],
  ['other_settings', 1],
])('a crawl that ends with %s ends with exit code %s', (reason, code) => {
  expect(exitCodeOfReason(reason)).toBe(code)
})

test('what each next start would be refused for, too, ends with 2: nobody starts such a worker again', () => {
  expect(exitCodeOf(new WebloomError('WL_CRAWL_FORMAT', 'of another release'))).toBe(2)
  expect(exitCodeOf(new Error('a bug'))).toBe(1)
})
