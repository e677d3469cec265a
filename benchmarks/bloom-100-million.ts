/**
 * A Bloom filter at its capacity of 100 million: its error, its memory and its speed, on a real Redis.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/bloom-100-million.ts [--urls 1e8] [--errors 1e-3,1e-6] [--asked 1e6] [--probes 5e7]
 *
 * Asking 100 million times takes an hour. So the bits are computed here, with the filter's own functions, and written by
 * SETRANGE into the strings that the filter has made; a sample of what was filled is then asked for by `requestsSeen`,
 * which must know all of it. Errors are counted twice: `--asked` fresh requests are asked of the filter by `has`, and
 * `--probes` more of the same bits in this process, as an error of 1e-6 shows only with many. Takes some twenty minutes on a machine of its own, and an hour on a busy one.
 */
import { hash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { fingerprint } from '../packages/core/src/fingerprints/fingerprint.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { RedisBloomDupeFilter } from '../packages/dupefilter/src/bloom/redis-bloom-dupefilter.ts'
import { nativeOffsets } from '../packages/dupefilter/src/bloom-sizing/bloom-offsets.ts'
import { errorAt } from '../packages/dupefilter/src/bloom-sizing/bloom-theory.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1e8' },
    errors: { type: 'string', default: '1e-3,1e-6' },
    asked: { type: 'string', default: '1e6' },
    probes: { type: 'string', default: '5e7' },
  },
})
const URLS = Number(values.urls)
const ASKED = Number(values.asked)
const PROBES = Number(values.probes)
const SAMPLE = 100_000

await using server = await startRedis()
const redis = new Redis(server.url)

const filledUrl = (n: number) => `https://example.com/${n}`
const freshUrl = (n: number) => `https://example.com/fresh/${n}`

/** Scrapy's fingerprint of a plain URL, without making a request for it. */
const digestOf = (url: string) =>
  hash('sha1', `{"body": "", "headers": {}, "method": "GET", "url": "${url}"}`)
if (digestOf(filledUrl(7)) !== fingerprint(new Request(filledUrl(7)))) throw new Error('not as Scrapy')

/** A filter, and its bits while they are computed. */
class Filled {
  readonly key: string
  readonly errorRate: number
  readonly filter: RedisBloomDupeFilter
  bits = 0
  hashes = 0
  bytes = new Uint8Array(0)
  set = 0

  constructor(errorRate: number) {
    this.errorRate = errorRate
    this.key = `bench${errorRate}:bloomfilter`
    this.filter = new RedisBloomDupeFilter({ redis, key: this.key, capacity: URLS, errorRate })
  }

  async open(): Promise<void> {
    await this.filter.open()
    const { bits, hashes } = await this.filter.describe()
    if (bits > 2 ** 32) throw new Error(`${bits} bits are more than one string; this is for one`)
    Object.assign(this, { bits, hashes, bytes: new Uint8Array(Math.ceil(bits / 8)) })
  }

  // Redis counts bits from the highest of the first byte.
  fill(digest: string): void {
    for (const bit of nativeOffsets(digest, this.bits, this.hashes)) {
      const [at, mask] = [Math.floor(bit / 8), 128 >> (bit % 8)]
      if ((this.bytes[at]! & mask) === 0) {
        this.bytes[at]! |= mask
        this.set++
      }
    }
  }

  holds(digest: string): boolean {
    return nativeOffsets(digest, this.bits, this.hashes).every(
      (bit) => (this.bytes[Math.floor(bit / 8)]! & (128 >> (bit % 8))) !== 0,
    )
  }

  async write(): Promise<void> {
    const slice = 4 * 2 ** 20
    for (let at = 0; at < this.bytes.length; at += slice) {
      await redis.setrange(this.key, at, Buffer.from(this.bytes.subarray(at, at + slice)))
    }
    await redis.hset(`{${this.key}}:record`, { 'inserted:0': URLS, 'set:0': this.set })
  }
}

const filters = values.errors.split(',').map((error) => new Filled(Number(error)))
for (const one of filters) await one.open()
const begun = performance.now()
for (let n = 0; n < URLS; n++) {
  const digest = digestOf(filledUrl(n))
  for (const one of filters) one.fill(digest)
  if (n % 10_000_000 === 0) console.error(`${n / 1e6} million, ${seconds(begun)} s`)
}
console.error(`filled in ${seconds(begun)} s`)

const rows: Record<string, Record<string, number | string>> = {}
for (const one of filters) {
  const { filter, bits, hashes, errorRate } = one
  await one.write()
  await knowsAll(filter)
  const asked = await askedErrors(filter)
  let probed = 0
  for (let n = 0; n < PROBES; n++) if (one.holds(digestOf(freshUrl(ASKED + n)))) probed++
  const { fillRatio, errorNow, warnings } = await filter.describe()
  const memory = (await filter.memoryBytes())!
  const theory = errorAt({ bits, hashes }, URLS)
  rows[`${URLS.toExponential()} at ${errorRate}`] = {
    hashes,
    'bits set': `${(100 * fillRatio).toFixed(2)} %`,
    'error, theory': theory.toExponential(2),
    'errorNow of describe': errorNow.toExponential(2),
    [`of ${ASKED.toExponential()} asked`]: asked,
    [`of ${PROBES.toExponential()} probed`]: probed,
    'measured / theory': ((asked + probed) / (ASKED + PROBES) / theory).toFixed(3),
    MiB: (memory / 2 ** 20).toFixed(1),
    'bytes/URL': (memory / URLS).toFixed(3),
    'URLs/s': Math.round(await speed(filter)),
    warnings: warnings.length,
  }
}
console.table(rows)
redis.disconnect()

/** A sample of what was filled, asked for in the way a crawl asks. */
async function knowsAll(filter: RedisBloomDupeFilter): Promise<void> {
  const step = Math.floor(URLS / SAMPLE)
  for (let from = 0; from < SAMPLE; from += 100) {
    const requests = Array.from({ length: 100 }, (_, n) => new Request(filledUrl((from + n) * step)))
    const seen = await filter.requestsSeen(requests, `sample ${from}`)
    if (!seen.every(Boolean)) throw new Error('the filter does not know what was filled: other bits')
  }
  console.error(`${SAMPLE} of those filled are all seen`)
}

/** Fresh requests that are taken for seen ones. Asked by `has`, which records nothing: the filter stays as it is. */
async function askedErrors(filter: RedisBloomDupeFilter): Promise<number> {
  let seen = 0
  for (let from = 0; from < ASKED; from += 200) {
    const asking = Array.from({ length: 200 }, (_, n) => filter.has(new Request(freshUrl(from + n))))
    for (const met of await Promise.all(asking)) if (met) seen++
  }
  return seen
}

/** Links a second of pages with 30 links of which one is new, eight pages at a time. */
async function speed(filter: RedisBloomDupeFilter): Promise<number> {
  const pages = 3000
  const start = performance.now()
  let next = 0
  const ask = async () => {
    for (let page = next++; page < pages; page = next++) {
      const links = Array.from({ length: 30 }, (_, n) =>
        n === 0 ? `https://example.com/new/${page}` : filledUrl((page * 997 + n * 7919) % URLS),
      )
      await filter.requestsSeen(
        links.map((url) => new Request(url)),
        `page ${page}`,
      )
      await filter.settled(`page ${page}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, ask))
  return (30 * pages) / ((performance.now() - start) / 1000)
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000)
}
