/**
 * What a link costs between the page and the filter: urlJoin, safeUrlString, canonicalizeUrl, fingerprint.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/url-bench.ts
 *
 * Microseconds a link, median of the rounds. `fingerprint` makes the URL canonical itself, so its column holds the
 * one before. `all` is a link's whole way as a crawl goes it: urlJoin, new Request (which makes the URL safe),
 * fingerprint.
 */
import { fingerprint } from '../packages/core/src/fingerprints/fingerprint.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { canonicalizeUrl } from '../packages/url/src/canonicalize-url.ts'
import { urlJoin } from '../packages/url/src/join.ts'
import { safeUrlString } from '../packages/url/src/safe-url.ts'

const ROUNDS = 15
const PAGES = 300
const LINKS_PER_PAGE = 100

const LINKS: Record<string, (n: number) => string> = {
  'plain, relative': (n) => `item-${n}/index.html`,
  'plain, rooted': (n) => `/category/${n % 50}/product-${n}.html`,
  'plain, absolute': (n) => `https://www.example.com/category/${n % 50}/product-${n}.html`,
  'query, one pair': (n) => `/list?page=${n}`,
  'query, in order': (n) => `/search?category=${n % 50}&page=${n}&sort=price`,
  'query, out of order': (n) => `/search?sort=price&page=${n}&category=${n % 50}`,
  'query, escapes': (n) => `/search?q=red%20shoes%2F${n}&brand=%C3%A9t%C3%A9`,
  'path, escapes': (n) => `/wiki/Caf%C3%A9_${n}`,
  'slow: dot segments': (n) => `../../shop/./item-${n}.html`,
  'slow: query with a comma': (n) => `/map?at=52.5,13.4&zoom=${n}`,
  'slow: text not ASCII': (n) => `/wiki/北京市-${n}?q=résumé`,
  'slow: host in capitals': (n) => `HTTP://WWW.Example.COM/Item/${n}`,
  'slow: host not ASCII': (n) => `https://bücher.example/titel/${n}`,
}

interface Page {
  readonly base: string
  readonly links: readonly string[]
}

// The sum of all answers, printed, so that no work can be left out.
let kept = 0

console.table(Object.fromEntries(Object.entries(LINKS).map(([kind, link]) => [kind, medians(link)])))
console.log(`${kept} characters made`)

function medians(link: (n: number) => string): Record<string, number> {
  const rounds = Array.from({ length: ROUNDS }, (_, round) => measure(pagesOf(link, round)))
  const steps = Object.keys(rounds[0]!)
  return Object.fromEntries(steps.map((step) => [step, median(rounds.map((times) => times[step]!))]))
}

/** New URLs every round: a string that has been looked at before may be faster. */
function pagesOf(link: (n: number) => string, round: number): Page[] {
  return Array.from({ length: PAGES }, (_, page) => {
    const number = round * PAGES + page
    return {
      base: `https://www.example.com/shop/section-${number}/page.html`,
      links: Array.from({ length: LINKS_PER_PAGE }, (_none, n) => link(number * LINKS_PER_PAGE + n)),
    }
  })
}

function measure(pages: readonly Page[]): Record<string, number> {
  const pairs = pages.flatMap(({ base, links }) => links.map((url) => ({ base, url })))
  const joined = pairs.map(({ base, url }) => urlJoin(base, url))
  const safe = joined.map((url) => safeUrlString(url))
  const requests = safe.map((url) => new Request(url))
  return {
    urlJoin: time(pairs, ({ base, url }) => urlJoin(base, url)),
    safeUrlString: time(joined, (url) => safeUrlString(url)),
    canonicalizeUrl: time(safe, (url) => canonicalizeUrl(url)),
    fingerprint: time(requests, (request) => fingerprint(request)),
    all: time(pairs, ({ base, url }) => fingerprint(new Request(urlJoin(base, url)))),
  }
}

/** Microseconds an entry. */
function time<Entry>(entries: readonly Entry[], step: (entry: Entry) => string): number {
  const start = performance.now()
  for (const entry of entries) kept += step(entry).length
  return ((performance.now() - start) * 1000) / entries.length
}

function median(values: number[]): number {
  values.sort((a, b) => a - b)
  return Number(values[values.length >> 1]!.toFixed(2))
}
