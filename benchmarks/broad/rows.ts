/** Which crawls the broad benchmark measures. */

export interface Row {
  /** What `--rows` names it by. */
  readonly key: string
  readonly title: string
  readonly hosts: number
  readonly pagesPerHost: number
  readonly workers: number
  /** Absent: one process without Redis. */
  readonly filter?: 'redis-set' | 'redis-bloom'
  /** Default `crawl()`. */
  readonly by?: 'crawl' | 'cli'
  /** `start()` requests every page, and no links are followed; so it is with a delay, too. */
  readonly fromStart?: boolean
  readonly delaySeconds?: number
  /** Of one more host, which has so many pages; and beside it there is a host that never answers. */
  readonly hotPages?: number
  readonly robots?: boolean
  /** Hosts have names; the name server takes a while, and of one name in a hundred it says nothing. */
  readonly isNamed?: boolean
  readonly isTls?: boolean
  /** All workers share one core, Redis and the site have the other. */
  readonly pinned?: boolean
  /** Nothing is crawled: requests are imported and weighed. */
  readonly onlyQueued?: boolean
  /** The key of a row that this one differs from in one thing: figures are told as multiples of that row's, too. */
  readonly beside?: string
}

const ONE_PAGE = { hosts: 60_000, pagesPerHost: 1, workers: 1 }
const TEN_PAGES = { hosts: 6_000, pagesPerHost: 10, workers: 1 }
const ONE_HOST = { hosts: 1, pagesPerHost: 10_000, workers: 1 }
const PACED = { hosts: 5_000, pagesPerHost: 10, workers: 4, delaySeconds: 10 }
const SHORT_DELAY = { hosts: 1, pagesPerHost: 2_000, workers: 1, delaySeconds: 0.02 }
/** As many as it takes for what each process compiles not to count: of 40 000 pages, which take seven seconds, it is half of what four processes take more. */
const PINNED = { hosts: 10, pagesPerHost: 32_000, pinned: true }
const LOOKED_UP = { hosts: 20_000, pagesPerHost: 1, workers: 1, fromStart: true }
const MILLION = { hosts: 1_000_000, pagesPerHost: 1, workers: 1 }
const [SET, BLOOM] = [{ filter: 'redis-set' }, { filter: 'redis-bloom' }] as const

export const ROWS: readonly Row[] = [
  { key: 'one-page', title: 'one page a host, one process', ...ONE_PAGE },
  { key: 'one-page-set', title: 'one page a host, Redis set', ...ONE_PAGE, ...SET, beside: 'one-page' },
  { key: 'one-page-cli', title: 'one page a host, one process, by CLI', ...ONE_PAGE, by: 'cli' },
  {
    key: 'one-page-set-cli',
    title: 'one page a host, Redis set, by CLI',
    ...ONE_PAGE,
    ...SET,
    by: 'cli',
    beside: 'one-page-cli',
  },
  { key: 'one-page-bloom', title: 'one page a host, Redis Bloom', ...ONE_PAGE, ...BLOOM },
  { key: 'ten-pages', title: 'ten pages a host, one process', ...TEN_PAGES },
  { key: 'ten-pages-set', title: 'ten pages a host, Redis set', ...TEN_PAGES, ...SET },
  { key: 'one-host', title: 'one host, one process', ...ONE_HOST },
  { key: 'one-host-set', title: 'one host, Redis set', ...ONE_HOST, ...SET },
  { key: 'paced', title: 'a delay, 4 workers', ...PACED, ...SET },
  {
    key: 'paced-hot',
    title: 'a delay, 4 workers, beside a hot host and a silent one',
    ...PACED,
    ...SET,
    hotPages: 50_000,
    beside: 'paced',
  },
  { key: 'short-delay', title: 'one host, a delay of 20 ms', ...SHORT_DELAY, ...SET },
  { key: 'pinned-1', title: '1 worker on one core', ...PINNED, ...SET, workers: 1 },
  { key: 'pinned-4', title: '4 workers on one core', ...PINNED, ...SET, workers: 4, beside: 'pinned-1' },
  {
    key: 'robots',
    title: 'robots.txt, one process',
    hosts: 20_000,
    pagesPerHost: 3,
    workers: 1,
    robots: true,
  },
  {
    key: 'robots-4',
    title: 'robots.txt, 4 workers',
    hosts: 100_000,
    pagesPerHost: 3,
    workers: 4,
    robots: true,
    ...SET,
  },
  { key: 'addresses', title: 'hosts by address, all from start()', ...LOOKED_UP, ...SET },
  {
    key: 'names',
    title: 'hosts by name, all from start()',
    ...LOOKED_UP,
    ...SET,
    isNamed: true,
    beside: 'addresses',
  },
  { key: 'addresses-alone', title: 'hosts by address, all from start(), one process', ...LOOKED_UP },
  {
    key: 'names-alone',
    title: 'hosts by name, all from start(), one process',
    ...LOOKED_UP,
    isNamed: true,
    beside: 'addresses-alone',
  },
  { key: 'tls', title: 'ten pages a host, TLS, one process', ...TEN_PAGES, isTls: true, beside: 'ten-pages' },
  {
    key: 'tls-set',
    title: 'ten pages a host, TLS, Redis set',
    ...TEN_PAGES,
    ...SET,
    isTls: true,
    beside: 'ten-pages-set',
  },
  { key: 'queued', title: 'queued, one request a host', ...MILLION, ...SET, onlyQueued: true },
  { key: 'rss-cli', title: 'RSS by CLI', ...MILLION, ...SET, by: 'cli' },
  { key: 'rss-crawl', title: 'RSS by crawl()', ...MILLION, ...SET },
  { key: 'rss-alone', title: 'RSS by CLI, one process', ...MILLION, by: 'cli' },
]

/** The same crawl with less to do: fewer hosts, or fewer pages where there are few hosts, and a shorter delay. */
export function scaled(row: Row, scale: number): Row {
  if (scale === 1) return row
  const less = (count: number, least: number) => Math.max(least, Math.round(count * scale))
  const ofHosts = row.hosts > HOSTS_KEPT
  return {
    ...row,
    hosts: ofHosts ? less(row.hosts, HOSTS_KEPT) : row.hosts,
    pagesPerHost: ofHosts ? row.pagesPerHost : less(row.pagesPerHost, 10),
    ...(row.delaySeconds !== undefined && { delaySeconds: lessOf(row.delaySeconds, scale) }),
    ...(row.hotPages !== undefined && { hotPages: less(row.hotPages, 100) }),
  }
}

const HOSTS_KEPT = 10
/** Seconds: no longer delay is made shorter than this. */
const DELAY_KEPT = 1

function lessOf(delaySeconds: number, scale: number): number {
  return Math.min(delaySeconds, Math.max(DELAY_KEPT, delaySeconds * scale))
}
