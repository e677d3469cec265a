import { expect, test, vi } from 'vitest'
import { crawl, EXPECTED } from '../../testing/monitored-run.ts'

test('a worker that is told to leave does not wait for a monitor of the spider’s own; another judges the run', async () => {
  const asked = Promise.withResolvers<void>()
  const hangs = () => {
    asked.resolve()
    return new Promise<never>(() => {})
  }
  const { log, got, worker } = crawl({ monitors: { ...EXPECTED, custom: hangs }, timeoutMs: 600_000 })
  log.end()
  const leaving = new AbortController()
  const ended = worker('leaves').ended(leaving.signal)
  await asked.promise
  leaving.abort()
  expect(await ended).toEqual([])
  expect(got).toEqual([])
  expect(await worker('next', { monitors: EXPECTED }).ended()).toHaveLength(2)
})

test('a monitor of the spider’s own that never answers is an alert, and the others are told before it', async () => {
  const custom = () => new Promise<never>(() => {})
  const options = { monitors: { ...EXPECTED, custom }, timeoutMs: 600_000 }
  const { log, got, worker } = crawl({ ...options, customQuickMs: 20, customMs: 200 })
  log.end()
  const found = await worker('a').ended()
  expect(got.map(({ alerts }) => alerts.map(({ id }) => id))).toEqual([
    ['items/min', 'coverage/price'],
    ['custom'],
  ])
  expect(got[1]!.alerts[0]!.words).toBe('the monitor custom has not answered for 0.2 s')
  expect(found).toHaveLength(3)
  expect(log.notes.judgedEnd?.alerts).toEqual(['items/min', 'coverage/price', 'custom'])
})

test('a worker that dies while a monitor of the spider’s own takes its time: the next asks that again, and tells nothing twice', async () => {
  const monitors = { ...EXPECTED, custom: () => new Promise<never>(() => {}) }
  const { log, got, worker } = crawl({ monitors, timeoutMs: 600_000, customQuickMs: 20 })
  log.end()
  const leaving = new AbortController()
  const ended = worker('leaves').ended(leaving.signal)
  await vi.waitUntil(() => got.length > 0)
  leaving.abort()
  expect(await ended).toHaveLength(2)
  expect(await worker('next', { monitors: { ...EXPECTED, custom: () => 'too few' } }).ended()).toHaveLength(3)
  expect(got.map(({ alerts }) => alerts.map(({ id }) => id))).toEqual([
    ['items/min', 'coverage/price'],
    ['custom'],
  ])
})

test('what a monitor of the spider’s own returns that is no text is named, and not shown as [object Object]', async () => {
  const { log, worker } = crawl({ monitors: { custom: () => [{ price: 1 }, null, 'few'] as never } })
  log.end()
  expect((await worker('a').ended()).map(({ words }) => words)).toEqual([
    'the monitor custom returned an object, where a text, a list of texts, true, false or nothing is expected',
    'the monitor custom returned null, where a text, a list of texts, true, false or nothing is expected',
    'few',
  ])
})

test('a monitor of the spider’s own that returns a condition has found something when that is true', async () => {
  const found = async (fewest: number) => {
    const { log, worker } = crawl({ monitors: { custom: ({ items }) => items < fewest } })
    log.end()
    return (await worker('a').ended()).map(({ id, words }) => [id, words])
  }
  expect(await found(100)).toEqual([['custom', 'the monitor custom says that something is wrong']])
  expect(await found(0)).toEqual([])
})
