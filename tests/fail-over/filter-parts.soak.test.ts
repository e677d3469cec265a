/**
 * A crawl whose dupefilter is in eight parts of a cluster of three masters, each with a replica: its workers and the masters are killed,
 * parts of 8 MiB move from master to master, and every page is fetched, by whoever is left.
 */

import { expect, test } from 'vitest'
import { type DisturbedCrawl, isCrawled, killMaster, killWorkers, moveSlots } from './disturbed-crawl.ts'

const PARTS = 8
const CRAWL: DisturbedCrawl = {
  name: 'parts',
  // 2 ** 29 bits are 64 MiB.
  settings: { DUPEFILTER_SHARDS: PARTS, DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_BIT: 29 },
  pages: { pagesPerHost: 60, linksPerPage: 6 },
}

const partOf = (crawlId: string, n: number) => `{pages:${crawlId}:bloomfilter#0${n % PARTS}}:record`

test.each([1, 2, 3])(
  'seed %i: workers are killed, one after the other: each page is fetched',
  async (seed) => {
    await isCrawled(CRAWL, seed, killWorkers)
  },
)

test.each([4, 5, 6])(
  'seed %i: a master is killed and its replica takes its place, and a worker is killed then: each page is fetched',
  async (seed) => {
    await isCrawled(CRAWL, seed, async (round) => {
      await killMaster(round, partOf(round.crawlId, seed))
    })
  },
)

test.each([7, 8])(
  'seed %i: all parts move to another master, one after the other, and a worker is killed meanwhile: the crawl never stands still for a second',
  async (seed) => {
    let moves: number[] = []
    await isCrawled(CRAWL, seed, async (round) => {
      const { web, crawlId } = round
      const begunAt = (await web.log()).hits.length
      const keys = Array.from({ length: PARTS }, (_, n) => partOf(crawlId, n))
      moves = await moveSlots(round, keys, 300)
      const during = (await web.hits()).slice(begunAt).map(({ atMs }) => atMs)
      const gaps = during.slice(1).map((atMs, n) => atMs - during[n]!)
      console.info(
        `moves of ${moves.map(Math.round).join(', ')} ms; the longest pause was ${Math.max(...gaps)} ms, of ${during.length} pages`,
      )
      expect(during.length).toBeGreaterThan(PARTS)
      expect(Math.max(...gaps)).toBeLessThan(1000)
    })
    expect(Math.max(...moves)).toBeLessThan(1000)
  },
)
