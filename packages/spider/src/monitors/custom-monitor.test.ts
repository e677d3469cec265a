import { expect, test } from 'vitest'
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
