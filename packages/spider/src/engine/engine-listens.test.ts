/** The engine's loop by virtual time: what may come is waited for all the time, so that a host is asked when its delay is over. */

import {
  type CrawlRecord,
  type Lease,
  MemoryStatsCollector,
  PROTOCOL_TIMES,
  Request,
  Signals,
  silentLogger,
} from '@webloom/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ItemProcessor } from '../scraping/item-processor.ts'
import { Scraper } from '../scraping/scraper.ts'
import { Spider } from '../spider.ts'
import { Engine } from './engine.ts'
import type { EngineDownloader, EngineScheduler } from './engine-ports.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const WAIT_MS = PROTOCOL_TIMES.engine.leaseWaitMaxMs

const spider = new (class extends Spider {
  override name = 'waits'
  override async *start() {}
})()

const record: CrawlRecord = {
  open: async () => ({ begun: false, outputs: new Map() }) as never,
  close: async () => {},
  // It has ended.
  takeStart: async () => null,
  startMoved: async () => {},
  startEnded: async () => {},
  finish: async () => false,
  outputBegun: async () => false,
  beginOutput: async () => {},
  ended: async () => {},
}

/** Of a queue in which something waits for its time; `next` is as patient as those of ours. */
function listened(): { scheduler: EngineScheduler; ms: () => number } {
  let [listenedMs, sinceMs] = [0, Number.NaN]
  const ms = () => listenedMs + (Number.isNaN(sinceMs) ? 0 : performance.now() - sinceMs)
  const nothing = async () => {}
  const scheduler: EngineScheduler = {
    open: nothing,
    close: nothing,
    enqueueStart: async () => 0,
    enqueueStarts: async () => 0,
    enqueue: async () => 0,
    async next(_, signal) {
      sinceMs = performance.now()
      await new Promise<void>((resolve) => {
        setTimeout(resolve, WAIT_MS)
        signal?.addEventListener('abort', () => resolve(), { once: true })
      })
      listenedMs = ms()
      sinceMs = Number.NaN
      return []
    },
    commit: nothing,
    retry: nothing,
    requeue: nothing,
    forget: nothing,
    reject: nothing,
    hasRoom: async () => true,
    inFlight: async () => [],
    isEmpty: async () => false,
  }
  return { scheduler, ms }
}

function engineOf(scheduler: EngineScheduler, downloader: EngineDownloader): Engine {
  const told = {
    spider,
    stats: new MemoryStatsCollector(),
    signals: new Signals(() => {}),
    logger: silentLogger,
  }
  return new Engine({
    ...told,
    scheduler,
    record,
    downloader,
    scraper: new Scraper({ ...told, middlewares: [], admits: () => true, outputMax: 100 }),
    items: new ItemProcessor({ ...told, pipelines: [], feeds: [], concurrency: 1, dropLogLevel: 'INFO' }),
    bounds: {
      idleMsBeforeFinish: 0,
      downloadsMax: 8,
      scrapingBytesMax: 1e6,
      startLowWater: 1000,
      startAheadMax: 0,
      componentTimeoutMs: 5000,
      shutdownGraceMs: 100,
    },
  })
}

test('while nothing may go it is waited for without a gap', async () => {
  const { scheduler, ms } = listened()
  const fetch = () => Promise.reject(new Error('nothing is fetched'))
  const engine = engineOf(scheduler, { fetch, close: async () => {} })
  const ended = engine.run()
  await vi.advanceTimersByTimeAsync(WAIT_MS)
  const before = ms()
  await vi.advanceTimersByTimeAsync(20 * WAIT_MS)
  // Timers that follow each other may be a millisecond apart.
  expect(ms() - before).toBeGreaterThan(19.5 * WAIT_MS)
  engine.abort('seen')
  await vi.advanceTimersByTimeAsync(WAIT_MS)
  expect(await ended).toBe('seen')
})

test('what was sent is known with its moment until it is answered', async () => {
  const { scheduler } = listened()
  const request = new Request('http://mute.test/')
  const lease = { id: '1', request, signal: new AbortController().signal, started() {}, documents() {} }
  const leases = [lease as unknown as Lease]
  const next: EngineScheduler['next'] = async (max, signal) =>
    leases.splice(0, 1).concat(await scheduler.next(max, signal))
  let answer = () => {}
  const fetch: EngineDownloader['fetch'] = async (_, { onStart }) => {
    setTimeout(onStart, 500)
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    throw new Error('answered')
  }
  const engine = engineOf({ ...scheduler, next }, { fetch, close: async () => {} })
  const ended = engine.run()
  const sent = () => [...engine.placesUnderWay].map((place) => [place.request, place.isHeld, place.sentAtMs])
  await vi.advanceTimersByTimeAsync(WAIT_MS + 400)
  expect(sent()).toEqual([[request, true, undefined]])
  await vi.advanceTimersByTimeAsync(200)
  expect(sent()).toEqual([[request, true, performance.now() - 100]])
  answer()
  await vi.advanceTimersByTimeAsync(0)
  expect(sent()).toEqual([])
  engine.abort('seen')
  await vi.advanceTimersByTimeAsync(WAIT_MS)
  await ended
})
