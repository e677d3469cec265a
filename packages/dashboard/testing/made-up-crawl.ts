/** A crawl that is made up: every view has something to show, and some of it is hostile. */

import {
  type AlertSeen,
  type CrawlStatus,
  type FailureGroup,
  type HistorySample,
  type HostLists,
  type ResponseSnapshot,
  type RunSeen,
  totalsOf,
  type UnsentSeen,
  type WorkerSeen,
} from '@webloom/core'

export const NOW = Date.parse('2026-11-25T16:00:00.000Z')
const at = (agoMs: number) => new Date(NOW - agoMs).toISOString()

/** What a page may be called. */
export const HOSTILE_TITLE =
  '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>\u0000\u001b[31m\u202e'
export const LONG_TITLE = `<b>${'x'.repeat(10 * 2 ** 20)}`

export function madeUpWorker(n: number, more: Partial<WorkerSeen> = {}): WorkerSeen {
  return {
    id: `crawler-${n}:4021${n}:1`,
    host: `crawler-${n}`,
    pid: 40210 + n,
    startedAt: at(3_840_000 + n * 1000),
    seenAt: at(700 * n),
    lost: false,
    downloading: 12 + n,
    scraping: n % 3,
    scrapingFull: false,
    stalled: false,
    waits: '',
    heldHosts: 41 + 3 * n,
    longestMs: 0,
    longestHost: '',
    suspects: 0,
    pages: 61_240 + 811 * n,
    items: 50_113 + 420 * n,
    errors: n,
    pagesPerMinute: 960 + 31 * n,
    itemsPerMinute: 780 + 20 * n,
    errorsPerMinute: n % 2,
    busy: 0.8,
    blocked: false,
    release: '0.1.0',
    loopLagMs: 11 + 7 * n,
    rssBytes: (212 + 9 * n) * 2 ** 20,
    cpuCores: 0.61 + n / 20,
    ...more,
  }
}

export const STATS: CrawlStatus['stats'] = {
  response_received_count: 248_316,
  item_scraped_count: 201_944,
  'log_count/ERROR': 212,
  'dupefilter/filtered': 1_904_220,
  'retry/count': 3120,
  'offsite/filtered': 88_214,
  'robotstxt/forbidden': 4120,
  'depth/request_ignored_count': 911,
  'trap/chain': 320,
  'trap/repeated_segments': 77,
  'downloader/protection/body_size': 14,
  'downloader/protection/slow_body': 3,
  'httperror/response_ignored_status_count/404': 2210,
  'httperror/response_ignored_status_count/410': 41,
  'downloader/given_up/DownloadTimeoutError': 141,
  'failed/count': 202,
  'failed/reason_count/download': 141,
  'failed/reason_count/status': 61,
  item_dropped_count: 17,
  'item_dropped_reasons_count/DropItem': 17,
  'item_field_count/title': 201_944,
  'item_field_count/price': 188_210,
  'item_field_count/author.name': 90_410,
  'item_field_count/isbn': 20_012,
}

export const STATUS: CrawlStatus = {
  crawl: '{bookshops}',
  mode: 'turns',
  state: 'running',
  paused: false,
  flushing: false,
  run: 'r1',
  begunAt: at(3_900_000),
  endedAt: null,
  finishReason: null,
  start: { cursor: 4096, ended: true, worker: null },
  workers: [
    madeUpWorker(1),
    madeUpWorker(2),
    madeUpWorker(3, { blocked: true, loopLagMs: 1840 }),
    madeUpWorker(4, { lost: true, seenAt: at(41_000) }),
  ],
  pagesPerMinute: 3066,
  itemsPerMinute: 2460,
  errorsPerMinute: 2,
  shards: 1,
  silentShards: [],
  counts: { waiting: 184_320, delayed: 12_044, leased: 212, quarantined: 3 },
  done: 121_870,
  stats: STATS,
  statsLack: true,
  readAt: at(0),
  seeds: { waiting: 120, inWork: 4, invalid: 0 },
  itemsQueued: 812,
  servers: [
    {
      roles: ['queue', 'dupefilter'],
      shown: '10.0.4.2:6379/0',
      version: '7.4.1',
      maxmemoryPolicy: 'noeviction',
      persistence: 'aof',
      usedBytes: 412 * 2 ** 20,
      maxBytes: 2 ** 30,
      cpuSeconds: 812,
      warnings: [],
    },
    {
      roles: ['items'],
      shown: '10.0.4.3:6379/0',
      version: '7.4.1',
      maxmemoryPolicy: 'allkeys-lru',
      persistence: 'rdb',
      usedBytes: 910 * 2 ** 20,
      maxBytes: 2 ** 30,
      cpuSeconds: 31,
      warnings: ['this Redis writes snapshots only: a restart takes the crawl back to the last one'],
    },
  ],
  highWater: 0.9,
  limit: {
    kind: 'hosts',
    words:
      '184,320 requests wait and 12,044 are held for later, while workers have room: the hosts’ delays, pauses and CONCURRENT_REQUESTS_PER_DOMAIN decide.',
  },
  timeLeft: {
    atLeastMs: 2_100_000,
    atThisRateMs: 3_850_000,
    words:
      '1 h 4 min for what is queued, at this rate; new links make it more. 35 min at least: news.example allows no more',
  },
}

export const TOTALS = totalsOf(STATS)

export const LISTS: HostLists = {
  mostQueued: Array.from({ length: 24 }, (_, n) => ({ slot: `shop-${n}.example`, waiting: 9120 - 311 * n })),
  failing: [
    { host: 'slow-books.example', failures: 12, reason: 'DownloadTimeoutError', seenAtMs: NOW - 4000 },
    { host: `${HOSTILE_TITLE}.example`, failures: 3, reason: HOSTILE_TITLE, seenAtMs: NOW - 9000 },
  ],
  slowest: [{ host: 'antiquariat.example', latencyMs: 4210, seenAtMs: NOW - 1200 }],
  unanswered: [{ host: 'silent.example:8080', requests: 8, sinceMs: NOW - 74_000 }],
  paused: [{ host: 'polite.example', untilMs: NOW + 118_000, reason: '429, Retry-After 120 s' }],
  givenUp: [
    {
      host: 'gone.example',
      reason: 'CannotResolveHostError',
      sinceMs: NOW - 611_000,
      seenAtMs: NOW - 611_000,
    },
  ],
  recovered: [{ host: 'back.example', seenAtMs: NOW - 30_000 }],
  answers: [],
}

export const SAMPLES: readonly HistorySample[] = Array.from({ length: 361 }, (_, n) => {
  const wave = Math.sin(n / 26) * 420 + Math.sin(n / 7) * 130
  const pagesPerMinute = Math.round(n < 12 ? n * 220 : 2900 + wave)
  return {
    atMs: NOW - (361 - n) * 10_000,
    pages: n * 480,
    items: n * 390,
    errors: Math.floor(n / 9),
    waiting: 200_000 - n * 40,
    delayed: 12_000,
    leased: 200,
    workers: 4,
    pagesPerMinute,
    itemsPerMinute: Math.round(pagesPerMinute * 0.81),
    errorsPerMinute: n % 60 === 0 ? 240 : n % 17 === 0 ? 60 : 0,
  }
})

const ALERTS: readonly AlertSeen[] = [
  {
    id: 'coverage/price',
    words: 'price: 0 % of the last 412 items have it; at least 95 % must',
    at: at(600_000),
    pages: ['https://books.example/9780140449136', 'https://books.example/9780141439518'],
  },
]

const UNSENT: readonly UnsentSeen[] = [
  {
    ...{ channel: 'webhook of hooks.example', lost: 1, waiting: 1 },
    ...{ reason: 'it answers 404', at: at(590_000) },
  },
]

export const RUNS: readonly RunSeen[] = [0, 1, 2, 3].map((n) => ({
  run: `r${4 - n}`,
  state: n === 0 ? 'running' : n === 2 ? 'stopped' : 'finished',
  begunAt: at(3_900_000 + n * 86_400_000),
  ...(n > 0 && {
    endedAt: at(n * 86_400_000 - 9_200_000),
    finishReason: n === 2 ? 'maintenance' : 'finished',
  }),
  requests: 260_000 + 11_000 * n,
  pages: n === 0 ? 248_316 : 402_118 - 1200 * n,
  items: n === 0 ? 201_944 : 331_020 - 900 * n,
  errors: 212 + 14 * n,
  givenUp: 201 + n,
  filtered: 2_000_000,
  bytes: 9.4 * 2 ** 30,
  statuses: { 200: 391_002, 404: 2210, 301: 812, 503: 61 },
  fields: { title: 201_944, price: n === 0 ? 118_210 : 320_010, isbn: 20_012 },
  ...(n === 0 && { alerts: ALERTS, unsent: UNSENT }),
}))

const FAILED = { method: 'GET', attempts: 3, worker: 'crawler-1:40211:1', id: 'a1', at: at(4000) }

export const FAILURES: readonly FailureGroup[] = [
  {
    signature: 'DownloadTimeoutError: no answer for 180 s /book/* 9f31',
    reason: 'download',
    message: 'DownloadTimeoutError: no answer for 180 s',
    status: null,
    count: 130,
    total: 141,
    firstAt: at(3_000_000),
    lastAt: at(4000),
    examples: [
      {
        ...FAILED,
        url: 'https://slow-books.example/book/81',
        reason: 'download',
        message: 'DownloadTimeoutError: no answer for 180 s',
        status: null,
        signature: 'x',
      },
    ],
  },
  {
    signature: `503 ${HOSTILE_TITLE}`,
    reason: 'status',
    message: 'status 503',
    status: 503,
    count: 61,
    total: 61,
    firstAt: at(2_000_000),
    lastAt: at(70_000),
    examples: [
      {
        ...FAILED,
        url: `javascript:document.title='owned'`,
        reason: 'status',
        message: '503',
        status: 503,
        signature: 'x',
      },
    ],
  },
]

export const RESPONSE: ResponseSnapshot = {
  url: 'https://shop-3.example/book/4',
  status: 503,
  headers: [['content-type', 'text/html']],
  text: `<title>${HOSTILE_TITLE}</title>\n<h1>Try again later</h1>`,
  bytes: 4120,
}
