import type { CrawlStatus, LimitKind } from '@webloom/core'
import { expect, test } from 'vitest'
import { madeUpWorker, STATUS } from '../../../dashboard/testing/made-up-crawl.ts'
import { limitOf } from './crawl-limit.ts'

const bounds = { concurrency: 16, startLowWater: 1000, spider: 'bookshops' }
const well = { ...STATUS, workers: [1, 2, 3].map((n) => madeUpWorker(n, { downloading: 4, loopLagMs: 0 })) }
const workers = (more: Parameters<typeof madeUpWorker>[1], count = 3) => ({
  ...well,
  workers: well.workers.map((worker, n) => (n < count ? { ...worker, ...more } : worker)),
})
const counts = (more: Partial<CrawlStatus['counts']>) => ({
  ...well,
  counts: { waiting: 0, delayed: 0, leased: 0, quarantined: 0, ...more },
})
const fullRedis = {
  ...well,
  servers: well.servers.map((server) => ({ ...server, usedBytes: 0.95 * server.maxBytes })),
}

const CASES: { readonly [Kind in LimitKind]: readonly [seen: CrawlStatus, words: RegExp][] } = {
  ended: [
    [{ ...well, state: 'idle' }, /No run is known/],
    [{ ...well, state: 'stopped', finishReason: 'enough' }, /stopped \(enough\)/],
    [{ ...well, state: 'stopped', finishReason: 'crawl_lost' }, /is gone from its Redis/],
    [{ ...well, state: 'finished' }, /has finished/],
    [{ ...well, flushing: true }, /being emptied/],
  ],
  paused: [[{ ...well, paused: true }, /resume bookshops goes on/]],
  'no workers': [[workers({ lost: true }), /worker bookshops/]],
  joining: [
    [
      workers({ waits: 'until another is over' }),
      /^All 3 workers that are present wait until another is over\.$/,
    ],
  ],
  'redis memory': [[fullRedis, /10\.0\.4\.2:6379\/0 is 95 % full .* Raise its maxmemory/]],
  workers: [
    [workers({ blocked: true }, 2), /2 of 3 workers are blocked/],
    [workers({ loopLagMs: 300 }, 2), /The processors are busy/],
    [workers({ downloading: 16 }), /48 downloads at once in 3 workers/],
  ],
  memory: [[workers({ scrapingFull: true }, 2), /of 2 of 3 workers .* SCRAPER_SLOT_MAX_ACTIVE_SIZE/]],
  suspects: [
    [
      workers({ suspects: 2 }, 2),
      /^4 requests are to be fetched alone: what was in flight as a worker was lost may have killed it\. 2 of 3 workers do little else/,
    ],
    // Their places are full of requests that hang.
    [workers({ suspects: 2, downloading: 16 }), /^6 requests are to be fetched alone/],
  ],
  hosts: [
    [workers({ suspects: 2 }, 1), /the hosts’ delays/],
    [well, /184,320 requests wait and 12,044 are held for later/],
    [workers({ scrapingFull: true }, 1), /the hosts’ delays/],
    [workers({ waits: 'until another is over' }, 2), /the hosts’ delays/],
    [counts({ waiting: 1 }), /1 request waits,/],
    [
      { ...counts({ waiting: 1200 }), start: { ...well.start, ended: false } },
      /1,200 requests wait, .* decide\. start\(\) is read on when fewer wait .* raise START_AHEAD_MAX\.$/,
    ],
    [{ ...counts({ waiting: 900 }), start: { ...well.start, ended: false } }, /decide\.$/],
  ],
  'nothing left': [
    [counts({}), /about to end/],
    [counts({ leased: 2 }), /2 requests in flight/],
  ],
  none: [[{ ...counts({}), start: { ...well.start, ended: false } }, /Nothing holds it up/]],
}

test.each(Object.entries(CASES))('what limits a crawl: %s', (kind, cases) => {
  for (const [seen, words] of cases)
    expect(limitOf(seen, bounds)).toEqual({ kind, words: expect.stringMatching(words) })
})
