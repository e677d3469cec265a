import { expect, test } from 'vitest'
import { type HungryWord, hungryIn, hungryText } from './hungry-word.ts'

const shards = new Map([
  [0, true],
  [10, false],
  [1, false],
])

test.each<HungryWord>([
  { worker: 'vm:1:a', isBelowShare: false },
  { worker: 'vm:1:a', isBelowShare: true },
  { worker: 'vm:1:a', isBelowShare: true, shards },
])('%j is heard as it was said', (word) => {
  expect(hungryIn(hungryText(word))).toEqual(word)
})

test('a release before hears of all shards, and gets its share though it says nothing of it', () => {
  expect(hungryText({ worker: 'vm:1:a', isBelowShare: true, shards }).split('\n')).toEqual(
    expect.arrayContaining(['vm:1:a', '0', '10', '1']),
  )
  expect(hungryIn('vm:1:a')).toEqual({ worker: 'vm:1:a', isBelowShare: true })
  expect([...hungryIn('vm:1:a\n0\n10').shards!]).toEqual([
    [0, true],
    [10, true],
  ])
})
