import { HOST_ERRORS_MAX } from '@webloom/core'
import { expect, test } from 'vitest'
import { HostAnswers } from './host-answers.ts'

test('answers are counted by kind, the last errors are kept, and neither kinds, errors nor hosts grow without end', () => {
  let nowMs = 1000
  const answers = new HostAnswers(() => nowMs++, 20_000)
  const shop = 'shop.example:8080'
  for (let n = 0; n < 3; n++) answers.came(shop, '200')
  answers.came(shop, '503', '503 Service Unavailable')
  expect(answers.list()).toEqual([
    {
      host: 'shop.example:8080',
      counts: { 200: 3, 503: 1 },
      errors: [{ reason: '503 Service Unavailable', atMs: 1004 }],
      sinceMs: 1000,
      seenAtMs: 1004,
    },
  ])
  for (let status = 600; status < 700; status++)
    answers.came(shop, String(status), `${status} ${'x'.repeat(1000)}`)
  const [seen] = answers.list()
  expect(seen!.counts).toMatchObject({ 200: 3, 503: 1, other: 90 })
  expect(seen!.errors.map(({ reason }) => reason.slice(0, 3))).toEqual(['699', '698', '697'])
  expect(seen!.errors).toHaveLength(HOST_ERRORS_MAX)
  for (let n = 0; n < 1000; n++) answers.came(`h${n}.example`, '200')
  expect(answers.list().length).toBeLessThan(40)
})
