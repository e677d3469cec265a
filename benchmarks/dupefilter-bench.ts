/**
 * What asking about links costs: URLs a second, Redis CPU, memory, and errors against theory, on one real Redis or in this
 * process.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/dupefilter-bench.ts [--urls 100000] [--rounds 3] [--only batch.30] [--parts speed,memory,errors,hosts,growth]
 *
 * `fill` asks about new links only. `crawl` is what a crawl asks: of a page's 30 links one is new, ten are navigation (50
 * links of the site), and the others are known, half of them from the last thousand pages. What is known was met long
 * enough ago for nobody to hold it. `growth` compares filters that grow, to a hundred times what was expected; --urls says how
 * many were. Pages are asked about eight at a time. Rounds are run in turn, and medians shown. Fingerprints are made beforehand: this is about the filters.
 */
import { hash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { createFingerprinter } from '../packages/core/src/fingerprints/fingerprint.ts'
import type { DupeFilter } from '../packages/core/src/ports/dupefilter.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { BloomBits } from '../packages/dupefilter/src/bloom/bloom-bits.ts'
import { MemoryBloomDupeFilter } from '../packages/dupefilter/src/bloom/memory-bloom-dupefilter.ts'
import { RedisBloomDupeFilter } from '../packages/dupefilter/src/bloom/redis-bloom-dupefilter.ts'
import { RedisHostBloomDupeFilter } from '../packages/dupefilter/src/bloom/redis-host-bloom-dupefilter.ts'
import { bloomOffsets } from '../packages/dupefilter/src/bloom-sizing/bloom-offsets.ts'
import { sizeOf } from '../packages/dupefilter/src/bloom-sizing/bloom-parameters.ts'
import { errorAt, lostUntil } from '../packages/dupefilter/src/bloom-sizing/bloom-theory.ts'
import { hostParameters } from '../packages/dupefilter/src/bloom-sizing/host-parameters.ts'
import { CountingBloomDupeFilter } from '../packages/dupefilter/src/counting/counting-bloom-dupefilter.ts'
import { MemoryCountingBloomDupeFilter } from '../packages/dupefilter/src/counting/memory-counting-bloom-dupefilter.ts'
import { MemoryDupeFilter } from '../packages/dupefilter/src/process/memory-dupefilter.ts'
import { RedisKeyDupeFilter } from '../packages/dupefilter/src/redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from '../packages/dupefilter/src/redis/redis-set-dupefilter.ts'
import { SplittableBloomDupeFilter } from '../packages/dupefilter/src/splittable/splittable-bloom-dupefilter.ts'
import { measuredError } from '../packages/dupefilter/testing/bloom-probes.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'
import { crawlLinks } from './filters/crawl-links.ts'
import { median, redisCpuUs, usedHere, usedMemory } from './filters/figures.ts'

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    probes: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
    parts: { type: 'string', default: 'speed,memory,errors,hosts,growth' },
  },
})
const URLS = Number(values.urls)
const ROUNDS = Number(values.rounds)
const AT_ONCE = 8
const fingerprinter = createFingerprinter({ algorithm: 'scrapy-redis' })

await using server = await startRedis()
const redis = new Redis(server.url)

interface Contender {
  readonly name: string
  /** Links in a question. */
  readonly batch: number
  /** How many questions are under way at a time. */
  readonly atOnce?: number
  readonly part?: number
  open(): Promise<(requests: Request[], asker: string) => Promise<unknown>>
}

const bloom20 = { capacity: 1_000_000, errorRate: 1e-6 }
const bloom12 = { capacity: 1_000_000, errorRate: 1e-6, hashNumber: 12 }

const DAY_MS = 86_400_000

const IN_PROCESS: Record<string, (all: FilterParts) => DupeFilter> = {
  memory: (all) => new MemoryDupeFilter(all),
  'memory-bloom 1e-6, 20 hashes': (all) => new MemoryBloomDupeFilter({ ...all, ...bloom20 }),
  'counting-bloom 1e-6, in the process': (all) => new MemoryCountingBloomDupeFilter({ ...all, ...bloom20 }),
}

const FAMILY: Record<string, (all: FilterParts) => DupeFilter> = {
  ...IN_PROCESS,
  'redis-key': (all) => new RedisKeyDupeFilter({ ...all, ttlMs: DAY_MS }),
  'counting-bloom 1e-6, 20 hashes': (all) => new CountingBloomDupeFilter({ ...all, ...bloom20 }),
  'splittable-bloom 1e-6': (all) => new SplittableBloomDupeFilter({ ...all, ...bloom20, leafBit: 20 }),
  'redis-bloom by host, 32 KiB': (all) => new RedisHostBloomDupeFilter(all),
}

const ALL: Contender[] = [
  { name: 'as the Python fork: GETBIT, SETBIT', batch: 1, atOnce: 1, part: 0.05, open: async () => oneByOne },
  { name: 'SADD, pipelined, no owners', batch: 30, open: async () => pipelinedSadd },
  ...[1, 30, 300].flatMap((batch): Contender[] => [
    { name: 'redis-set', batch, open: () => filter((all) => new RedisSetDupeFilter(all)) },
    {
      name: 'redis-set, cache',
      batch,
      open: () => filter((all) => new RedisSetDupeFilter({ ...all, cacheSize: 100_000 })),
    },
    {
      name: 'redis-bloom BIT 30, 6 hashes',
      batch,
      open: () => filter((all) => new RedisBloomDupeFilter({ ...all, bit: 30 })),
    },
    {
      name: 'redis-bloom BIT 30, cache',
      batch,
      open: () => filter((all) => new RedisBloomDupeFilter({ ...all, bit: 30, cacheSize: 100_000 })),
    },
    {
      name: 'redis-bloom 1e-6, 20 hashes',
      batch,
      open: () => filter((all) => new RedisBloomDupeFilter({ ...all, ...bloom20 })),
    },
    {
      name: 'redis-bloom 1e-6, 12 hashes',
      batch,
      open: () => filter((all) => new RedisBloomDupeFilter({ ...all, ...bloom12 })),
    },
    ...Object.entries(FAMILY).map(([name, make]): Contender => ({ name, batch, open: () => filter(make) })),
  ]),
]
const CONTENDERS = ALL.filter(({ name, batch }) => new RegExp(values.only).test(`${name}, batch ${batch}`))

const rows: Record<string, Record<string, number>> = {}
const KNOWN = 100_000
const LOADS: Record<string, { known: Request[]; links: Request[] }> = {
  fill: { known: [], links: Array.from({ length: URLS }, (_, n) => link(n)) },
  crawl: { known: Array.from({ length: KNOWN }, (_, n) => link(n)), links: crawlLinks(URLS, KNOWN, link) },
}
const parts = values.parts.split(',')
if (parts.includes('speed')) await speed()
if (parts.includes('memory')) await memory()
if (parts.includes('errors') && values.only === '') await errors()
if (parts.includes('hosts') && values.only === '') await hosts()
if (parts.includes('growth') && values.only === '') await growth()
redis.disconnect()

async function speed() {
  for (const [load, { known, links }] of Object.entries(LOADS)) {
    const measured = CONTENDERS.map(() => [] as { rate: number; redisUs: number; nodeUs: number }[])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [n, contender] of CONTENDERS.entries())
        measured[n]!.push(await measure(contender, known, links))
    }
    for (const [n, { name, batch }] of CONTENDERS.entries()) {
      rows[`${name}, batch ${batch}`] ??= {}
      const row = rows[`${name}, batch ${batch}`]!
      const of = (what: 'rate' | 'redisUs' | 'nodeUs') => median(measured[n]!.map((one) => one[what]))
      row[`${load}: URLs/s`] = Math.round(of('rate'))
      row[`${load}: Redis µs/URL`] = round2(of('redisUs'))
      row[`${load}: Node µs/URL`] = round2(of('nodeUs'))
    }
  }
  console.log(
    `${URLS} URLs, ${ROUNDS} rounds, ${AT_ONCE} questions at a time, Redis ${await version()}, Node ${process.version}`,
  )
  console.table(rows)
}

async function measure(contender: Contender, known: readonly Request[], links: readonly Request[]) {
  await redis.flushall()
  const ask = await contender.open()
  const isSlow = contender.part !== undefined
  for (let from = 0; from < known.length && !isSlow; from += 500) {
    await ask(known.slice(from, from + 500), `known ${from}`)
  }
  await letGo()
  const count = Math.round(links.length * (contender.part ?? 1))
  const batches: Request[][] = []
  for (let from = 0; from < count; from += contender.batch)
    batches.push(links.slice(from, Math.min(count, from + contender.batch)))
  const cpuBefore = await redisCpuUs(redis)
  const nodeBefore = process.cpuUsage()
  const start = performance.now()
  let next = 0
  const asker = async () => {
    while (next < batches.length) {
      const n = next++
      await ask(batches[n]!, `page ${n}`)
    }
  }
  await Promise.all(Array.from({ length: contender.atOnce ?? AT_ONCE }, asker))
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(nodeBefore)
  return {
    rate: count / seconds,
    redisUs: ((await redisCpuUs(redis)) - cpuBefore) / count,
    nodeUs: (user + system) / count,
  }
}

async function filter(make: (all: FilterParts) => DupeFilter) {
  const made = make({ redis, key: 'bench:dupefilter', fingerprinter })
  await made.open()
  return async (requests: Request[], asker: string) => {
    await made.requestsSeen(requests, asker)
    await made.settled(asker)
  }
}

/** What the Python fork does: six questions one after the other, and six answers written if one of them was no. */
async function oneByOne(requests: Request[]) {
  for (const request of requests) {
    const { offsets } = bloomOffsets(fingerprinter.fingerprint(request), { compat: 'germey' })
    let seen = true
    for (const offset of offsets) if ((await redis.getbit('bench:bloomfilter', offset)) === 0) seen = false
    if (!seen) for (const offset of offsets) await redis.setbit('bench:bloomfilter', offset, 1)
  }
}

async function pipelinedSadd(requests: Request[]) {
  const pipeline = redis.pipeline()
  for (const request of requests) pipeline.sadd('bench:dupefilter', fingerprinter.fingerprint(request))
  await pipeline.exec()
}

function link(n: number): Request {
  const request = new Request(`https://www.example.com/category/${n % 50}/product-${n}.html`)
  fingerprinter.fingerprint(request)
  return request
}

/** Bytes a URL of a million. */
async function memory() {
  const makes: Record<string, (all: FilterParts) => DupeFilter> = {
    'redis-set, hex': (all) => new RedisSetDupeFilter(all),
    'redis-set, binary20': (all) => new RedisSetDupeFilter({ ...all, members: 'binary20' }),
    'redis-set, binary16': (all) => new RedisSetDupeFilter({ ...all, members: 'binary16' }),
    'redis-bloom 1e-6, 20 hashes': (all) => new RedisBloomDupeFilter({ ...all, ...bloom20 }),
    'redis-bloom 1e-6, 12 hashes': (all) => new RedisBloomDupeFilter({ ...all, ...bloom12 }),
    'splittable-bloom 1e-6, 10^6 expected': (all) =>
      new SplittableBloomDupeFilter({ ...all, ...bloom20, leafBit: 20 }),
    'redis-key': FAMILY['redis-key']!,
    'counting-bloom 1e-6, 20 hashes': FAMILY['counting-bloom 1e-6, 20 hashes']!,
    ...IN_PROCESS,
  }
  const bytes: Record<string, { 'bytes/URL': number }> = {}
  for (const [name, make] of Object.entries(makes).filter(([name]) => new RegExp(values.only).test(name)))
    bytes[name] = {
      'bytes/URL': round2(await bytesPerUrl(make, name in IN_PROCESS ? usedHere : () => usedMemory(redis))),
    }
  console.table(bytes)
}

/** Once nothing is pending. A function of its own: what is left of the last filter would still be held. */
async function bytesPerUrl(
  make: (all: FilterParts) => DupeFilter,
  used: () => Promise<number>,
): Promise<number> {
  await redis.flushall()
  const before = await used()
  const made = make({ redis, key: 'bench:dupefilter', fingerprinter })
  await made.open()
  for (let from = 0; from < 1_000_000; from += 500) {
    await made.requestsSeen(
      Array.from({ length: 500 }, (_, n) => new Request(`https://example.com/${from + n}`)),
      `page ${from}`,
    )
    await made.settled(`page ${from}`)
  }
  await made.close()
  await letGo()
  const after = await used()
  const { count } = await made.describe()
  return (after - before) / count
}

interface FilterParts {
  readonly redis: Redis
  readonly key: string
  readonly fingerprinter: typeof fingerprinter
}

async function errors() {
  const probes = Number(values.probes)
  const shown: Record<string, Record<string, number>> = {}
  for (const [capacity, errorRate] of [
    [100_000, 1e-2],
    [100_000, 1e-3],
    [300_000, 1e-3],
  ] as const) {
    await redis.flushall()
    const key = 'bench:bloomfilter'
    const made = new RedisBloomDupeFilter({ redis, key, capacity, errorRate })
    await made.open()
    const measured = await measuredError({ redis, key, filter: made, count: capacity, probes })
    const { bits, hashes } = await made.describe()
    const theory = errorAt({ bits, hashes }, capacity)
    shown[`${capacity} at ${errorRate}`] = { theory, measured, ratio: round2(measured / theory) }
    await made.close()
  }
  console.log(`errors measured with ${probes} probes`)
  console.table(shown)
}

/** One host's filter of 32 KiB and of 8 KiB: its error where the host has many pages. */
async function hosts() {
  const shown: Record<string, Record<string, number>> = {}
  const probes = Number(values.probes)
  for (const bit of [18, 16]) {
    for (const pages of [1000, 5000, 15_000, 30_000, 100_000]) {
      const { layer } = hostParameters({ bit })
      const bits = new BloomBits(layer)
      let lost = 0
      for (let n = 0; n < pages; n++) {
        const digest = hash('sha1', `page ${n}`)
        if (bits.has(digest)) lost++
        else bits.add(digest)
      }
      let positives = 0
      for (let n = 0; n < probes; n++) if (bits.has(hash('sha1', `probe ${n}`))) positives++
      shown[`${2 ** (bit - 13)} KiB, ${pages} pages`] = {
        'error, theory': digits(errorAt(sizeOf(layer), pages)),
        'error, measured': digits(positives / probes),
        'pages lost, theory': digits(lostUntil(sizeOf(layer), pages)),
        'pages lost': lost,
        'bytes/URL': round2(2 ** bit / 8 / pages),
      }
    }
  }
  console.log(`the filter of one host, BLOOMFILTER_PARTITION_BY=host, 6 hashes, ${probes} probes`)
  console.table(shown)
}

/** What a URL costs as more and more come than were expected, in layers and in leaves. */
async function growth() {
  const size = { capacity: URLS, errorRate: 1e-6 }
  const makes: Record<string, (all: FilterParts) => RedisBloomDupeFilter | SplittableBloomDupeFilter> = {
    'redis-bloom, ON_FULL=grow': (all) => new RedisBloomDupeFilter({ ...all, ...size, onFull: 'grow' }),
    'splittable-bloom': (all) => new SplittableBloomDupeFilter({ ...all, ...size, leafBit: 16 }),
    'redis-bloom, large enough from the start': (all) =>
      new RedisBloomDupeFilter({ ...all, capacity: 100 * URLS, errorRate: 1e-6 }),
  }
  const shown: Record<string, Record<string, number>> = {}
  for (const [name, make] of Object.entries(makes)) {
    await redis.flushall()
    const made = make({ redis, key: 'bench:dupefilter', fingerprinter })
    await made.open()
    for (const [from, to] of [
      [0, URLS],
      [URLS, 10 * URLS],
      [10 * URLS, 100 * URLS],
    ] as const) {
      const fill = await redisUsPerUrl(made, from, to)
      await letGo()
      const bytes = (await made.memoryBytes()) ?? 0
      const oldest = await redisUsPerUrl(made, 0, Math.min(to, 20_000))
      const newest = await redisUsPerUrl(made, Math.max(0, to - 20_000), to)
      console.log(`${name}: ${to} URLs`)
      const described = await made.describe()
      shown[`${name}, ${to / URLS} times`] = {
        'bytes/URL': round2(bytes / to),
        'Redis µs/URL, new': round2(fill),
        'seen, oldest': round2(oldest),
        'seen, newest': round2(newest),
        'strings a new one is looked for in': 'layers' in described ? described.layers : 1,
        'error now': Number(described.errorNow.toPrecision(2)),
      }
    }
    await made.close()
  }
  console.log(`${URLS} expected at 1e-6; Redis ${await version()}`)
  console.table(shown)
}

async function redisUsPerUrl(filter: DupeFilter, from: number, to: number): Promise<number> {
  const before = await redisCpuUs(redis)
  for (let n = from; n < to; n += 240) {
    const firsts = Array.from({ length: AT_ONCE }, (_, part) => n + 30 * part).filter((first) => first < to)
    await Promise.all(
      firsts.map(async (first) => {
        const requests = Array.from(
          { length: Math.min(30, to - first) },
          (_, at) => new Request(`https://example.com/${first + at}`),
        )
        await filter.requestsSeen(requests, `page ${first} of ${from}`)
        await filter.settled(`page ${first} of ${from}`)
      }),
    )
  }
  return ((await redisCpuUs(redis)) - before) / (to - from)
}

/** As after some seconds: every asker is settled, and all marks are gone. */
async function letGo() {
  const keys = ['pending', 'owners', 'settled'].map((name) => `{bench:dupefilter}:${name}`)
  await redis.del(...keys, ...(await redis.keys('{bench:dupefilter}:owners:*')))
}

async function version(): Promise<string> {
  return /redis_version:(\S+)/.exec(await redis.info('server'))![1]!
}

function digits(number: number): number {
  return Number(number.toPrecision(3))
}

function round2(number: number): number {
  return Math.round(number * 100) / 100
}
