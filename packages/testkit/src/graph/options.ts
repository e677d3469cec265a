/** How a body is sent to a client that accepts it. `deflate-raw` says `deflate` and leaves out the zlib frame. */
export type BodyEncoding = 'identity' | 'gzip' | 'br' | 'deflate' | 'deflate-raw' | 'zstd'

/** A page by its place: the host's slot and the page's number there, both from 0. */
export interface PagePlace {
  readonly host: number
  readonly page: number
}

/** A page that starts to answer late. */
export interface SlowPage extends PagePlace {
  readonly ms: number
}

/** A page that never answers to the end; without `after`, nothing at all is sent. */
export interface HangingPage extends PagePlace {
  readonly after?: 'nothing' | 'headers' | 'half-body'
}

/**
 * What the fake web is like. All of it is plain JSON, so that it can be sent to another process; what must be
 * scripted by code goes through `route()`. A share is between 0 and 1. Page 0 of a host is never drawn for
 * `errors`, `flaky` or `orphans`, so that a crawl can always begin.
 */
export interface FakeWebOptions {
  /** Everything is drawn from it: the same seed and options give the same web. Default 1. */
  readonly seed?: number
  /** Hosts, each with its own loopback address. Default 1, at most 60 000. */
  readonly hosts?: number
  /** Default 20. */
  readonly pagesPerHost?: number
  /** Links to distinct pages. A page with more children in the spanning tree has more. Default 10. */
  readonly linksPerPage?: number
  /** Bytes of a page before compression. A page whose links need more is larger. Default 7 400. */
  readonly pageBytes?: number | readonly [min: number, max: number]
  /** The share of links that lead to another host. Default 0. */
  readonly crossHostLinks?: number
  /** `first`: only host 0 is a seed, and every other host is linked from one before it. Default `all`. */
  readonly seedHosts?: 'all' | 'first'
  /** Milliseconds before a page is answered, drawn per page when a range. Default 0. */
  readonly latencyMs?: number | readonly [min: number, max: number]
  /** The share of pages that always answer with one of `errorStatuses`. Default 0. */
  readonly errors?: number
  /** Default 404, 500 and 503. */
  readonly errorStatuses?: readonly number[]
  /** The share of pages that fail the first `flakyTimes` requests and then succeed. Default 0. */
  readonly flaky?: number
  /** Default 2, which a crawler that retries twice just survives. */
  readonly flakyTimes?: number
  /** How a flaky page fails: a 503, a connection reset before any answer, or either, drawn per page. Default `503`. */
  readonly flakyWith?: '503' | 'reset' | 'either'
  /** The share of pages which no page links to. Default 0. */
  readonly orphans?: number
  /** The share of links that go through a 301 or 302 on the target's host. Default 0. */
  readonly redirects?: number
  /** Pages that answer after so many milliseconds instead of `latencyMs`. Default none. */
  readonly slow?: readonly SlowPage[]
  /** Pages that hang until the client gives up or the web closes. Default none. */
  readonly hangs?: readonly HangingPage[]
  /** Several: drawn per page. A client that does not accept the drawn one gets `identity`. Default `identity`. */
  readonly encoding?: BodyEncoding | readonly BodyEncoding[]
  /** Links in the many forms of real pages, pages with queries and accents, images, mailto. Default false. */
  readonly variedLinks?: boolean
  /** For every host, or by slot; a host without one answers 404. Default none. Not considered by the truth. */
  readonly robotsTxt?: string | Readonly<Record<number, string>>
  /** 0: each host its own free port. Otherwise every address uses this one, so a web can return at its old URLs. */
  readonly port?: number
  /** How long the server keeps an idle connection, in milliseconds. Default 60 000. */
  readonly keepAliveTimeoutMs?: number
  /** False leaves `headers` of the hits empty, which makes long benchmarks lighter. Default true. */
  readonly hitHeaders?: boolean
  /** Hits kept; reading the log after more than these throws. Default 2 000 000. */
  readonly hitsMax?: number
  /** Bytes of finished bodies kept for the next request. Default 128 MiB. */
  readonly cacheBytesMax?: number
}

/** The options with every default filled in. */
export type FakeWebPlan = Required<FakeWebOptions>

/** Fills in the defaults and refuses what cannot be built. */
export function planOf(options: FakeWebOptions): FakeWebPlan {
  const plan: FakeWebPlan = { ...DEFAULTS, ...options }
  for (const share of SHARES) mustBeWithin(share, plan[share], 0, 1)
  mustBeWithin('hosts', plan.hosts, 1, 60_000)
  mustBeWithin('pagesPerHost', plan.pagesPerHost, 1, 2 ** 31)
  mustBeWithin('port', plan.port, 0, 65_535)
  return plan
}

const DEFAULTS: FakeWebPlan = {
  seed: 1,
  hosts: 1,
  pagesPerHost: 20,
  linksPerPage: 10,
  pageBytes: 7_400,
  crossHostLinks: 0,
  seedHosts: 'all',
  latencyMs: 0,
  errors: 0,
  errorStatuses: [404, 500, 503],
  flaky: 0,
  flakyTimes: 2,
  flakyWith: '503',
  orphans: 0,
  redirects: 0,
  slow: [],
  hangs: [],
  encoding: 'identity',
  variedLinks: false,
  robotsTxt: {},
  port: 0,
  keepAliveTimeoutMs: 60_000,
  hitHeaders: true,
  hitsMax: 2_000_000,
  cacheBytesMax: 128 * 2 ** 20,
}

const SHARES = ['crossHostLinks', 'errors', 'flaky', 'orphans', 'redirects'] as const

function mustBeWithin(name: string, value: number, min: number, max: number): void {
  if (!(value >= min && value <= max)) {
    throw new RangeError(`fake web: ${name} is ${value}; it must be between ${min} and ${max}`)
  }
}
