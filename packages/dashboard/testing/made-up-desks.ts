/** Crawls that are made up, as a dashboard is given them; a test may change what they tell. */

import {
  type CrawlDesk,
  type CrawlDesks,
  type CrawlStatus,
  type CrawlSummary,
  type FailureGroup,
  type HostsSeen,
  InvalidUrl,
  type ItemsSeen,
  type ScheduledRunsSeen,
  totalsOf,
} from '@webloom/core'
import {
  FAILURES,
  HOSTILE_TITLE,
  LISTS,
  LONG_TITLE,
  NOW,
  RESPONSE,
  RUNS,
  SAMPLES,
  STATUS,
} from './made-up-crawl.ts'

export class MadeUpDesks implements CrawlDesks {
  /** While it is set, no crawl answers. */
  trouble: string | undefined
  status: CrawlStatus = STATUS
  failures: readonly FailureGroup[] = FAILURES
  items: Partial<ItemsSeen> = {}
  /** Undefined in QUEUE_MODE=job. */
  hostTotals: HostsSeen['totals'] = {
    withLine: 98_214,
    ready: 41_020,
    later: 55_190,
    held: 2001,
    hot: 3,
    paused: 12,
  }
  /** How often a crawl was asked. */
  looks = 0
  readonly #desk: CrawlDesk

  constructor() {
    this.#desk = this.#made()
  }

  async answers(): Promise<boolean> {
    return false
  }

  async crawls(): Promise<readonly CrawlSummary[]> {
    const { state, paused, begunAt, endedAt, finishReason, counts, pagesPerMinute, itemsPerMinute, stats } =
      this.status
    const one: CrawlSummary = {
      id: 'bookshops',
      spider: 'bookshops',
      crawlId: null,
      server: '10.0.4.2:6379/0',
      state,
      paused,
      begunAt,
      endedAt,
      finishReason,
      counts,
      pagesPerMinute,
      itemsPerMinute,
      totals: totalsOf(stats),
      workers: { present: 3, lost: 1, blocked: 1 },
    }
    const rest = { workers: { present: 0, lost: 0, blocked: 0 }, pagesPerMinute: 0, itemsPerMinute: 0 }
    const ended = { ...one, ...rest, counts: { waiting: 0, delayed: 0, leased: 0, quarantined: 0 } }
    if (this.trouble !== undefined) return [{ ...ended, state: null, trouble: this.trouble }]
    return [
      one,
      {
        ...ended,
        id: 'news@2026-11',
        spider: 'news',
        crawlId: '2026-11',
        state: 'running',
        paused: true,
        workers: { present: 2, lost: 0, blocked: 0 },
        counts: { ...ended.counts, waiting: 1204 },
      },
      {
        ...ended,
        id: 'jobs',
        spider: 'jobs',
        state: 'stopped',
        finishReason: 'maintenance',
        counts: { ...ended.counts, waiting: 41 },
      },
      { ...ended, id: 'quotes', spider: 'quotes', state: 'finished', finishReason: 'finished' },
      { ...ended, id: 'h', spider: HOSTILE_TITLE, crawlId: LONG_TITLE, state: 'finished' },
      {
        ...ended,
        id: 'far',
        spider: 'far-away',
        server: '10.9.0.1:6379/0',
        state: null,
        trouble: 'Redis at 10.9.0.1:6379/0 cannot be reached',
      },
    ]
  }

  async desk(id: string): Promise<CrawlDesk | undefined> {
    return id === 'bookshops' ? this.#desk : undefined
  }

  async scheduledRuns(): Promise<readonly ScheduledRunsSeen[]> {
    if (this.trouble !== undefined) return []
    const counts = { begun: 29, resumed: 1, going: 2, failed: 1 }
    return [
      { id: 'bookshops', counts },
      { id: 'never-begun', counts: { ...counts, begun: 0, failed: 4 } },
    ]
  }

  async close(): Promise<void> {}

  #made(): CrawlDesk {
    const { readAt } = STATUS
    const answer = async <T>(value: () => T): Promise<T> => {
      this.looks++
      if (this.trouble !== undefined) throw new Error(this.trouble)
      return value()
    }
    return {
      id: 'bookshops',
      spider: 'bookshops',
      crawlId: null,
      server: '10.0.4.2:6379/0',
      status: () => answer(() => this.status),
      hosts: () =>
        answer(() => ({
          mode: 'turns' as const,
          lists: LISTS,
          ...(this.hostTotals && { totals: this.hostTotals }),
          readAt,
        })),
      host: (host) =>
        answer(() => ({
          host,
          slot: {
            slot: host,
            waiting: 9120,
            delayed: 4,
            leased: 1,
            failures: 0,
            delayMs: 2000,
            nextInMs: 1300,
            pausedMs: 0,
            state: 'later' as const,
            lanes: 0,
            holders: ['crawler-2:40212:1'],
          },
          delayFrom: 'DOWNLOAD_SLOTS (config)',
          isBoosted: false,
          lists: { ...LISTS, mostQueued: [], paused: [], givenUp: [], recovered: [] },
          sample: [
            { url: `https://${host}/book/81?page=2`, priority: 0 },
            { url: `javascript:alert(1)`, priority: -1 },
          ],
          statuses: { 200: 41_802, 404: 212, 503: 14, DownloadTimeoutError: 3 },
          errors: [
            { reason: '503 Service Unavailable', atMs: NOW - 40_000 },
            { reason: `DownloadTimeoutError ${HOSTILE_TITLE}`, atMs: NOW - 600_000 },
          ],
          countedSince: new Date(NOW - 3_600_000).toISOString(),
          readAt,
        })),
      filter: () =>
        answer(() => ({
          name: 'redis-bloom',
          fingerprinter: 'scrapy-redis',
          urlRules: 'w3lib-2.5',
          exists: true,
          count: 8_412_003,
          capacity: 10_000_000,
          fill: 0.437,
          errorNow: 3.2e-7,
          errorAtCapacity: 1e-6,
          pagesLost: 0.9,
          memoryBytes: 34 * 2 ** 20,
          warnings: [],
        })),
      scale: () =>
        answer(() => ({
          desired: 8,
          present: 3,
          allowedPerSecond: 150,
          perWorkerPerSecond: 19.4,
          words: '150 requests a second are what the hosts allow; a worker does 19 when it is in full use',
          readAt,
        })),
      isKnown: async (url) => {
        if (!URL.canParse(url)) throw new InvalidUrl(url, 'it is not a URL')
        return { url, known: url.includes('known'), fingerprint: 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334' }
      },
      items: () =>
        answer(() => ({
          count: 201_944,
          perMinute: 2460,
          fields: { title: 201_944, price: 188_210, 'author.name': 90_410, isbn: 20_012 },
          last: [
            {
              at: readAt,
              json: JSON.stringify({ title: HOSTILE_TITLE, price: 12.5, isbn: '978-3-16-148410-0' }),
            },
            {
              at: readAt,
              json: JSON.stringify({
                title: 'A Light in the Attic',
                price: 51.77,
                author: { name: 'Shel Silverstein' },
              }),
            },
          ],
          ...this.items,
        })),
      settings: () =>
        answer(() => [
          {
            name: 'CONCURRENT_REQUESTS',
            value: '32',
            source: 'command',
            summary: 'Requests in flight in one process.',
          },
          {
            name: 'REDIS_URL',
            value: '"redis://***@10.0.4.2:6379/0"',
            source: 'environment',
            summary: 'The Redis of all roles.',
          },
          {
            name: 'DOWNLOAD_DELAY',
            value: '0',
            source: 'default',
            summary: 'Seconds between two requests to a host.',
          },
        ]),
      failures: () => answer(() => ({ count: 191, trimmed: 0, groups: this.failures })),
      failedResponse: () => answer(() => RESPONSE),
      history: () => answer(() => SAMPLES),
      runs: () => answer(() => RUNS),
    }
  }
}
