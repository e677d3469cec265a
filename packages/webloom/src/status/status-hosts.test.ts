import type { SlotView } from '@webloom/core'
import { readableHostLists } from '@webloom/core'
import { expect, test } from 'vitest'
import { type HostsSeen, hostLines, hostListLines } from './status-hosts.ts'

const NOW = 1_000_000

function seen(lists: Parameters<typeof readableHostLists>[0], more: Partial<HostsSeen> = {}): HostsSeen {
  return {
    mode: 'turns',
    counts: { waiting: 0, delayed: 0, leased: 0, quarantined: 0 },
    hosts: [],
    hostLists: readableHostLists(lists),
    host: null,
    workers: [],
    readAt: new Date(NOW).toISOString(),
    ...more,
  }
}

const slot = (name: string, waiting: number): SlotView => ({
  slot: name,
  waiting,
  delayed: 0,
  leased: 0,
  nextInMs: 0,
  delayMs: 0,
  failures: 0,
  pausedMs: 0,
  state: 'ready',
  lanes: 0,
  holders: [],
})

test('of a long list the first ten are printed, and how many there are', () => {
  const failing = Array.from({ length: 200 }, (_, n) => ({
    host: `h${n}`,
    failures: 200 - n,
    reason: '500',
    seenAtMs: NOW - 60_000,
  }))
  const lines = hostListLines(seen({ failing }))
  expect(lines).toHaveLength(11)
  expect(lines[0]).toBe('  failing   200 hosts or more, most failures in a row first; the first 10')
  expect(lines[1]).toBe('    h0   200 failures in a row · 500 · 1 min ago')
  expect(hostListLines(seen({ failing: failing.slice(0, 12) }))[0]).toMatch(/^ {2}failing {3}12 hosts, /)
})

test('nothing is printed of empty lists, pauses that are over, and hosts that have recovered', () => {
  expect(
    hostListLines(
      seen({
        paused: [{ host: 'x', untilMs: NOW, reason: '429' }],
        recovered: [{ host: 'y', seenAtMs: NOW }],
      }),
    ),
  ).toEqual([])
})

test('paused and queued hosts that Redis has told of are not printed again, longer lines that it has not are', () => {
  const lists = {
    paused: [
      { host: 'shown:8080', untilMs: NOW + 5000, reason: '429' },
      { host: 'other', untilMs: NOW + 2500, reason: '503' },
    ],
    mostQueued: [
      { slot: 'shown', waiting: 900 },
      { slot: 'longer', waiting: 700 },
      { slot: 'shorter', waiting: 3 },
    ],
  }
  expect(hostListLines(seen(lists, { hosts: [slot('shown', 900), slot('last', 50)] }))).toEqual([
    '  paused    1 host, the longest pause first',
    '    other   for 2.5 s more · 503',
    '  queued    1 host, the longest lines first, as far as the workers know',
    '    longer   waiting 700',
  ])
  expect(hostListLines(seen(lists, { mode: 'job' }))).toHaveLength(7)
})

test('hosts whose answers do not come are told with how long that is so', () => {
  const unanswered = [{ host: 'z:81', requests: 2, sinceMs: NOW - 61_000 }]
  expect(hostListLines(seen({ unanswered }))).toEqual([
    '  no answer 1 host asked 10 s ago or longer',
    '    z:81   2 requests · sent 1 min 1 s ago',
  ])
})

test('--host prints what stands out of that one, with any port', () => {
  const givenUp = ['x:81', 'x', 'y'].map((host) => ({
    host,
    reason: 'DownloadTimeoutError',
    sinceMs: NOW - 5000,
    seenAtMs: NOW,
  }))
  expect(hostListLines(seen({ givenUp }, { host: 'x', hosts: [slot('x', 1)] }))).toEqual([
    '  given up  2 hosts, whose requests are dropped (HOST_FAILURES_MAX)',
    '    x:81   since 5 s · DownloadTimeoutError',
    '    x   since 5 s · DownloadTimeoutError',
  ])
  expect(hostListLines(seen({ givenUp }, { host: 'z', hosts: [slot('z', 1)] }))).toEqual([])
})

test('of a host of which something is held for later it is not said that nothing waits', () => {
  const asked = (more: Partial<SlotView>) =>
    hostLines(seen({}, { host: 'a', hosts: [{ ...slot('a', 0), state: 'none', ...more }] }))[0]
  expect(asked({})).toBe('  host      nothing waits · its bucket is with no worker')
  expect(asked({ delayed: 1 })).toBe(
    '  host      nothing waits but what is held for later · its bucket is with no worker',
  )
})

test('of a host that is asked for it is told that a worker has requests to fetch alone', () => {
  const hosts = [{ ...slot('a.test', 3), state: 'held' as const, holders: ['w:1'] }]
  const worker = (id: string, suspects: number, lost = false) => ({ id, suspects, lost })
  const linesWith = (...workers: HostsSeen['workers']) =>
    hostLines(seen({}, { host: 'a.test', hosts, workers }))
  expect(linesWith(worker('w:1', 2), worker('w:2', 9)).slice(2)).toEqual([
    expect.stringMatching(/^ {4}w:1 has 2 requests to fetch alone/),
  ])
  expect(linesWith(worker('w:1', 0), worker('w:2', 9))).toHaveLength(2)
  expect(linesWith(worker('w:1', 2, true))).toHaveLength(2)
})
