import { expect, test } from 'vitest'
import { unansweredHosts } from './unanswered-hosts.ts'

const NOW = 100_000
const sent = (url: string, agoMs?: number) => ({
  request: { url },
  sentAtMs: agoMs === undefined ? undefined : NOW - agoMs,
})

test('hosts of which an answer has been waited for for ten seconds, with how many and since when', () => {
  const downloads = [
    sent('http://me:secret@slow.test:81/1', 12_000),
    sent('http://slow.test:81/2', 10_000),
    sent('http://slow.test:81/3', 9_999),
    sent('http://soon.test/', 9_999),
    sent('http://unsent.test/'),
  ]
  const sinceMs = Math.round(performance.timeOrigin + NOW - 12_000)
  expect(unansweredHosts(downloads, NOW)).toEqual([{ host: 'slow.test:81', requests: 2, sinceMs }])
})
