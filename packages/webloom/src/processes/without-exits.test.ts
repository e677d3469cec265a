import { expect, test } from 'vitest'
import { withoutExits } from './without-exits.ts'

test('process.exit() of an author’s code is an error of that code, and comes back afterwards', async () => {
  const { exit } = process
  await expect(withoutExits(async () => process.exit(3))).rejects.toThrow(/^process\.exit\(3\) was called/)
  expect(await withoutExits(async () => 'served')).toBe('served')
  expect(process.exit).toBe(exit)
})
