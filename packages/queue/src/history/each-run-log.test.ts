/** Monitors see the same, whether the crawl is on Redis or in this process. */

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStatsCollector, runFigures, silentLogger } from '@webloom/core'
import { runLogContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { clearCrawl } from '../outside/crawl-control.ts'
import { CrawlHistory } from './crawl-history.ts'
import { FileRunLog, readFileRuns } from './file-run-log.ts'
import { RedisRunLog } from './redis-run-log.ts'
import { readRuns } from './run-records.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

runLogContract(
  { describe, test },
  {
    name: 'RedisRunLog',
    create: async () => {
      const keys = bench.nextKeys()
      const log = () => new RedisRunLog({ redis: bench.redis, keys, statsKey: bench.statsKey(keys) })
      let worker: Awaited<ReturnType<CrawlBench['join']>> | undefined
      const join = async () => {
        worker = await bench.join(keys)
        await worker.record.takeStart(new AbortController().signal)
      }
      return {
        one: log(),
        other: log(),
        begin: async () => {
          if (worker)
            await clearCrawl({
              redis: bench.redis,
              keys,
              statsKey: bench.statsKey(keys),
              clear: async () => {},
            })
          await join()
        },
        resume: join,
        scrape: async (items) => {
          worker!.stats.inc('item_scraped_count', items)
          worker!.heartbeat.stat('item_scraped_count')
          await expect.poll(async () => (await log().look())?.stats.item_scraped_count).toBe(items)
        },
        end: async (reason) => {
          if (reason === 'finished') {
            await worker!.record.startEnded(0)
            await worker!.record.finish()
          }
          await worker!.heartbeat.close()
          await worker!.record.ended(reason)
          await worker!.record.leave()
          const statsKey = bench.statsKey(keys)
          await new CrawlHistory({
            redis: bench.redis,
            keys,
            statsKey,
            hours: 0,
            logger: silentLogger,
          }).ended()
        },
        dispose: async () => {},
      }
    },
  },
)

runLogContract(
  { describe, test },
  {
    name: 'FileRunLog',
    create: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'webloom-runs-'))
      const crawl = () => {
        const stats = new MemoryStatsCollector()
        const jobDir = join(folder, 'job')
        return { stats, log: new FileRunLog({ folder: join(folder, 'quotes'), jobDir, stats }) }
      }
      let now = crawl()
      const first = now
      const log = {
        look: () => now.log.look(),
        state: () => now.log.state(),
        change: (...given: Parameters<FileRunLog['change']>) => now.log.change(...given),
      } as FileRunLog
      return {
        one: log,
        other: log,
        begin: async () => {
          if (now !== first || (await now.log.look())) now = crawl()
          await now.log.begin()
        },
        resume: async () => {
          now = crawl()
          await now.log.begin(true)
        },
        scrape: async (items) => now.stats.inc('item_scraped_count', items),
        end: (reason) => now.log.ended(reason),
        dispose: async () => {
          await now.log.ended('test is over')
          await rm(folder, { recursive: true })
        },
      }
    },
  },
)

async function inFolder(act: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'webloom-runs-'))
  try {
    await act(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a run that is resumed in its JOBDIR goes on with its record, and its figures are those of both parts', () =>
  inFolder(async (folder) => {
    for (const [n, reason] of ['shutdown', 'finished'].entries()) {
      const stats = new MemoryStatsCollector()
      const log = new FileRunLog({ folder, jobDir: join(folder, 'job'), stats })
      await log.begin(n > 0)
      stats.inc('item_scraped_count', 5)
      stats.inc('item_field_count/price', 4)
      await log.ended(reason)
    }
    expect(await readFileRuns(folder)).toMatchObject([
      { state: 'finished', finishReason: 'finished', items: 10, fields: { price: 8 } },
    ])
  }))

test('a run that is killed and goes on in its JOBDIR says how much its counts may miss, also when it is stopped once more', () =>
  inFolder(async (folder) => {
    const begun = async () => {
      const log = new FileRunLog({ folder, jobDir: join(folder, 'job'), stats: new MemoryStatsCollector() })
      await log.begin(true)
      return log
    }
    const missed = async () => (await readFileRuns(folder)).map(({ mayMiss }) => mayMiss?.seconds)
    await begun()
    expect(await missed()).toEqual([undefined])
    // The one before was killed.
    await (await begun()).ended('shutdown')
    expect(await missed()).toEqual([10])
    await (await begun()).ended('finished')
    expect(await missed()).toEqual([10])
  }))

test('the last fifty runs are kept; a file of something else is left alone', () =>
  inFolder(async (folder) => {
    const run = {
      form: 1,
      state: 'finished',
      process: { host: '', pid: 1 },
      writtenAt: '2026-01-01T00:00:00.000Z',
    }
    for (let n = 100; n < 152; n++) {
      const kept = { ...run, run: `run-${n}`, begunAt: `2026-01-01T00:00:00.${n}Z` }
      await writeFile(join(folder, `run-${n}.json`), JSON.stringify(kept))
    }
    await writeFile(join(folder, 'notes.json'), '{}')
    const log = new FileRunLog({ folder, stats: new MemoryStatsCollector() })
    await log.begin()
    await log.ended('finished')
    const runs = await readFileRuns(folder)
    expect([runs.length, runs[0]?.finishReason, runs.at(-1)?.run]).toEqual([50, 'finished', 'run-103'])
    expect(await readdir(folder)).toContain('notes.json')
  }))

test.each([
  ['WARNING', false],
  ['ERROR, where monitors compare runs', true],
])('a folder that cannot be written is told once, at level %s, and the crawl goes on', (level, isCompared) =>
  inFolder(async () => {
    const told: unknown[] = []
    const note = (...what: unknown[]) => void told.push(what)
    const logger = (level === 'WARNING' ? { warn: note } : { error: note }) as never
    const stats = new MemoryStatsCollector()
    const log = new FileRunLog({ folder: '/proc/none/runs', stats, logger, isCompared })
    await log.begin()
    await log.ended('finished')
    expect(told).toHaveLength(1)
    expect((await log.look())?.run.finishReason).toBe('finished')
  }),
)

test('a run whose crawl is gone from Redis is kept as lost, with what the first of its workers knows, and its notes', async () => {
  const keys = bench.nextKeys()
  const joined = () => ({ id: 'r1', begunAt: Date.parse('2026-11-27T06:00:00Z') })
  const log = new RedisRunLog({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), joined })
  const figures = (items: number) => runFigures({ item_scraped_count: items })
  expect(await log.keepLost(figures(7))).toMatchObject({ run: 'r1', state: 'lost', items: 7 })
  const alert = { id: 'crawl_lost', words: 'it is gone', at: new Date().toISOString() }
  await log.change('r1', (notes) => [{ ...notes, alerts: [alert] }, undefined])
  expect(await log.keepLost(figures(1))).toMatchObject({
    items: 7,
    finishReason: 'crawl_lost',
    alerts: [alert],
  })
  expect((await readRuns(bench.redis, keys)).map(({ run, state }) => [run, state])).toEqual([['r1', 'lost']])
  // As a sample has kept them.
  const sampled = { ...JSON.parse((await bench.redis.hget(keys.runs, 'r1'))!), state: 'running' }
  for (const [pages, kept] of [
    [0, 3],
    [9, 9],
  ] as const) {
    await bench.redis.hset(keys.runs, 'r1', JSON.stringify({ ...sampled, pages }))
    const lost = await log.keepLost(runFigures({ response_received_count: 3 }))
    expect(lost).toMatchObject({ state: 'lost', finishReason: 'crawl_lost', pages: kept })
  }
})
