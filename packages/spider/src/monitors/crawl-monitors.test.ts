import {
  MemoryStatsCollector,
  type MonitorNotes,
  NO_NOTES,
  type RunLog,
  type RunSeen,
  silentLogger,
} from '@webloom/core'
import { expect, test, vi } from 'vitest'
import { type Notice, NoticeRefused } from '../notices/notice.ts'
import { CrawlMonitors, type CrawlMonitorsOptions } from './crawl-monitors.ts'

const FIGURES = {
  requests: 0,
  pages: 9,
  errors: 0,
  givenUp: 0,
  filtered: 0,
  bytes: 0,
  statuses: {},
  fields: {},
}
const RUN: RunSeen = { ...FIGURES, run: 'r1', state: 'running', begunAt: new Date().toISOString(), items: 0 }

/** What the workers of one crawl share. */
class SharedRun implements RunLog {
  run = RUN
  stats: Record<string, unknown> = {}
  isWhole = false
  notes: MonitorNotes = NO_NOTES
  looks = 0

  async look() {
    this.looks++
    return { run: this.run, past: [], stats: this.stats as never, atMs: Date.now(), isWhole: this.isWhole }
  }

  async change<T>(_run: string, change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T]) {
    const [notes, result] = change(this.notes, Date.now())
    this.notes = JSON.parse(JSON.stringify(notes)) as MonitorNotes
    return result
  }

  end(finishReason = 'finished', items = 1) {
    const endedAt = new Date().toISOString()
    this.run = {
      ...RUN,
      state: finishReason === 'finished' ? 'finished' : 'stopped',
      finishReason,
      endedAt,
      items,
    }
    this.isWhole = true
  }
}

/** A receiver, and workers that tell it. */
function crawl(options: Partial<CrawlMonitorsOptions> = {}) {
  const log = new SharedRun()
  const got: Notice[] = []
  const stats = new MemoryStatsCollector()
  const receiver = {
    name: 'test',
    send: async (notice: Notice) => void got.push(notice),
    close: async () => {},
  }
  const worker = (name: string, more: Partial<CrawlMonitorsOptions> = {}) => {
    const monitors = new CrawlMonitors({
      monitors: { items: { min: 100 }, coverage: { price: 0.9 } },
      runLog: log,
      worker: name,
      spider: 'quotes',
      channels: [receiver],
      stats,
      logger: silentLogger,
      timeoutMs: 1000,
      holdMs: 150,
      firstPauseMs: 1,
      ...options,
      ...more,
    })
    monitors.joined()
    return monitors
  }
  return { log, got, stats, worker, receiver }
}

test('of five workers that leave at once one judges, and tells in one message; all learn what was found', async () => {
  const { log, got, stats, worker } = crawl()
  log.end()
  const found = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => worker(name).ended()))
  expect(got.map(({ alarms }) => alarms.map(({ id }) => id))).toEqual([['items/min', 'coverage/price']])
  expect(new Set(found.map((alarms) => alarms.length))).toEqual(new Set([2]))
  expect(stats.snapshot()).toMatchObject({ 'monitors/alarm_count/items': 1, 'monitors/notice_count/sent': 1 })
})

test('the run is judged when the last worker has left, and not before', async () => {
  const { log, got, worker } = crawl()
  log.end()
  log.isWhole = false
  const ended = worker('a').ended()
  await vi.waitUntil(() => log.looks > 1)
  expect(got).toEqual([])
  log.run = { ...log.run, items: 200, fields: { price: 200 } }
  log.isWhole = true
  expect(await ended).toEqual([])
})

test('one that dies while it tells is followed by another, which tells the same under the same id', async () => {
  const { log, got, worker, receiver } = crawl()
  log.end()
  const sent = Promise.withResolvers<Notice>()
  const dies = {
    ...receiver,
    send: (notice: Notice) => {
      sent.resolve(notice)
      return new Promise<never>(() => {})
    },
  }
  void worker('dies', { channels: [dies] }).ended()
  const first = await sent.promise
  await worker('next').ended()
  expect(got.map(({ id }) => id)).toEqual([first.id])
  expect(log.notes.told).toEqual(['items/min', 'coverage/price'])
})

test('what is found while the run goes on is told at once, with pages that show it, and not again at its end', async () => {
  const { log, got, worker } = crawl()
  const monitors = worker('a')
  log.run = { ...RUN, items: 50 }
  log.stats = { 'monitors/pages/price': '["https://shop.example/9"]' }
  await monitors.look()
  await monitors.look()
  expect(got).toMatchObject([{ alarms: [{ id: 'coverage/price', pages: ['https://shop.example/9'] }] }])
  expect(got[0]!.finishReason).toBeUndefined()
  log.end('finished', 50)
  expect((await monitors.ended()).map(({ id }) => id)).toEqual(['coverage/price', 'items/min'])
  expect(got[1]).toMatchObject({ alarms: [{ id: 'items/min' }], finishReason: 'finished' })
})

test('a crawl that was interrupted goes on later, and one that others go on with is not over: neither is judged', async () => {
  const { log, got, worker } = crawl()
  expect(await worker('a').ended()).toEqual([])
  log.end('shutdown')
  expect(await worker('b').ended()).toEqual([])
  expect(got).toEqual([])
})

test('a receiver that fails is tried again; one that refuses is not, and the alarms are known all the same', async () => {
  const { log, got, stats, worker, receiver } = crawl()
  log.end()
  let tries = 0
  const shaky = {
    ...receiver,
    send: async (notice: Notice) => {
      if (++tries < 3) throw new Error('it answers 503')
      got.push(notice)
    },
  }
  const refuses = { ...receiver, send: () => Promise.reject(new NoticeRefused('it answers 404')) }
  expect(await worker('a', { channels: [shaky, refuses] }).ended()).toHaveLength(2)
  expect([tries, got.length]).toEqual([3, 1])
  expect(stats.snapshot()).toMatchObject({ 'monitors/notice_count/sent': 1, 'monitors/notice_count/lost': 1 })
})

test('a monitor of one’s own is asked once, by one worker; what it throws is told, and the others are heard', async () => {
  let asked = 0
  const custom = () => {
    asked++
    throw new TypeError('past is empty')
  }
  const { log, got, worker } = crawl({ monitors: { items: { min: 100 }, custom } })
  log.end()
  await Promise.all(['a', 'b', 'c'].map((name) => worker(name).ended()))
  expect(asked).toBe(1)
  expect(got[0]!.alarms.map(({ id, words }) => [id, words])).toEqual([
    ['items/min', '1 items; at least 100 must be'],
    ['custom', 'the monitor custom threw: past is empty'],
  ])
})

test('what a monitor of one’s own returns is told, and one that never answers is given up', async () => {
  const found = async (custom: () => unknown) => {
    const { log, worker } = crawl({ monitors: { custom: custom as never }, timeoutMs: 30 })
    log.end()
    return (await worker('a').ended()).map(({ words }) => words)
  }
  expect(await found(() => undefined)).toEqual([])
  expect(await found(() => true)).toEqual([])
  expect(await found(() => ['few authors', 'few tags'])).toEqual(['few authors', 'few tags'])
  expect(await found(() => new Promise(() => {}))).toEqual([
    expect.stringContaining('took longer than COMPONENT_TIMEOUT'),
  ])
})

test('a process that comes to a crawl that was judged long ago has nothing to tell', async () => {
  const { log, worker } = crawl()
  log.end()
  await worker('a').ended()
  const late = new CrawlMonitors({
    monitors: { items: { min: 100 } },
    runLog: log,
    worker: 'late',
    spider: 'quotes',
    channels: [],
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
    timeoutMs: 1000,
  })
  expect(await late.ended()).toEqual([])
})
