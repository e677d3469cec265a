import { expect, test } from 'vitest'
import { AnswerTimes } from './answer-times.ts'

test('a source is waited for as long as any, until it has answered', () => {
  expect(new AnswerTimes(1000).patienceMs).toBe(1000)
})

test.each([
  ['soon', [20, 22, 20, 19, 21, 20, 20, 23], 100, 100],
  ['within some hundred milliseconds', [150, 180, 140, 200, 160, 170, 150, 160], 200, 400],
  ['now soon, now late', [10, 300, 10, 10, 300, 10, 300, 10], 500, 1000],
  ['late', [500, 520, 700, 480, 510, 900, 500, 600], 800, 1000],
])('of one that answers %s', (_, answers, least, most) => {
  const times = new AnswerTimes(1000)
  for (let n = 0; n < 5; n++) for (const ms of answers) times.note(ms)
  expect(times.patienceMs).toBeGreaterThanOrEqual(least)
  expect(times.patienceMs).toBeLessThanOrEqual(most)
})
