import { expect, test } from 'vitest'
import { type HungryWord, hungryIn, hungryText } from './hungry-word.ts'

const shards = new Map([
  [0, true],
  [10, false],
  [1, false],
])

test.each<HungryWord>([
  { worker: 'vm:1:a', wants: 64, isBelowShare: false },
  { worker: 'vm:1:a', wants: 1, isBelowShare: true },
  { worker: 'vm:1:a', wants: 64, isBelowShare: true, shards },
])('%j is heard as it was said', (word) => {
  expect(hungryIn(hungryText(word))).toEqual(word)
})

test('a release before hears of all shards, and gets its share and a request though it says nothing of that', () => {
  expect(hungryText({ worker: 'vm:1:a', wants: 64, isBelowShare: true, shards }).split('\n')).toEqual(
    expect.arrayContaining(['0', '10', '1']),
  )
  expect(hungryIn('vm:1:a')).toEqual({ worker: 'vm:1:a', wants: 1, isBelowShare: true })
  expect(hungryIn('vm:1:a enough')).toEqual({ worker: 'vm:1:a', wants: 1, isBelowShare: false })
  expect([...hungryIn('vm:1:a\n0\n10').shards!]).toEqual([
    [0, true],
    [10, true],
  ])
})
