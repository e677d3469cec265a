import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { unansweredHosts } from './unanswered-hosts.ts'

const NOW = 100_000
const sent = (url: string, agoMs?: number, isHeld = true) => ({
  request: { url },
  sentAtMs: agoMs === undefined ? undefined : NOW - agoMs,
  isHeld,
})

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 0, 2) }))
afterEach(() => vi.useRealTimers())

test('hosts of which an answer has been waited for for ten seconds, with how many and since when', () => {
  const downloads = [
    sent('http://me:secret@slow.test:81/1', 12_300),
    sent('http://slow.test:81/2', 10_000),
    sent('http://slow.test:81/3', 9_999),
    sent('http://soon.test/', 9_999),
    sent('http://unsent.test/'),
    sent('http://waits-for-a-browser.test/', 60_000, false),
  ]
  const sinceMs = Date.UTC(2026, 0, 2) - 12_000
  expect(unansweredHosts(downloads, NOW)).toEqual([{ host: 'slow.test:81', requests: 2, sinceMs }])
})
