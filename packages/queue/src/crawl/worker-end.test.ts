import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench, stopped, until } from '../../testing/crawl-bench.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const never = new AbortController().signal

describe('the end of a worker', () => {
  test.each(['shutdown', 'memusage_exceeded', 'output_failed'])(
    '%s leaves the crawl to the others',
    async (reason) => {
      const keys = bench.nextKeys()
      const [a, b] = [bench.record(keys), bench.record(keys)]
      await a.open()
      await b.open()
      await a.ended(reason)
      expect(await a.leave()).toMatchObject({ last: false, owes: false })
      expect(await bench.stateOf(keys)).toBe('running')
      expect(await bench.entriesOf(keys)).toBe(1)
    },
  )

  test('a limit stops the crawl for all, with its reason', async () => {
    const keys = bench.nextKeys()
    const [a, b] = [bench.record(keys), bench.record(keys)]
    await a.open()
    await b.open()
    await a.ended('closespider_itemcount')
    await b.ended('shutdown')
    const { state, finishReason } = await bench.view(keys)
    expect({ state, finishReason }).toEqual({ state: 'stopped', finishReason: 'closespider_itemcount' })
  })

  test('a Redis that takes no writes just as a worker leaves is told a moment later', async () => {
    const keys = bench.nextKeys()
    const record = bench.record(keys)
    await record.open()
    await record.ended('shutdown')
    await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    await bench.server.command('CONFIG', 'RESETSTAT')
    const leaving = record.leave()
    const refused = async () =>
      String(await bench.server.command('INFO', 'errorstats')).includes('NOREPLICAS')
    await Promise.race([leaving, until(refused, 5000)])
    await bench.server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    expect(await leaving).toMatchObject({ last: true, owes: true })
  })

  test('of several that leave at once exactly one is the last', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = bench.nextKeys()
      const records = [1, 2, 3].map(() => bench.record(keys, { redis: bench.connect() }))
      for (const record of records) await record.open()
      const left = await Promise.all(records.map(stopped))
      expect(left.filter(({ last, owes }) => last && owes)).toHaveLength(1)
      expect(await bench.stateOf(keys)).toBe('stopped')
    }
  })

  test('without SCHEDULER_PERSIST nothing is left to be resumed: the next worker begins from the start', async () => {
    const keys = bench.nextKeys()
    const first = bench.record(keys)
    await first.open()
    await first.takeStart(never)
    await first.startMoved(0, 4)
    await first.ended('shutdown')
    expect(await first.leave()).toMatchObject({ last: true, owes: true })
    // It dies before it has emptied anything.
    const second = bench.record(keys)
    expect(await second.open()).toEqual({ begun: false, anew: true })
    expect(second.run.id).not.toBe(first.run.id)
    expect(await second.takeStart(never)).toBe(0)
    await second.close()
  })

  test('with SCHEDULER_PERSIST, and when it is to be replaced, the last worker keeps all as it is', async () => {
    for (const [reason, persists, state] of [
      ['shutdown', true, 'stopped'],
      ['memusage_exceeded', false, 'running'],
      ['output_failed', false, 'stopped'],
      ['not_opened', false, 'stopped'],
    ] as const) {
      const keys = bench.nextKeys()
      const first = bench.record(keys, { persists })
      await first.open()
      await first.takeStart(never)
      await first.startMoved(0, 4)
      await first.ended(reason)
      expect(await first.leave()).toMatchObject({ last: true, owes: false })
      expect(await bench.stateOf(keys)).toBe(state)
      const second = bench.record(keys)
      expect(await second.open()).toEqual({ begun: true })
      expect(await second.takeStart(never)).toBe(4)
      await second.close()
    }
  })

  test('who was killed does not keep the last one from knowing that it is the last', async () => {
    const keys = bench.nextKeys()
    const last = bench.record(keys)
    await bench.record(keys, { workerId: 'killed:1:1' }).open()
    await last.open()
    await bench.unheardFor(11_000, keys, 'killed:1:1')
    expect(await stopped(last)).toMatchObject({ last: true })
  })
})
