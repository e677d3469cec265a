import { SLOW_FROM_MS } from '@webloom/core'
import { expect, test } from 'vitest'
import { HostWatch } from './host-watch.ts'

function watchedAt(startMs: number, bytesMax?: number) {
  const clock = { ms: startMs }
  const watch = new HostWatch(() => clock.ms, bytesMax)
  return {
    clock,
    watch,
    answered: (host: string, latencyMs = 10, hasRecovered = false) =>
      watch.answered(host, latencyMs, hasRecovered),
    failed: (host: string, failures: number, isGivenUp = false) =>
      watch.failed(host, { failure: '503', failures, latencyMs: undefined, isGivenUp }),
    paused: (host: string, ms: number, reason: string) => watch.paused(host, { ms, reason }),
  }
}

const NONE = { failing: [], slowest: [], paused: [], givenUp: [], recovered: [] }

test('a slow host is listed with its mean time until it answers soon again, or is asked no more', () => {
  const { clock, watch, answered } = watchedAt(1000)
  answered('quick', SLOW_FROM_MS - 1)
  answered('slow', 1000)
  clock.ms = 2000
  answered('slow', 3000)
  expect(watch.lists()).toEqual({ ...NONE, slowest: [{ host: 'slow', latencyMs: 1250, seenAtMs: 2000 }] })
  for (let n = 0; n < 20; n++) answered('slow', 10)
  expect(watch.lists()).toEqual(NONE)
  answered('slow', 1000)
  clock.ms += 700_000
  expect(watch.lists()).toEqual(NONE)
})

test('a pause is listed until it ends, and a shorter one does not cut it', () => {
  const { clock, watch, failed, paused } = watchedAt(1000)
  failed('x', 1)
  paused('x', 5000, 'it asked')
  failed('x', 2)
  paused('x', 10, 'it failed')
  expect(watch.lists()).toEqual({
    ...NONE,
    paused: [{ host: 'x', untilMs: 6000, reason: 'it asked' }],
    failing: [{ host: 'x', failures: 2, reason: '503', seenAtMs: 1000 }],
  })
  clock.ms = 6000
  expect(watch.lists().paused).toEqual([])
})

test('a host stays given up since it was given up first, until it answers', () => {
  const { clock, watch, failed, answered } = watchedAt(1000)
  failed('x', 12, true)
  clock.ms = 2000
  failed('x', 13, true)
  expect(watch.lists()).toEqual({
    ...NONE,
    givenUp: [{ host: 'x', reason: '503', sinceMs: 1000, seenAtMs: 2000 }],
  })
  answered('x')
  expect(watch.lists()).toEqual({ ...NONE, recovered: [{ host: 'x', seenAtMs: 2000 }] })
  failed('x', 1)
  expect(watch.lists()).toMatchObject({ failing: [{ failures: 1 }], givenUp: [], recovered: [] })
})

test('a host that failed at another worker and answers here is listed as recovered, one that never failed is not', () => {
  const { watch, answered } = watchedAt(1000)
  answered('x', 10, true)
  answered('y')
  expect(watch.lists()).toEqual({ ...NONE, recovered: [{ host: 'x', seenAtMs: 1000 }] })
})

test('past its bytes the host goes of which nothing was seen for the longest time', () => {
  const { watch, failed } = watchedAt(1000, 10_000)
  for (let n = 0; n < 1000; n++) {
    failed('first', n)
    failed(`h${n}`, 1)
  }
  const hosts = watch.lists().failing.map(({ host }) => host)
  expect(hosts.length).toBeLessThan(40)
  expect(hosts.slice(-2)).toEqual(['first', 'h999'])
})
