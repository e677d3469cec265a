/**
 * What pages that end together cost the filter's Redis, a page: 64 pages at a time, ten links each, as of a crawl of many hosts.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/asking-bench.ts [--pages 20000] [--rounds 3] [--only bloom] [--profile]
 *
 * `new`: nine of ten links are new. `met`: one of ten is; the others were met long enough ago for nobody to hold them. Each page
 * is settled a moment after it was answered. Pages end one after the other, each after half a millisecond of work and each in a
 * turn of the event loop of its own (`one by one`), or several in one turn (`together`). `--profile` shows which commands the
 * scripts run, a page.
 */
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { createFingerprinter } from '../packages/core/src/fingerprints/fingerprint.ts'
import type { DupeFilter } from '../packages/core/src/ports/dupefilter.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { RedisBloomDupeFilter } from '../packages/dupefilter/src/bloom/redis-bloom-dupefilter.ts'
import type { RedisDupeFilter } from '../packages/dupefilter/src/redis/redis-dupefilter.ts'
import { RedisSetDupeFilter } from '../packages/dupefilter/src/redis/redis-set-dupefilter.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
  },
})
const PAGES = Number(values.pages)
const ROUNDS = Number(values.rounds)
const AT_ONCE = 64
const LINKS = 10
const WORK_MS = 0.5
const fingerprinter = createFingerprinter({ algorithm: 'scrapy-redis' })

await using server = await startRedis()
const redis = new Redis(server.url)

interface FilterParts {
  readonly redis: Redis
  readonly key: string
  readonly fingerprinter: typeof fingerprinter
  readonly crawl: () => string
  readonly cacheSize: number
}
const FILTERS: Record<string, (all: FilterParts) => RedisDupeFilter> = {
  'redis-set': (all) => new RedisSetDupeFilter(all),
  'redis-bloom BIT 30': (all) => new RedisBloomDupeFilter({ ...all, bit: 30 }),
  'redis-bloom 1e-6': (all) => new RedisBloomDupeFilter({ ...all, capacity: 1_000_000, errorRate: 1e-6 }),
}
/** How many of a page's links are new. */
const LOADS = { new: 9, met: 1 }

const measured = new Map<string, Cost[]>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, make] of Object.entries(FILTERS)) {
    for (const [load, fresh] of Object.entries(LOADS)) {
      for (const together of [false, true]) {
        const row = `${name}, ${load}, ${together ? 'together' : 'one by one'}`
        if (!row.includes(values.only)) continue
        const costs = measured.get(row) ?? []
        measured.set(row, [...costs, await measure(make, fresh, together)])
      }
    }
  }
}
const rows: Record<string, Record<string, number>> = {}
for (const [row, costs] of measured) {
  const of = (what: Exclude<keyof Cost, 'commands'>) => round2(median(costs.map((cost) => cost[what])))
  rows[row] = {
    'Redis µs/page': of('redisUs'),
    'in scripts': of('scriptUs'),
    'scripts/page': of('scripts'),
    'longest script, µs': of('longestUs'),
    'Node µs/page': of('nodeUs'),
  }
  if (values.profile) console.log(row, costs.at(-1)!.commands)
}
console.log(
  `${PAGES} pages of ${LINKS} links, ${AT_ONCE} at a time, ${ROUNDS} rounds, Node ${process.version}`,
)
console.table(rows)
redis.disconnect()

interface Cost {
  /** CPU of the main thread. */
  readonly redisUs: number
  readonly scriptUs: number
  readonly scripts: number
  readonly longestUs: number
  readonly nodeUs: number
  readonly commands: Record<string, string>
}

async function measure(
  make: (all: FilterParts) => RedisDupeFilter,
  fresh: number,
  together: boolean,
): Promise<Cost> {
  await redis.flushall()
  const filter = make({
    redis,
    key: 'bench:dupefilter',
    fingerprinter,
    crawl: () => 'bench 1',
    cacheSize: 100_000,
  })
  await filter.open()
  const met = Array.from({ length: 20_000 }, (_, n) => link(n))
  if (fresh < LINKS / 2) await fill(filter, met)
  const pages = Array.from({ length: PAGES }, (_, page) =>
    Array.from({ length: LINKS }, (_, n) =>
      n < fresh ? link(1_000_000 + page * LINKS + n) : met[(page * 37 + n * 997) % met.length]!,
    ),
  )
  // As another process meets them: nothing of it is in the cache.
  const asking = make({ redis, key: 'bench:dupefilter', fingerprinter, crawl: () => 'bench 1', cacheSize: 0 })
  await asking.open()
  await redis.config('RESETSTAT')
  await redis.config('SET', 'slowlog-log-slower-than', '300', 'slowlog-max-len', '10000')
  await redis.slowlog('RESET')
  const before = await redisCpuUs()
  const nodeBefore = process.cpuUsage()
  let next = 0
  const one = async () => {
    while (next < pages.length) {
      const page = next++
      if (!together || page % 4 === 0) await eventLoopTurn()
      if (!together) work()
      await asking.requestsSeen(pages[page]!, `asker of page ${page}`)
      await eventLoopTurn()
      await asking.settled(`asker of page ${page}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  const { user, system } = process.cpuUsage(nodeBefore)
  const redisUs = (await redisCpuUs()) - before
  const stats = [...(await redis.info('commandstats')).matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+)/g)]
  const slow = (await redis.slowlog('GET', 10_000)) as [number, number, number][]
  await asking.close()
  await filter.close()
  const scripts = stats.filter(([, name]) => name!.startsWith('eval'))
  return {
    redisUs: redisUs / PAGES,
    scriptUs: sum(scripts.map(([, , , usec]) => Number(usec))) / PAGES,
    scripts: sum(scripts.map(([, , calls]) => Number(calls))) / PAGES,
    longestUs: Math.max(0, ...slow.map(([, , usec]) => usec)),
    nodeUs: (user + system) / PAGES,
    commands: Object.fromEntries(
      stats
        .filter(([, , calls]) => Number(calls) > PAGES / 100)
        .map(([, name, calls, usec]) => [
          name!,
          `${round2(Number(calls) / PAGES)} × ${round2(Number(usec) / Number(calls))} µs = ${round2(Number(usec) / PAGES)}`,
        ]),
    ),
  }
}

/** As after some seconds: every asker is settled, and all marks are gone. */
async function fill(filter: DupeFilter, met: readonly Request[]): Promise<void> {
  for (let from = 0; from < met.length; from += 100) {
    await filter.requestsSeen(met.slice(from, from + 100), `met ${from}`)
    await filter.settled(`met ${from}`)
  }
  const keys = ['pending', 'owners', 'settled'].map((name) => `{bench:dupefilter}:${name}`)
  await redis.del(...keys, ...(await redis.keys('{bench:dupefilter}:owners:*')))
}

/** What a page costs its worker. */
function work(): void {
  const until = performance.now() + WORK_MS
  while (performance.now() < until);
}

function link(n: number): Request {
  const request = new Request(`https://host-${n % 60_000}.example.com/page-${n}.html`)
  fingerprinter.fingerprint(request)
  return request
}

async function redisCpuUs(): Promise<number> {
  const info = await redis.info('everything')
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1])
  return (seconds('used_cpu_user_main_thread') + seconds('used_cpu_sys_main_thread')) * 1e6
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[numbers.length >> 1]!
}

function round2(number: number): number {
  return Math.round(number * 100) / 100
}
