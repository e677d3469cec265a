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
  { worker: 'vm:1:a', isBelowShare: false, shards },
])('%j is heard as it was said', (word) => {
  expect(hungryIn(hungryText(word))).toEqual(word)
})

test('a release before hears of the shards, and one before that says nothing of shares', () => {
  expect(hungryText({ worker: 'vm:1:a', isBelowShare: false, shards }).split('\n')).toEqual(
    expect.arrayContaining(['vm:1:a', '0', '10', '1']),
  )
  expect(hungryIn('vm:1:a\n0\n10').shards).toEqual(
    new Map([
      [0, false],
      [10, false],
    ]),
  )
})
