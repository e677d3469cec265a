import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { type HostSighting, HostWatch } from './host-watch.ts'

const GOOD: HostSighting = { failures: 0, isGivenUp: false }

function watchedAt(startMs: number) {
  const clock = { ms: startMs }
  const watch = new HostWatch(() => clock.ms)
  const saw = (host: string, sighting: HostSighting) => watch.saw(new Request(`http://${host}/`), sighting)
  return { clock, watch, saw }
}

test('a host that answers is listed with its mean time, the slowest first', () => {
  const { watch, saw } = watchedAt(0)
  saw('quick', { ...GOOD, latencyMs: 100 })
  saw('slow', { ...GOOD, latencyMs: 1000 })
  saw('slow', { ...GOOD, latencyMs: 3000 })
  expect(watch.lists()).toEqual({
    failing: [],
    slowest: [
      { host: 'slow', latencyMs: 2000 },
      { host: 'quick', latencyMs: 100 },
    ],
    paused: [],
    givenUp: [],
  })
})

test('a pause is listed until it ends, and a shorter one does not cut it', () => {
  const { clock, watch, saw } = watchedAt(1000)
  const failed = { failure: '503', failures: 1, isGivenUp: false }
  saw('x', { ...failed, pause: { ms: 5000, why: 'it asked' } })
  saw('x', { ...failed, failures: 2, pause: { ms: 10, why: 'it failed' } })
  expect(watch.lists().paused).toEqual([{ host: 'x', untilMs: 6000, why: 'it asked' }])
  expect(watch.lists().failing).toEqual([{ host: 'x', failures: 2, lastError: '503' }])
  clock.ms = 6000
  expect(watch.lists().paused).toEqual([])
})

test('a host stays given up since it was given up first, until it answers', () => {
  const { clock, watch, saw } = watchedAt(1000)
  saw('x', { failure: 'timeout', failures: 12, isGivenUp: true })
  clock.ms = 2000
  saw('x', { failure: 'refused', failures: 13, isGivenUp: true })
  expect(watch.lists().givenUp).toEqual([{ host: 'x', why: 'refused', sinceMs: 1000 }])
  saw('x', { ...GOOD, latencyMs: 100 })
  expect(watch.lists()).toMatchObject({ failing: [], givenUp: [] })
})

test('a password in a URL is not listed', () => {
  const { watch } = watchedAt(0)
  watch.saw(new Request('http://me:secret@x:81/'), { ...GOOD, latencyMs: 1 })
  expect(watch.lists().slowest).toEqual([{ host: 'x:81', latencyMs: 1 }])
})
