import { expect, test } from 'vitest'
import { exitCodeOfReason } from './exit-codes.ts'

test.each([
  ['finished', 0],
  ['shutdown', 0],
  ['cleared', 0],
  ['crawl_lost', 1],
  ['other_settings', 1],
])('a crawl that ends with %s ends with exit code %s', (reason, code) => {
  expect(exitCodeOfReason(reason)).toBe(code)
})
